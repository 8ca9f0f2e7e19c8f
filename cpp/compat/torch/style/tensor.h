// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/tensor.h: at::Tensor, a tensor of the core with PyTorch's methods.
// They call the core's ops, so what is computed with it is recorded, planned and scheduled
// as from anywhere else.
#pragma once

#include "compat/torch/style/accessor.h"
#include "compat/torch/style/names.h"
#include "compat/torch/style/types.h"
#include "tensor/tensor.h"

namespace at {

class Tensor;
using TensorList = ArrayRef<Tensor>;

namespace detail {
// A kernel of no key, or of a composite one, is also asked what shapes it gives, and called
// where a plan is made of it, with tensors whose values are not there yet.
inline void check_has_data(const ::pkg::Tensor& tensor) {
  if (tensor.storage().is_symbolic()) tensor.wait();  // throws
  PKG_CHECK(!tensor.is_meta() || tensor.numel() == 0, NotImplementedError,
            "[data_ptr] expected a tensor with data, got one of shape ", tensor.sizes(),
            " on meta. Hint: register a kernel that reads memory for CPU, in "
            "TORCH_LIBRARY_IMPL, and one that gives shapes for Meta.");
}
}  // namespace detail

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(::pkg::Tensor tensor) : tensor_(std::move(tensor)) {}
  /// The core's tensor.
  const ::pkg::Tensor& unwrap() const& { return tensor_; }
  ::pkg::Tensor unwrap() && { return std::move(tensor_); }

  // What it is.
  bool defined() const { return tensor_.defined(); }
  void reset() { tensor_ = {}; }
  bool is_same(const Tensor& other) const { return tensor_.is_same(other.tensor_); }
  IntArrayRef sizes() const { return tensor_.sizes(); }
  IntArrayRef strides() const { return tensor_.strides(); }
  int64_t size(int64_t dim) const { return tensor_.size(dim); }
  int64_t stride(int64_t dim) const { return tensor_.stride(dim); }
  int64_t dim() const { return tensor_.ndim(); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return tensor_.numel(); }
  int64_t element_size() const { return ::pkg::itemsize(tensor_.dtype()); }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return size_t(numel() * element_size()); }
  int64_t storage_offset() const { return tensor_.offset(); }
  ScalarType scalar_type() const { return to_scalar_type(tensor_.dtype()); }
  TypeMeta dtype() const { return scalar_type(); }
  Device device() const { return Device(tensor_.device()); }
  Layout layout() const { return kStrided; }
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    return tensor_.is_contiguous();
  }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return false; }
  bool is_meta() const { return tensor_.is_meta(); }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_view() const { return tensor_.is_view(); }

  // Its memory.  Pending work on it is waited for.
  template <class T = void>
  T* data_ptr() const {
    detail::check_has_data(tensor_);
    if (tensor_.storage().dynamic_keys().has(::pkg::DispatchKey::Async)) {
      tensor_.storage().wait_writable();
    }
    return tensor_.data<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    detail::check_has_data(tensor_);
    return tensor_.wait().data<std::remove_const_t<T>>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const {
    TORCH_CHECK(size_t(dim()) == N, "[accessor] expected ", N, " dimensions, got ", dim());
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <class T>
  T item() const {
    return ::pkg::item(tensor_).to<T>();
  }
  Scalar item() const { return Scalar(::pkg::item(tensor_)); }

  // Gradients.
  bool requires_grad() const { return tensor_.requires_grad(); }
  const Tensor& set_requires_grad(bool wanted) const {
    ::pkg::set_requires_grad(tensor_, wanted);
    return *this;
  }
  const Tensor& requires_grad_(bool wanted = true) const {
    return set_requires_grad(wanted);
  }
  bool is_leaf() const { return tensor_.is_leaf(); }
  Tensor grad() const { return Tensor(tensor_.grad()); }
  /// The same memory without history.
  Tensor detach() const { return Tensor(::pkg::share(tensor_)); }
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = {},
                bool create_graph = false) const;

  // Other forms of it.
  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const;
  Tensor clone() const;
  Tensor to(ScalarType type, bool non_blocking = false, bool copy = false) const;
  Tensor to(TypeMeta type) const { return to(type.toScalarType()); }
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(DeviceType device) const { return to(Device(device)); }
  Tensor to(const TensorOptions& options) const;
  Tensor cpu() const { return to(kCPU); }
  Tensor type_as(const Tensor& other) const { return to(other.scalar_type()); }
  Tensor t() const;
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor permute(IntArrayRef dims) const;
  Tensor view(IntArrayRef size) const;
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape(IntArrayRef size) const;
  Tensor expand(IntArrayRef size) const;
  Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
  Tensor repeat(IntArrayRef repeats) const;
  Tensor flatten(int64_t start = 0, int64_t end = -1) const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor slice(int64_t dim = 0, std::optional<int64_t> start = {},
               std::optional<int64_t> end = {}, int64_t step = 1) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0) const;
  std::vector<Tensor> split(int64_t size, int64_t dim = 0) const;
  std::vector<Tensor> unbind(int64_t dim = 0) const;
  Tensor index_select(int64_t dim, const Tensor& index) const;
  Tensor gather(int64_t dim, const Tensor& index) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor masked_select(const Tensor& mask) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Scalar& value) const;
  Tensor scatter_add(int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor index_add(int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor flip(IntArrayRef dims) const;
  Tensor tril(int64_t diagonal = 0) const;
  Tensor triu(int64_t diagonal = 0) const;

  // Reductions.
  Tensor sum(std::optional<ScalarType> dtype = {}) const;
  Tensor sum(IntArrayRef dim, bool keepdim = false,
             std::optional<ScalarType> dtype = {}) const;
  Tensor sum(int64_t dim, bool keepdim = false,
             std::optional<ScalarType> dtype = {}) const {
    return sum(IntArrayRef(dim), keepdim, dtype);
  }
  Tensor mean(std::optional<ScalarType> dtype = {}) const;
  Tensor mean(IntArrayRef dim, bool keepdim = false,
              std::optional<ScalarType> dtype = {}) const;
  Tensor mean(int64_t dim, bool keepdim = false,
              std::optional<ScalarType> dtype = {}) const {
    return mean(IntArrayRef(dim), keepdim, dtype);
  }
  Tensor max() const;
  Tensor min() const;
  std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const;
  Tensor amax(IntArrayRef dim = {}, bool keepdim = false) const;
  Tensor amin(IntArrayRef dim = {}, bool keepdim = false) const;
  Tensor argmax(std::optional<int64_t> dim = {}, bool keepdim = false) const;
  Tensor argmin(std::optional<int64_t> dim = {}, bool keepdim = false) const;
  Tensor any() const;
  Tensor all() const;
  Tensor norm() const;
  Tensor norm(const Scalar& p) const;
  Tensor norm(const Scalar& p, IntArrayRef dim, bool keepdim = false) const;
  Tensor var(bool unbiased = true) const;
  Tensor var(IntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Tensor std(bool unbiased = true) const;
  Tensor std(IntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Tensor prod() const;
  Tensor prod(int64_t dim, bool keepdim = false) const;
  Tensor logsumexp(IntArrayRef dim, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> sort(int64_t dim = -1, bool descending = false) const;
  std::tuple<Tensor, Tensor> topk(int64_t k, int64_t dim = -1, bool largest = true,
                                  bool sorted = true) const;
  Tensor argsort(int64_t dim = -1, bool descending = false) const;
  Tensor cumsum(int64_t dim) const;
  Tensor softmax(int64_t dim) const;
  Tensor log_softmax(int64_t dim) const;
  bool equal(const Tensor& other) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                bool equal_nan = false) const;

  // Products.
  Tensor mm(const Tensor& other) const;
  Tensor bmm(const Tensor& other) const;
  Tensor mv(const Tensor& other) const;
  Tensor matmul(const Tensor& other) const;
  Tensor dot(const Tensor& other) const;

#define PKG_DECLARE(name) Tensor name() const;
  PKG_TORCH_UNARY(PKG_DECLARE)
#undef PKG_DECLARE
#define PKG_DECLARE(name)                 \
  Tensor name(const Tensor& other) const; \
  Tensor name(const Scalar& other) const;
  PKG_TORCH_BINARY(PKG_DECLARE)
#undef PKG_DECLARE
  Tensor add(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor add(const Scalar& other) const;
  Tensor sub(const Scalar& other) const;
  Tensor logical_and(const Tensor& other) const;
  Tensor logical_or(const Tensor& other) const;
  Tensor clamp(const std::optional<Scalar>& min,
               const std::optional<Scalar>& max = {}) const;
  Tensor clamp_min(const Scalar& min) const;
  Tensor clamp_max(const Scalar& max) const;
  Tensor addcmul(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  Tensor addcdiv(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;

  // In place; on a handle that is const, too, as it is the memory that changes.
  const Tensor& copy_(const Tensor& source, bool non_blocking = false) const;
#define PKG_DECLARE(name) const Tensor& name() const;
  PKG_TORCH_UNARY_IN_PLACE(PKG_DECLARE)
#undef PKG_DECLARE
#define PKG_DECLARE(name)                        \
  const Tensor& name(const Tensor& other) const; \
  const Tensor& name(const Scalar& other) const;
  PKG_TORCH_BINARY_IN_PLACE(PKG_DECLARE)
#undef PKG_DECLARE
  const Tensor& fill_(const Scalar& value) const;
  const Tensor& uniform_(double from = 0, double to = 1) const;
  const Tensor& normal_(double mean = 0, double std = 1) const;
  const Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
  const Tensor& add_(const Scalar& other) const;
  const Tensor& sub_(const Scalar& other) const;
  const Tensor& masked_fill_(const Tensor& mask, const Scalar& value) const;
  const Tensor& clamp_(const std::optional<Scalar>& min,
                       const std::optional<Scalar>& max = {}) const;
  const Tensor& clamp_min_(const Scalar& min) const;
  const Tensor& clamp_max_(const Scalar& max) const;
  const Tensor& addcmul_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  const Tensor& addcdiv_(const Tensor& a, const Tensor& b, const Scalar& value = 1) const;
  const Tensor& scatter_(int64_t dim, const Tensor& index, const Tensor& source) const;
  const Tensor& scatter_add_(int64_t dim, const Tensor& index, const Tensor& source) const;
  const Tensor& index_add_(int64_t dim, const Tensor& index, const Tensor& source) const;
  Tensor& operator+=(const Tensor& other) { return add_(other), *this; }
  Tensor& operator-=(const Tensor& other) { return sub_(other), *this; }
  Tensor& operator*=(const Tensor& other) { return mul_(other), *this; }
  Tensor& operator/=(const Tensor& other) { return div_(other), *this; }
  Tensor& operator+=(const Scalar& other) { return add_(other), *this; }
  Tensor& operator-=(const Scalar& other) { return sub_(other), *this; }
  Tensor& operator*=(const Scalar& other) { return mul_(other), *this; }
  Tensor& operator/=(const Scalar& other) { return div_(other), *this; }

  // New ones of its kind.
  Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const;

 private:
  ::pkg::Tensor tensor_;
};

}  // namespace at

// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/functions.h: PyTorch's functions and operators on tensors.
#pragma once

#include "compat/torch/style/methods.h"

namespace at {

// New tensors.
inline Tensor empty(IntArrayRef size, const TensorOptions& options = {}) {
  ::pkg::Tensor made = ::pkg::empty(to_shape(size), options.unwrap_dtype(),
                                    options.unwrap_device());
  if (options.requires_grad()) ::pkg::set_requires_grad(made, true);
  return Tensor(std::move(made));
}
namespace detail {
template <class... Given>
Tensor created(const Named& op, const TensorOptions& options, const Given&... given) {
  return Tensor(op.call(given..., options.unwrap_dtype(), options.unwrap_device(),
                        options.requires_grad()));
}
/// As `self`, but for what the options say.
inline TensorOptions like(const Tensor& self, const TensorOptions& options) {
  return TensorOptions(options.has_dtype() ? options.dtype() : self.dtype())
      .device(options.has_device() ? options.device() : self.device())
      .requires_grad(options.requires_grad());
}
}  // namespace detail
#define PKG_FILLED(name)                                                             \
  inline Tensor name(IntArrayRef size, const TensorOptions& options = {}) {          \
    static constinit const detail::Named op{#name};                                  \
    return detail::created(op, options, to_shape(size));                             \
  }                                                                                  \
  inline Tensor name##_like(const Tensor& self, const TensorOptions& options = {}) { \
    return name(self.sizes(), detail::like(self, options));                          \
  }
PKG_FILLED(zeros)
PKG_FILLED(ones)
PKG_FILLED(rand)
PKG_FILLED(randn)
#undef PKG_FILLED
inline Tensor empty_like(const Tensor& self, const TensorOptions& options = {}) {
  return empty(self.sizes(), detail::like(self, options));
}
inline Tensor full(IntArrayRef size, const Scalar& value,
                   const TensorOptions& options = {}) {
  static constinit const detail::Named op{"full"};
  const TensorOptions said = options.has_dtype()       ? options
                             : value.isFloatingPoint() ? options
                                                       : options.dtype(value.type());
  return detail::created(op, said, to_shape(size), value.unwrap());
}
inline Tensor full_like(const Tensor& self, const Scalar& value,
                        const TensorOptions& options = {}) {
  return full(self.sizes(), value, detail::like(self, options));
}
inline Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                     const TensorOptions& options = {}) {
  static constinit const detail::Named op{"arange.start"};
  const bool whole = !start.isFloatingPoint() && !end.isFloatingPoint() &&
                     !step.isFloatingPoint();
  return detail::created(op, whole && !options.has_dtype() ? options.dtype(kLong) : options,
                         start.unwrap(), end.unwrap(), step.unwrap());
}
inline Tensor arange(const Scalar& start, const Scalar& end,
                     const TensorOptions& options = {}) {
  return arange(start, end, 1, options);
}
inline Tensor arange(const Scalar& end, const TensorOptions& options = {}) {
  return arange(0, end, 1, options);
}
inline Tensor eye(int64_t n, const TensorOptions& options = {}) {
  static constinit const detail::Named op{"eye"};
  return detail::created(op, options, n, std::optional<int64_t>());
}
/// A 0-d tensor of a number.
inline Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {}) {
  return full({}, value, options);
}
/// A 1-d tensor of numbers, copied, of their type.
template <class T>
  requires std::is_arithmetic_v<T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  Tensor made = empty({int64_t(values.size())},
                      TensorOptions(CppTypeToScalarType<T>::value));
  std::copy(values.begin(), values.end(), made.data_ptr<T>());
  made = made.to(options);
  if (options.requires_grad()) made.set_requires_grad(true);
  return made;
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values.begin(), values.size()), options);
}
/// A 0-d tensor of a number.
template <class T>
  requires std::is_arithmetic_v<T>
Tensor tensor(T value, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(&value, 1), options).reshape({});
}
/// Over memory of somebody else, row-major, which has to live as long as the tensor.
inline Tensor from_blob(void* data, IntArrayRef size, const TensorOptions& options = {}) {
  const ::pkg::Shape sizes = to_shape(size);
  ::pkg::Shape strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return Tensor(::pkg::from_blob(data, sizes, strides, options.unwrap_dtype(), [] {}));
}

inline Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const {
  return empty(size, detail::like(*this, options));
}
inline Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const {
  return zeros(size, detail::like(*this, options));
}
inline Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const {
  return ones(size, detail::like(*this, options));
}

// The methods as functions.
#define PKG_DEFINE(name) \
  inline Tensor name(const Tensor& self) { return self.name(); }
PKG_TORCH_UNARY(PKG_DEFINE)
#undef PKG_DEFINE
#define PKG_DEFINE(name)                                                                   \
  inline Tensor name(const Tensor& self, const Tensor& other) { return self.name(other); } \
  inline Tensor name(const Tensor& self, const Scalar& other) { return self.name(other); }
PKG_TORCH_BINARY(PKG_DEFINE)
#undef PKG_DEFINE
#define PKG_FORWARD(name)                                                                 \
  template <class... Given>                                                               \
  auto name(const Tensor& self, const Given&... given) -> decltype(self.name(given...)) { \
    return self.name(given...);                                                           \
  }
PKG_FORWARD(add)
PKG_FORWARD(sub)
PKG_FORWARD(mm)
PKG_FORWARD(bmm)
PKG_FORWARD(mv)
PKG_FORWARD(matmul)
PKG_FORWARD(dot)
PKG_FORWARD(t)
PKG_FORWARD(transpose)
PKG_FORWARD(reshape)
PKG_FORWARD(flatten)
PKG_FORWARD(unsqueeze)
PKG_FORWARD(squeeze)
PKG_FORWARD(select)
PKG_FORWARD(slice)
PKG_FORWARD(narrow)
PKG_FORWARD(chunk)
PKG_FORWARD(split)
PKG_FORWARD(unbind)
PKG_FORWARD(index_select)
PKG_FORWARD(gather)
PKG_FORWARD(masked_fill)
PKG_FORWARD(tril)
PKG_FORWARD(triu)
PKG_FORWARD(sum)
PKG_FORWARD(mean)
PKG_FORWARD(max)
PKG_FORWARD(min)
PKG_FORWARD(amax)
PKG_FORWARD(amin)
PKG_FORWARD(argmax)
PKG_FORWARD(argmin)
PKG_FORWARD(any)
PKG_FORWARD(all)
PKG_FORWARD(norm)
PKG_FORWARD(cumsum)
PKG_FORWARD(softmax)
PKG_FORWARD(log_softmax)
PKG_FORWARD(equal)
PKG_FORWARD(allclose)
PKG_FORWARD(clamp)
PKG_FORWARD(clone)
PKG_FORWARD(logical_and)
PKG_FORWARD(logical_or)
PKG_FORWARD(masked_select)
PKG_FORWARD(scatter)
PKG_FORWARD(scatter_add)
PKG_FORWARD(index_add)
PKG_FORWARD(flip)
PKG_FORWARD(var)
PKG_FORWARD(std)
PKG_FORWARD(prod)
PKG_FORWARD(logsumexp)
PKG_FORWARD(sort)
PKG_FORWARD(topk)
PKG_FORWARD(argsort)
PKG_FORWARD(clamp_min)
PKG_FORWARD(clamp_max)
PKG_FORWARD(addcmul)
PKG_FORWARD(addcdiv)
#undef PKG_FORWARD
inline Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return self.sum(dim, keepdim);
}
inline Tensor mean(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return self.mean(dim, keepdim);
}
inline Tensor logsumexp(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return self.logsumexp(dim, keepdim);
}
inline Tensor var(const Tensor& self, IntArrayRef dim, bool unbiased = true,
                  bool keepdim = false) {
  return self.var(dim, unbiased, keepdim);
}
inline Tensor std(const Tensor& self, IntArrayRef dim, bool unbiased = true,
                  bool keepdim = false) {
  return self.std(dim, unbiased, keepdim);
}
inline Tensor flip(const Tensor& self, IntArrayRef dims) { return self.flip(dims); }
inline Tensor permute(const Tensor& self, IntArrayRef dims) { return self.permute(dims); }
inline Tensor reshape(const Tensor& self, IntArrayRef size) { return self.reshape(size); }

// Functions only.
inline Tensor cat(TensorList tensors, int64_t dim = 0) {
  return Tensor(::pkg::ops::cat(detail::unwrap(tensors), dim));
}
inline Tensor stack(TensorList tensors, int64_t dim = 0) {
  static constinit const detail::Named op{"stack"};
  return Tensor(op.call(detail::unwrap(tensors), dim));
}
inline Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  return Tensor(::pkg::ops::where(condition.unwrap(), self.unwrap(), other.unwrap()));
}
inline Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b,
                    const Scalar& beta = 1, const Scalar& alpha = 1) {
  static constinit const detail::Named op{"addmm"};
  return Tensor(
      op.call(self.unwrap(), a.unwrap(), b.unwrap(), beta.unwrap(), alpha.unwrap()));
}
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  static constinit const detail::Named op{"linear"};
  return Tensor(op.call(input.unwrap(), weight.unwrap(), bias.unwrap()));
}
inline Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                  const Scalar& input_scale = 1) {
  return Tensor(
      ::pkg::ops::elu(self.unwrap(), alpha.unwrap(), scale.unwrap(), input_scale.unwrap()));
}
inline Tensor leaky_relu(const Tensor& self, const Scalar& slope = 0.01) {
  static constinit const detail::Named op{"leaky_relu"};
  return Tensor(op.call(self.unwrap(), slope.unwrap()));
}
inline Tensor gelu(const Tensor& self) {
  static constinit const detail::Named op{"gelu"};
  return Tensor(op.call(self.unwrap()));
}
inline Tensor silu(const Tensor& self) {
  static constinit const detail::Named op{"silu"};
  return Tensor(op.call(self.unwrap()));
}

// Operators.
inline Tensor operator-(const Tensor& a) { return a.neg(); }
#define PKG_OPERATOR(sign, name)                                                      \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return a.name(b); } \
  inline Tensor operator sign(const Tensor& a, const Scalar& b) { return a.name(b); } \
  inline Tensor operator sign(const Scalar& a, const Tensor& b) {                     \
    return Tensor(detail::number(a)).name(b);                                         \
  }
PKG_OPERATOR(+, add)
PKG_OPERATOR(-, sub)
PKG_OPERATOR(*, mul)
PKG_OPERATOR(/, div)
PKG_OPERATOR(==, eq)
PKG_OPERATOR(!=, ne)
PKG_OPERATOR(<, lt)
PKG_OPERATOR(<=, le)
PKG_OPERATOR(>, gt)
PKG_OPERATOR(>=, ge)
PKG_OPERATOR(&, bitwise_and)
PKG_OPERATOR(|, bitwise_or)
PKG_OPERATOR(^, bitwise_xor)
#undef PKG_OPERATOR
inline Tensor operator~(const Tensor& a) { return a.bitwise_not(); }

}  // namespace at

namespace torch {

namespace detail {
/// That of torch.tensor() in Python where nothing is said: int64 for integers, the default
/// dtype for floating numbers, other types their own.
template <class T>
at::TensorOptions python_dtype(const at::TensorOptions& options) {
  if (options.has_dtype()) return options;
  constexpr at::ScalarType own = at::CppTypeToScalarType<T>::value;
  if (own == at::kInt) return options.dtype(at::kLong);
  const bool floating = own == at::kFloat || own == at::kDouble;
  return options.dtype(floating ? options.dtype().toScalarType() : own);
}
}  // namespace detail

/// As at::tensor, but of the dtype that Python's torch.tensor() chooses.
template <class T>
  requires std::is_arithmetic_v<T>
at::Tensor tensor(at::ArrayRef<T> values, const at::TensorOptions& options = {}) {
  return at::tensor(values, detail::python_dtype<T>(options));
}
template <class T>
at::Tensor tensor(std::initializer_list<T> values, const at::TensorOptions& options = {}) {
  return at::tensor(values, detail::python_dtype<T>(options));
}
template <class T>
at::Tensor tensor(const std::vector<T>& values, const at::TensorOptions& options = {}) {
  return torch::tensor(at::ArrayRef<T>(values), options);
}
template <class T>
  requires std::is_arithmetic_v<T>
at::Tensor tensor(T value, const at::TensorOptions& options = {}) {
  return at::tensor(value, detail::python_dtype<T>(options));
}

}  // namespace torch

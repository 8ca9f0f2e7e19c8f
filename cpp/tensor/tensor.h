// SPDX-License-Identifier: Apache-2.0
// tensor/tensor.h: the Tensor handle and the object behind it.
//
// A Tensor is one pointer; copying it shares the tensor.  The object holds shape,
// strides, dtype and a Storage; views share the storage.  Everything that computes is
// an op (ops/functions.h); this header is only description and access.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/device.h"
#include "base/dtype.h"
#include "base/intrusive.h"
#include "base/key_set.h"
#include "base/scalar.h"
#include "base/shape.h"
#include "tensor/autograd_meta.h"
#include "tensor/small_vector.h"
#include "tensor/storage.h"

namespace pkg {

/// How often values were written, for a tensor that shares memory with others but not
/// this count.  For all others the storage counts.
struct VersionCounter final : Intrusive, PoolAllocated {
  explicit VersionCounter(uint32_t start) : value(start) {}
  std::atomic<uint32_t> value;

 private:
  ~VersionCounter() override;
};

class TensorImpl final : public Intrusive, public PoolAllocated {
 public:
  TensorImpl(Ref<Storage> storage, Shape sizes, Shape strides, int64_t offset, DType dtype,
             Device device);
  /// Row-major from offset 0, with `numel` the product of `sizes`.
  TensorImpl(Ref<Storage> storage, const Shape& sizes, int64_t numel, DType dtype,
             Device device);

  Ref<Storage> storage;
  Shape sizes;
  Shape strides;       // in elements
  int64_t offset = 0;  // in elements
  int64_t numel = 1;
  KeySet keys;  // backend key, plus Autograd when gradients flow through it
  DType dtype;
  Device device;
  bool contiguous = true;
  bool wrapped_number = false;  // made from a Python number: does not decide dtypes
  // Of a view: the tensor that owns the values, never itself a view.
  Ref<TensorImpl> base;
  std::unique_ptr<AutogradMeta> autograd;
  Ref<VersionCounter> own_version;  // null: the storage counts
  // The Python object showing this tensor, not owned; guarded by the GIL of the
  // embedding language, opaque here.
  void* python_object = nullptr;

 private:
  ~TensorImpl() override;
};

/// What a result will be: the answer of a shape rule.
struct Spec {
  Shape sizes;
  DType dtype = DType::Float32;
  Device device = {};
};

/// Shared handle of a tensor; default-constructed it is undefined.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}
  /// 0-d tensor of a bare number, which promotes as Python numbers do.
  Tensor(Scalar number);
  template <class T>
    requires std::is_arithmetic_v<T>
  Tensor(T number) : Tensor(Scalar(number)) {}

  bool defined() const { return bool(impl_); }
  TensorImpl* impl() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const { return impl_; }
  Storage& storage() const { return *impl_->storage; }

  const Shape& sizes() const { return impl_->sizes; }
  const Shape& strides() const { return impl_->strides; }
  /// Of one dimension; IndexError where there is none.
  int64_t size(int64_t dim) const { return impl_->sizes[own_dim("size", dim)]; }
  int64_t stride(int64_t dim) const { return impl_->strides[own_dim("stride", dim)]; }
  int64_t ndim() const { return int64_t(impl_->sizes.size()); }
  int64_t numel() const { return impl_->numel; }
  int64_t offset() const { return impl_->offset; }
  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->device; }
  bool is_meta() const { return impl_->device.type == DeviceType::Meta; }
  bool is_contiguous() const { return impl_->contiguous; }
  Spec spec() const { return {sizes(), dtype(), device()}; }

  /// Key set of a call with this tensor: its own keys, and those of its memory, which may
  /// still be written.
  KeySet keys() const { return impl_->keys | impl_->storage->dynamic_keys(); }

  /// Address of the first element; TypeError if T is not the element type (data<void>()
  /// takes any).  Does not wait: kernels run when their inputs are ready.
  template <class T = void>
  T* data() const {
    if constexpr (!std::is_void_v<T>) {
      constexpr DType wanted = dtype_of<std::remove_cv_t<T>>;
      if (__builtin_expect(impl_->dtype != wanted, 0)) refuse_data(wanted);
    }
    return reinterpret_cast<T*>(static_cast<char*>(impl_->storage->data()) +
                                impl_->offset * itemsize(impl_->dtype));
  }

  /// Blocks until the values can be read; rethrows the error of the work behind them.
  const Tensor& wait() const {
    impl_->storage->wait_readable();
    return *this;
  }
  /// Whether wait() would not block.
  bool is_ready() const { return impl_->storage->settled(); }

  /// How often it was written, itself or through the tensors that share the count: its
  /// views, and what detach() gives.
  uint32_t version() const {
    if (const VersionCounter* own = impl_->own_version.get()) {
      return own->value.load(std::memory_order_relaxed);
    }
    return impl_->storage->version();
  }
  void bump_version() const {
    if (VersionCounter* own = impl_->own_version.get()) {
      own->value.fetch_add(1, std::memory_order_relaxed);
    } else {
      impl_->storage->bump_version();
    }
  }

  bool requires_grad() const { return impl_->keys.has(DispatchKey::Autograd); }
  AutogradMeta* autograd() const { return impl_->autograd.get(); }
  AutogradMeta& make_autograd() const {
    if (!impl_->autograd) impl_->autograd = std::make_unique<AutogradMeta>();
    return *impl_->autograd;
  }
  /// A leaf was not made by a differentiable op.
  bool is_leaf() const { return !impl_->autograd || !impl_->autograd->grad_fn; }
  /// Accumulated gradient; undefined when there is none.
  Tensor grad() const {
    return impl_->autograd ? Tensor(impl_->autograd->grad_cell().get()) : Tensor();
  }
  bool is_view() const { return bool(impl_->base); }

  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

 private:
  [[noreturn, gnu::cold]] void refuse_data(DType wanted) const;
  // wrap_dim() takes 0 for a dimension of a 0-d tensor, which has none to look at.
  size_t own_dim(const char* op, int64_t dim) const {
    PKG_CHECK(ndim() > 0, IndexError, "[", op, "] Dimension specified as ", dim,
              " but tensor has no dimensions");
    return size_t(wrap_dim(op, dim, ndim()));
  }

  Ref<TensorImpl> impl_;
};

using TensorList = std::vector<Tensor, PoolAllocator<Tensor>>;

/// Uninitialised tensor of the given description.
Tensor empty(const Shape& sizes, DType dtype, Device device = {});
inline Tensor empty(const Spec& spec) { return empty(spec.sizes, spec.dtype, spec.device); }
/// View of the same storage with another geometry, without gradient history yet.
/// `offset` is absolute, in elements.  The caller makes sure that it stays inside
/// the memory (check_inside); RuntimeError for a number of elements that overflows.
Tensor alias(const Tensor& base, Shape sizes, Shape strides, int64_t offset);
/// Room in memory, in elements, from the first to the end of the last one; 0 without
/// elements.  ValueError for a negative size or stride.
int64_t extent(const Shape& sizes, const Shape& strides);
/// RuntimeError unless every element of such a view lies in memory of `room` elements.
void check_inside(int64_t room, const Shape& sizes, const Shape& strides, int64_t offset);
/// Another tensor over the same storage that autograd does not know to be a view.
Tensor share(const Tensor& tensor);
/// The same with a count of versions of its own: autograd does not notice what is written
/// to it.  That is `.data`.
Tensor share_uncounted(const Tensor& tensor);
/// `tensor` shows what `source` shows from now on: its memory, shape and dtype; history,
/// gradient and count of versions stay.  RuntimeError for another device, and for a dtype
/// without gradients where `tensor` collects them.
void set_data(const Tensor& tensor, const Tensor& source);
/// Tensor over foreign memory, `data` its first element and no stride negative; `release`
/// runs when the last tensor over it dies.  When from_blob raises, it has not run.
Tensor from_blob(void* data, const Shape& sizes, const Shape& strides, DType dtype,
                 std::function<void()> release);
/// Starts or stops collecting gradients in `tensor`.  RuntimeError for a dtype that has
/// none, and for switching off what an op made.
void set_requires_grad(const Tensor& tensor, bool wanted);
/// Value of a one-element tensor, waiting for it.
Scalar item(const Tensor& tensor);

}  // namespace pkg

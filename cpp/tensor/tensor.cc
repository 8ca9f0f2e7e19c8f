// SPDX-License-Identifier: Apache-2.0
// tensor/tensor.cc: making tensors and reading single values.
#include "tensor/tensor.h"

#include "base/checked.h"
#include "base/thread_local.h"
#include "tensor/layout.h"

namespace pkg {
namespace {

// Product of the sizes; a negative size or an overflow is the caller's mistake.
int64_t checked_numel(const Shape& sizes, DType dtype) {
  int64_t count = 1, bytes;
  bool overflow = false, empty = false;
  for (int64_t size : sizes) {
    PKG_CHECK(size >= 0, RuntimeError,
              "[empty] Trying to create tensor with negative dimension ", size, ": ",
              sizes);
    if (size == 0) empty = true;
    else overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (empty) return sizes.numel();  // needs no memory, but its strides are numbers too
  overflow |= __builtin_mul_overflow(count, itemsize(dtype), &bytes);
  PKG_CHECK(!overflow, OutOfMemoryError, "[empty] shape ", sizes, " of ", dtype,
            " overflows 64-bit memory sizes.");
  return count;
}

// Bytes from the first to behind the last element of foreign memory.
int64_t foreign_nbytes(const Shape& sizes, const Shape& strides, DType dtype) {
  try {
    sizes.numel();
    return Checked(extent(sizes, strides)) * itemsize(dtype);
  } catch (Error& error) {
    error.claim("from_blob");
    throw;
  }
}

}  // namespace

TensorImpl::TensorImpl(Ref<Storage> storage_in, Shape sizes_in, Shape strides_in,
                       int64_t offset_in, DType dtype_in, Device device_in)
    : storage(std::move(storage_in)),
      sizes(std::move(sizes_in)),
      strides(std::move(strides_in)),
      offset(offset_in),
      numel(sizes.numel()),
      keys(device_in.type == DeviceType::CPU ? DispatchKey::CPU : DispatchKey::Meta),
      dtype(dtype_in),
      device(device_in),
      contiguous(compute_contiguous(sizes, strides)) {
  count_live(Live::Tensors, 1);
}

TensorImpl::TensorImpl(Ref<Storage> storage_in, const Shape& sizes_in, int64_t numel_in,
                       DType dtype_in, Device device_in)
    : storage(std::move(storage_in)),
      sizes(sizes_in),
      strides(contiguous_strides(sizes)),
      numel(numel_in),
      keys(device_in.type == DeviceType::CPU ? DispatchKey::CPU : DispatchKey::Meta),
      dtype(dtype_in),
      device(device_in) {
  count_live(Live::Tensors, 1);
}

VersionCounter::~VersionCounter() = default;
TensorImpl::~TensorImpl() { count_live(Live::Tensors, -1); }

void Tensor::refuse_data(DType wanted) const {
  throw TypeError(str("[data] expected a tensor of ", wanted, ", got ", dtype(),
                      ". Convert it first, or declare the dtypes that the kernel takes."));
}

Tensor empty(const Shape& sizes, DType dtype, Device device) {
  const int64_t numel = checked_numel(sizes, dtype), nbytes = numel * itemsize(dtype);
  auto storage = device.type == DeviceType::CPU ? Storage::make(nbytes)
                                                : Storage::meta(nbytes);
  return Tensor(Ref<TensorImpl>::make(std::move(storage), sizes, numel, dtype, device));
}

Tensor alias(const Tensor& base, Shape sizes, Shape strides, int64_t offset) {
  auto impl = Ref<TensorImpl>::make(base.impl()->storage, std::move(sizes),
                                    std::move(strides), offset, base.dtype(),
                                    base.device());
  // Where no element is, an offset may be so large that its bytes overflow.
  if (impl->numel == 0 && offset > int64_t{1} << 56) impl->offset = 0;
  impl->base = base.is_view() ? base.impl()->base : base.ref();
  impl->own_version = base.impl()->own_version;
  return Tensor(std::move(impl));
}

int64_t extent(const Shape& sizes, const Shape& strides) {
  PKG_CHECK(sizes.size() == strides.size(), RuntimeError,
            "[op] expected a stride for each "
            "dimension, got the shape ",
            sizes, " and the strides ", strides, ".");
  Checked last = 0;
  bool empty = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    PKG_CHECK(sizes[d] >= 0 && strides[d] >= 0, ValueError,
              "[op] expected no negative size "
              "or stride, got the shape ",
              sizes, " and the strides ", strides, ".");
    if (sizes[d] > 1) last += (Checked(sizes[d]) - 1) * strides[d];
    empty |= sizes[d] == 0;
  }
  return empty ? 0 : int64_t(last + 1);
}

void check_inside(int64_t room, const Shape& sizes, const Shape& strides, int64_t offset) {
  const int64_t length = extent(sizes, strides);
  PKG_CHECK(length == 0 || (offset >= 0 && length <= room && offset <= room - length),
            RuntimeError, "[op] expected a view inside of ", room,
            " elements, got the shape ", sizes, " with strides ", strides, " from element ",
            offset, ".");
}

Tensor share(const Tensor& tensor) {
  auto impl = Ref<TensorImpl>::make(tensor.impl()->storage, tensor.sizes(),
                                    tensor.strides(), tensor.offset(), tensor.dtype(),
                                    tensor.device());
  impl->wrapped_number = tensor.impl()->wrapped_number;
  impl->own_version = tensor.impl()->own_version;
  return Tensor(std::move(impl));
}

Tensor share_uncounted(const Tensor& tensor) {
  Tensor result = share(tensor);
  result.impl()->own_version = Ref<VersionCounter>::make(0);
  return result;
}

void set_data(const Tensor& tensor, const Tensor& source) {
  PKG_CHECK(source.device() == tensor.device(), RuntimeError,
            "[set_data] expected a tensor of the device '", tensor.device(),
            "', got one of '", source.device(), "'.");
  PKG_CHECK(
      !tensor.requires_grad() || is_floating(source.dtype()), RuntimeError,
      "[set_data] expected a floating dtype for a tensor that requires gradients, got ",
      source.dtype(), ".");
  PKG_CHECK(
      !source.storage().is_symbolic() || tensor.storage().is_symbolic(), TypeError,
      "[set_data] expected a tensor with values, got a symbol, which has none outside "
      "of its graph. Use x.copy_(value), which is done in each run.");
  TensorImpl& impl = *tensor.impl();
  if (!impl.own_version) impl.own_version = Ref<VersionCounter>::make(tensor.version());
  impl.storage = source.impl()->storage;
  impl.sizes = source.sizes();
  impl.strides = source.strides();
  impl.offset = source.offset();
  impl.numel = source.numel();
  impl.dtype = source.dtype();
  impl.contiguous = source.is_contiguous();
}

Tensor from_blob(void* data, const Shape& sizes, const Shape& strides, DType dtype,
                 std::function<void()> release) {
  const int64_t nbytes = foreign_nbytes(sizes, strides, dtype);
  PKG_CHECK(nbytes == 0 || uintptr_t(data) % uintptr_t(itemsize(dtype)) == 0, ValueError,
            "[from_blob] expected memory of ", dtype, " at a multiple of ", itemsize(dtype),
            " bytes, got the address ", data, ". Make a copy first.");
  auto storage = Storage::borrow(data, nbytes, std::move(release));
  return Tensor(
      Ref<TensorImpl>::make(std::move(storage), sizes, strides, 0, dtype, Device{}));
}

Tensor::Tensor(Scalar number) {
  // Exact until it meets a tensor, whose dtype then decides.
  *this = empty(Shape{}, number.is_float() ? DType::Float64 : number.dtype());
  visit_dtype(dtype(), [&]<class T>(TypeTag<T>) { *data<T>() = number.to<T>(); });
  impl_->wrapped_number = true;
}

Scalar item(const Tensor& tensor) {
  PKG_CHECK(tensor.numel() == 1, RuntimeError, "[item] a Tensor with ", tensor.numel(),
            " elements cannot be converted to Scalar (shape ", tensor.sizes(), ")");
  PKG_CHECK(!tensor.is_meta(), RuntimeError,
            "[item] a meta tensor has a shape but no values.");
  tensor.wait();
  return visit_dtype(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return Scalar(float(*tensor.data<T>()));
    } else {
      return Scalar(*tensor.data<T>());
    }
  });
}

void set_requires_grad(const Tensor& tensor, bool wanted) {
  PKG_CHECK(!wanted || is_floating(tensor.dtype()), RuntimeError,
            "only Tensors of floating point dtype can require gradients, got ",
            tensor.dtype());
  PKG_CHECK(wanted || tensor.is_leaf(), RuntimeError,
            "you can only change requires_grad flags of leaf variables. Use detach().");
  KeySet& keys = tensor.impl()->keys;
  keys = wanted ? keys | DispatchKey::Autograd : keys.without(DispatchKey::Autograd);
}

}  // namespace pkg

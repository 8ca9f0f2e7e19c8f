// SPDX-License-Identifier: Apache-2.0
// tensor/tensor.cc: making tensors and reading single values.
#include "tensor/tensor.h"

#include <atomic>

namespace pkg {
namespace {

std::atomic<int64_t> g_live{0};

bool compute_contiguous(const Shape& sizes, const Shape& strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

// Product of the sizes; a negative size or an overflow is the caller's mistake.
int64_t checked_numel(const Shape& sizes, DType dtype) {
  int64_t count = itemsize(dtype);
  bool empty = false;
  for (int64_t size : sizes) {
    PKG_CHECK(size >= 0, RuntimeError,
              "[empty] Trying to create tensor with negative dimension ", size, ": ",
              sizes);
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(count, size, &count)) {
      detail::raise<OutOfMemoryError>("[empty] shape ", sizes, " of ", dtype,
                                      " overflows 64-bit memory sizes.");
    }
  }
  return empty ? 0 : count / itemsize(dtype);
}

}  // namespace

AutogradMeta::~AutogradMeta() = default;

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
  g_live.fetch_add(1, std::memory_order_relaxed);
}

TensorImpl::~TensorImpl() { g_live.fetch_sub(1, std::memory_order_relaxed); }

int64_t TensorImpl::live_count() { return g_live.load(std::memory_order_relaxed); }

Tensor empty(const Shape& sizes, DType dtype, Device device) {
  const int64_t nbytes = checked_numel(sizes, dtype) * itemsize(dtype);
  auto storage = device.type == DeviceType::CPU ? Storage::make(nbytes)
                                                : Storage::meta(nbytes);
  return Tensor(Ref<TensorImpl>::make(std::move(storage), sizes,
                                      contiguous_strides(sizes), 0, dtype, device));
}

Tensor alias(const Tensor& base, Shape sizes, Shape strides, int64_t offset) {
  auto impl = Ref<TensorImpl>::make(base.impl()->storage, std::move(sizes),
                                    std::move(strides), offset, base.dtype(),
                                    base.device());
  impl->is_view = true;
  return Tensor(std::move(impl));
}

Tensor from_blob(void* data, const Shape& sizes, const Shape& strides, DType dtype,
                 std::function<void()> release) {
  const int64_t nbytes = checked_numel(sizes, dtype) * itemsize(dtype);
  auto storage = Storage::borrow(data, nbytes, std::move(release));
  return Tensor(
      Ref<TensorImpl>::make(std::move(storage), sizes, strides, 0, dtype, Device{}));
}

Tensor::Tensor(Scalar number) {
  *this = empty(Shape{}, number.dtype());
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

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// c_api/tensor.cc: tensors for C: making, describing, reading and writing them.
#include <cstring>

#include "base/thread_local.h"
#include "c_api/boundary.h"
#include "ops/functions.h"

namespace pkg::c {

static_assert(PKG_BOOL == int(DType::Bool) && PKG_UINT8 == int(DType::UInt8) &&
              PKG_INT8 == int(DType::Int8) && PKG_INT32 == int(DType::Int32) &&
              PKG_INT64 == int(DType::Int64) && PKG_FLOAT16 == int(DType::Float16) &&
              PKG_BFLOAT16 == int(DType::BFloat16) && PKG_FLOAT32 == int(DType::Float32) &&
              PKG_FLOAT64 == int(DType::Float64) && kNumDTypes == 9);

Tensor required(const char* function, const char* parameter, const pkg_tensor* handle) {
  PKG_CHECK(handle, TypeError, "[", function,
            "] expected a tensor, got NULL (argument=", parameter, ").");
  return borrow(handle);
}

DType dtype_of_code(const char* function, int64_t code) {
  PKG_CHECK(code >= 0 && code < kNumDTypes, ValueError, "[", function,
            "] expected a pkg_dtype from 0 to ", kNumDTypes - 1, ", got ", code, ".");
  return DType(code);
}

Device device_of_code(const char* function, int64_t code) {
  PKG_CHECK(code == PKG_CPU || code == PKG_META, ValueError, "[", function,
            "] expected a pkg_device, PKG_CPU (0) or PKG_META (1), got ", code, ".");
  return Device{code == PKG_CPU ? DeviceType::CPU : DeviceType::Meta};
}

Shape shape_of(const char* function, const int64_t* sizes, int64_t ndim) {
  PKG_CHECK(ndim >= 0, ValueError, "[", function, "] expected ndim of at least 0, got ",
            ndim, ".");
  PKG_CHECK(sizes || ndim == 0, TypeError, "[", function, "] expected an array of ", ndim,
            " numbers, got NULL.");
  return Shape(sizes, size_t(ndim));
}

namespace {

thread_local KernelFrame* t_frame = nullptr;

void check_has_data(const char* function, const Tensor& tensor) {
  PKG_CHECK(!tensor.is_meta(), RuntimeError, "[", function,
            "] a meta tensor has a shape but no values.");
}

}  // namespace

KernelFrame::KernelFrame(std::span<const Value> args, std::span<const Tensor> results)
    : args_(args), results_(results), outer_(t_frame) {
  t_frame = this;
}
KernelFrame::~KernelFrame() { t_frame = outer_; }

bool KernelFrame::covers(const Tensor& tensor) {
  bool found = false;
  const auto compare = [&](const Tensor& other) {
    found |= &other.storage() == &tensor.storage();
  };
  for (const KernelFrame* frame = t_frame; frame && !found; frame = frame->outer_) {
    for (const Value& value : frame->args_) for_each_tensor(value, compare);
    for (const Tensor& result : frame->results_) compare(result);
  }
  return found;
}

}  // namespace pkg::c

using namespace pkg;
using namespace pkg::c;

extern "C" {

const char* pkg_dtype_name(int32_t dtype) {
  return dtype >= 0 && dtype < kNumDTypes ? name_of(DType(dtype)) : nullptr;
}
int64_t pkg_dtype_size(int32_t dtype) {
  return dtype >= 0 && dtype < kNumDTypes ? itemsize(DType(dtype)) : -1;
}

pkg_tensor* pkg_tensor_empty(const int64_t* sizes, int32_t ndim, pkg_dtype dtype,
                             pkg_device device, pkg_status* status) {
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    const char* me = "pkg_tensor_empty";
    return own(empty(shape_of(me, sizes, ndim), dtype_of_code(me, dtype),
                     device_of_code(me, device)));
  });
}

pkg_tensor* pkg_tensor_from_data(const void* data, const int64_t* sizes, int32_t ndim,
                                 pkg_dtype dtype, pkg_status* status) {
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    const char* me = "pkg_tensor_from_data";
    Tensor made = empty(shape_of(me, sizes, ndim), dtype_of_code(me, dtype));
    PKG_CHECK(data || made.numel() == 0, TypeError, "[", me, "] expected ", made.numel(),
              " elements, got NULL (argument=data).");
    const int64_t nbytes = made.numel() * itemsize(made.dtype());
    if (nbytes) std::memcpy(made.data(), data, size_t(nbytes));
    return own(std::move(made));
  });
}

pkg_tensor* pkg_tensor_borrow(void* data, const int64_t* sizes, const int64_t* strides,
                              int32_t ndim, pkg_dtype dtype, pkg_release_fn release,
                              void* context, pkg_status* status) {
  // Set once the tensor is the caller's: until then a failure must not release.
  const auto taken = std::make_shared<bool>(false);
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    const char* me = "pkg_tensor_borrow";
    const DType type = dtype_of_code(me, dtype);
    const Shape shape = shape_of(me, sizes, ndim);
    for (int64_t size : shape) {
      PKG_CHECK(size >= 0, ValueError, "[", me, "] expected sizes of at least 0, got ",
                shape, ".");
    }
    const Shape steps = strides ? shape_of(me, strides, ndim) : contiguous_strides(shape);
    for (int64_t step : steps) {
      PKG_CHECK(step >= 0, ValueError, "[", me, "] expected strides of at least 0, got ",
                steps, ".");
    }
    PKG_CHECK(data || shape.numel() == 0, TypeError, "[", me,
              "] expected a buffer, got NULL (argument=data).");
    PKG_CHECK(reinterpret_cast<uintptr_t>(data) % uintptr_t(itemsize(type)) == 0,
              ValueError, "[", me, "] expected a buffer aligned to ", itemsize(type),
              " bytes for ", type, ", got ", data, ".");
    Tensor made = from_blob(data, shape, steps, type, [=] {
      if (*taken && release) release(context);
    });
    *taken = true;
    return own(std::move(made));
  });
}

pkg_tensor* pkg_tensor_retain(pkg_tensor* tensor) {
  if (tensor) impl_of(tensor)->retain();
  return tensor;
}
void pkg_tensor_delete(pkg_tensor* tensor) {
  if (tensor) impl_of(tensor)->release();
}

int32_t pkg_tensor_ndim(const pkg_tensor* tensor) {
  return tensor ? int32_t(impl_of(tensor)->sizes.size()) : -1;
}
const int64_t* pkg_tensor_sizes(const pkg_tensor* tensor) {
  return tensor ? impl_of(tensor)->sizes.data() : nullptr;
}
const int64_t* pkg_tensor_strides(const pkg_tensor* tensor) {
  return tensor ? impl_of(tensor)->strides.data() : nullptr;
}
int64_t pkg_tensor_numel(const pkg_tensor* tensor) {
  return tensor ? impl_of(tensor)->numel : -1;
}
int32_t pkg_tensor_dtype(const pkg_tensor* tensor) {
  return tensor ? int32_t(impl_of(tensor)->dtype) : -1;
}
int32_t pkg_tensor_device(const pkg_tensor* tensor) {
  return tensor ? int32_t(code_of(impl_of(tensor)->device)) : -1;
}
bool pkg_tensor_is_contiguous(const pkg_tensor* tensor) {
  return tensor && impl_of(tensor)->contiguous;
}

const void* pkg_tensor_data(const pkg_tensor* handle, pkg_status* status) {
  return guarded<const void*>(status, nullptr, [&] {
    const Tensor tensor = required("pkg_tensor_data", "tensor", handle);
    check_has_data("pkg_tensor_data", tensor);
    if (!KernelFrame::covers(tensor)) tensor.wait();
    return tensor.data();
  });
}

void* pkg_tensor_mutable_data(pkg_tensor* handle, pkg_status* status) {
  return guarded<void*>(status, nullptr, [&] {
    const Tensor tensor = required("pkg_tensor_mutable_data", "tensor", handle);
    check_has_data("pkg_tensor_mutable_data", tensor);
    if (!KernelFrame::covers(tensor)) {
      tensor.wait();  // reports a failed write, which the next line does not
      tensor.storage().wait_writable();
      tensor.bump_version();
    }
    return tensor.data();
  });
}

bool pkg_tensor_copy_out(const pkg_tensor* handle, void* out, size_t nbytes,
                         pkg_status* status) {
  return guarded(status, false, [&] {
    const char* me = "pkg_tensor_copy_out";
    Tensor tensor = required(me, "tensor", handle);
    check_has_data(me, tensor);
    const size_t wanted = size_t(tensor.numel() * itemsize(tensor.dtype()));
    PKG_CHECK(nbytes == wanted, ValueError, "[", me, "] expected room for ", wanted,
              " bytes, got ", nbytes, " (shape=", tensor.sizes(),
              ", dtype=", tensor.dtype(), ").");
    PKG_CHECK(out || wanted == 0, TypeError, "[", me,
              "] expected a buffer, got NULL (argument=out).");
    if (!tensor.is_contiguous()) {
      const ExcludeKeys no_grad{DispatchKey::Autograd};
      tensor = ops::contiguous(tensor);
    }
    if (!KernelFrame::covers(tensor)) tensor.wait();
    if (wanted) std::memcpy(out, tensor.data(), wanted);
    return true;
  });
}

bool pkg_tensor_wait(const pkg_tensor* handle, pkg_status* status) {
  return guarded(status, false, [&] {
    const Tensor tensor = required("pkg_tensor_wait", "tensor", handle);
    if (!KernelFrame::covers(tensor)) tensor.wait();
    return true;
  });
}

bool pkg_tensor_is_ready(const pkg_tensor* handle) {
  return guarded(nullptr, false, [&] { return handle && borrow(handle).is_ready(); });
}

int64_t pkg_live_tensors(void) { return live_count(Live::Tensors); }

}  // extern "C"

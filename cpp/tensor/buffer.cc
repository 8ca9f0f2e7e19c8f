// SPDX-License-Identifier: Apache-2.0
// tensor/buffer.cc: buffers of others as tensors, and tensors as buffers.
#include "tensor/buffer.h"

#include "base/checked.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

Tensor checked_tensor(const ForeignBuffer& buffer, const std::function<void()>& release) {
  bool fits = buffer.dtype.has_value(), negative = false;
  Shape strides;
  if (!buffer.byte_strides) strides = contiguous_strides(buffer.sizes);
  for (size_t d = 0; buffer.byte_strides && d < buffer.sizes.size(); ++d) {
    const int64_t step = buffer.byte_strides[d];
    negative |= step < 0;
    fits = fits && step % buffer.itemsize == 0;
    if (fits) strides.push_back(step / buffer.itemsize);
  }
  PKG_CHECK(!negative, ValueError,
            "[from_numpy] at least one stride is negative; make a copy with array.copy() "
            "first.");
  PKG_CHECK(fits, TypeError, "[from_numpy] cannot convert an array of format '",
            buffer.format ? buffer.format : "B",
            "'. Supported are bool, uint8, int8, int32, int64, float16, float32 and "
            "float64.");
  return from_blob(buffer.data, buffer.sizes, strides, *buffer.dtype, release);
}

}  // namespace

std::optional<DType> dtype_of_format(const char* format, int64_t itemsize) {
  if (!format) format = "B";
  if (*format == '<' || *format == '=' || *format == '@') ++format;
  if (*format && format[1]) return std::nullopt;  // "ii": a struct
  const auto fitting = [itemsize](DType dtype) {
    return itemsize == pkg::itemsize(dtype) ? std::optional(dtype) : std::nullopt;
  };
  switch (*format) {
    case '?': return fitting(DType::Bool);
    case 'B': return fitting(DType::UInt8);
    case 'b': return fitting(DType::Int8);
    case 'e': return fitting(DType::Float16);
    case 'f': return fitting(DType::Float32);
    case 'd': return fitting(DType::Float64);
    case 'i':
    case 'l':
    case 'q': return fitting(itemsize == 4 ? DType::Int32 : DType::Int64);
    default: return std::nullopt;
  }
}

Tensor over_foreign_buffer(const ForeignBuffer& buffer,
                           const std::function<void()>& release) {
  Tensor tensor;
  try {
    tensor = checked_tensor(buffer, release);
  } catch (...) {
    release();
    throw;
  }
  PKG_CHECK(tensor.dtype() != DType::Bool || are_plain_bools(tensor), ValueError,
            kOddBools);
  return tensor;
}

const char* buffer_format(DType dtype) {
  // Of two C types of 8 bytes NumPy calls the one int64 that is long, where long has them.
  constexpr const char* kInt64 = sizeof(long) == 8 ? "l" : "q";
  constexpr const char* formats[kNumDTypes] = {"?", "B", "b", "i", kInt64,
                                               "e", "",  "f", "d"};
  PKG_CHECK(dtype != DType::BFloat16, TypeError,
            "NumPy has no bfloat16: convert with .float() first");
  return formats[int(dtype)];
}

Shape byte_strides(const Tensor& tensor) {
  Shape strides = tensor.strides();
  for (int64_t& step : strides) {
    step = int64_t(wraps(step) * wraps(itemsize(tensor.dtype())));
  }
  return strides;
}

}  // namespace pkg

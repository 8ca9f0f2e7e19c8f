// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/stage.cc: strided copies and conversions, in cache.
#include "kernels/cpu/reduce/stage.h"

#include <cstring>

#include "base/isa.h"

namespace pkg {
namespace {

float widened(Half h) {
  // The bits in their places, times 2^112, which also makes subnormals right.
  const uint32_t magnitude = uint32_t(h.bits & 0x7fffu) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u
                                                 : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | uint32_t(h.bits & 0x8000u) << 16);
}

template <class To, class From>
void convert(const char* from, char* to, int64_t n) {
  with_isa([=] {
    auto* x = reinterpret_cast<const From*>(from);
    auto* y = reinterpret_cast<To*>(to);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<From, Half>) y[i] = To(widened(x[i]));
      else y[i] = To(x[i]);
    }
  });
}

using Convert = void (*)(const char*, char*, int64_t);

template <class To>
Convert converter_to(DType from) {
  switch (from) {
    case DType::Bool:
    case DType::UInt8: return convert<To, uint8_t>;
    case DType::Int8: return convert<To, int8_t>;
    case DType::Int32: return convert<To, int32_t>;
    case DType::Int64: return convert<To, int64_t>;
    case DType::Float16: return convert<To, Half>;
    case DType::BFloat16: return convert<To, BFloat16>;
    case DType::Float32: return convert<To, float>;
    default: return convert<To, double>;
  }
}

template <class T>
void gather(const char* x, int64_t row_step, int64_t rows, int64_t step, int64_t n,
            char* to) {
  auto* from = reinterpret_cast<const T*>(x);
  auto* out = reinterpret_cast<T*>(to);
  if (step == 1) {
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(out + row * n, from + row * row_step, size_t(n) * sizeof(T));
    }
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < n; ++i) out[row * n + i] = from[row * row_step + i * step];
  }
}

void gather_any(int64_t itemsize, const char* x, int64_t row_step, int64_t rows,
                int64_t step, int64_t n, char* to) {
  switch (itemsize) {
    case 1: return gather<uint8_t>(x, row_step, rows, step, n, to);
    case 2: return gather<uint16_t>(x, row_step, rows, step, n, to);
    case 4: return gather<uint32_t>(x, row_step, rows, step, n, to);
    default: return gather<uint64_t>(x, row_step, rows, step, n, to);
  }
}

}  // namespace

Stage::Stage(DType from, DType to) : from_(itemsize(from)), to_(itemsize(to)) {
  if (from == to || (from == DType::Bool && to == DType::UInt8)) return;
  switch (to) {
    case DType::Float32: convert_ = converter_to<float>(from); break;
    case DType::Float64: convert_ = converter_to<double>(from); break;
    case DType::Int64: convert_ = converter_to<int64_t>(from); break;
    default: detail::unsupported_dtype("reduce", to);
  }
}

void Stage::bring(const char* x, int64_t row_step, int64_t rows, int64_t step, int64_t n,
                  char* out) const {
  if (!convert_) return gather_any(from_, x, row_step, rows, step, n, out);
  if (step == 1 && row_step == n) return convert_(x, out, rows * n);
  constexpr int64_t kRoom = 512;
  alignas(64) char some[kRoom * 8];
  for (int64_t row = 0; row < rows; ++row) {
    const char* from = x + row * row_step * from_;
    if (step == 1) {
      convert_(from, out + row * n * to_, n);
      continue;
    }
    for (int64_t at = 0; at < n; at += kRoom) {
      const int64_t m = n - at < kRoom ? n - at : kRoom;
      gather_any(from_, from + at * step * from_, 0, 1, step, m, some);
      convert_(some, out + (row * n + at) * to_, m);
    }
  }
}

void Stage::scatter(char* to, int64_t step, const char* from, int64_t itemsize, int64_t n) {
  const auto copy = [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < n; ++i) {
      reinterpret_cast<T*>(to)[i * step] = reinterpret_cast<const T*>(from)[i];
    }
  };
  switch (itemsize) {
    case 1: return copy(TypeTag<uint8_t>());
    case 2: return copy(TypeTag<uint16_t>());
    case 4: return copy(TypeTag<uint32_t>());
    default: return copy(TypeTag<uint64_t>());
  }
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// tensor/convert.cc: one loop for each pair of types.
#include "tensor/convert.h"

#include <algorithm>
#include <cmath>

#include "base/whole.h"
#include "tensor/sixteen.h"

namespace pkg {
namespace {

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range is undefined in C++; through int64 it is at least the same value
    // on every instruction set.
    return To(int64_t(value));
  } else {
    return To(value);
  }
}

// Whether there is a shorter formula for many numbers: vectors convert doubles to int32 and
// back, but below x86-64-v4 none to int64 or from it.
template <class To, class From>
constexpr bool kHasShort = !std::is_same_v<To, bool> &&
                           ((std::is_floating_point_v<From> && std::is_integral_v<To>) ||
                            (std::is_floating_point_v<To> &&
                             std::is_same_v<From, int64_t>));
template <class To, class From>
bool is_short(From value) {
  if constexpr (std::is_integral_v<From>) return fits_whole(value);
  else return std::abs(value) < From(0x1p31);
}
template <class To, class From>
To converted_short(From value) {
  if constexpr (std::is_integral_v<From>) return To(to_double(value));
  else return To(int32_t(value));
}

template <class To, class From>
void convert(const void*, char* const* data, int64_t n) {
  with_isa([=] {
    auto* to = reinterpret_cast<To*>(data[0]);
    auto* from = reinterpret_cast<const From*>(data[1]);
    // Bytes may lie anywhere, for all that the compiler knows, even where n does.
    const int64_t past = n;
    if constexpr (kHasShort<To, From>) {
      constexpr int64_t kChunk = 1024;
      const bool over = data[0] < data[1] + past * int64_t(sizeof(From)) &&
                        data[1] < data[0] + past * int64_t(sizeof(To));
      bool fitted = true;
      for (int64_t begin = 0; begin < past; begin += kChunk) {
        const int64_t end = std::min(past, begin + kChunk);
        // As wide as what is compared: vectors of truths need not be narrowed.
        std::conditional_t<sizeof(From) == 8, int64_t, int32_t> all = 1;
        const auto test = [&](int64_t i) { all &= is_short<To>(from[i]) ? 1 : 0; };
        // What does not fit is found while it is converted, and then converted again; where
        // that would be gone, or will be much, before.
        if (over || !fitted) {
          for (int64_t i = begin; i < end; ++i) test(i);
        }
        if (all) {
#pragma GCC ivdep
          for (int64_t i = begin; i < end; ++i) {
            test(i);
            to[i] = converted_short<To>(from[i]);
          }
        }
        fitted = all;
        if (!fitted) {
          for (int64_t i = begin; i < end; ++i) to[i] = converted<To>(from[i]);
        }
      }
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < past; ++i) to[i] = converted<To>(from[i]);
    }
  });
}

// To or from float: tensor/sixteen.h.  What is left at the end is converted beside it.
template <class To, class From>
void convert_sixteens(const void*, char* const* data, int64_t n) {
  const bool done = with_sixteen([=]<Isa level>(AtIsa<level>) {
    auto* to = reinterpret_cast<To*>(data[0]);
    auto* from = reinterpret_cast<const From*>(data[1]);
    const auto one = [](To* out, const From* in) {
      if constexpr (std::is_same_v<To, float>) Sixteen<level>::widen(out, in);
      else Sixteen<level>::narrow(out, in);
    };
    const int64_t past = n;
    int64_t i = 0;
    for (; i + kSixteen <= past; i += kSixteen) one(to + i, from + i);
    if (i == past) return;
    From last[kSixteen] = {};
    To converted[kSixteen];
    std::copy(from + i, from + past, last);
    one(converted, last);
    std::copy(converted, converted + (past - i), to + i);
  });
  if (!done) convert<To, From>(nullptr, data, n);
}

// A bool is the byte 0 or 1, and int8 has the bits of uint8.
bool same_bits(DType from, DType to) {
  const auto byte = [](DType d) { return d == DType::UInt8 || d == DType::Int8; };
  return from == to || (byte(to) && (byte(from) || from == DType::Bool));
}

template <class To>
BlockFunction from_type(DType from) {
  switch (from) {
    case DType::Bool:
    case DType::UInt8: return convert<To, uint8_t>;
    case DType::Int8: return convert<To, int8_t>;
    case DType::Int32: return convert<To, int32_t>;
    case DType::Int64: return convert<To, int64_t>;
    case DType::Float64: return convert<To, double>;
    default: return convert<To, float>;
  }
}

BlockFunction step(DType from, DType to) {
  switch (to) {
    case DType::Bool: return from_type<bool>(from);
    case DType::UInt8:
    case DType::Int8: return from_type<uint8_t>(from);  // the low bits
    case DType::Int32: return from_type<int32_t>(from);
    case DType::Int64: return from_type<int64_t>(from);
    case DType::Float16: return convert_sixteens<Half, float>;
    case DType::BFloat16: return convert_sixteens<BFloat16, float>;
    case DType::Float64: return from_type<double>(from);
    case DType::Float32: break;
  }
  if (from == DType::Float16) return convert_sixteens<float, Half>;
  if (from == DType::BFloat16) return convert_sixteens<float, BFloat16>;
  return from_type<float>(from);
}

}  // namespace

Conversion::Conversion(DType from, DType to, DType via) {
  if (from != via) add(from, via);
  if (via != to) add(via, to);
}

void Conversion::add(DType from, DType to) {
  if (same_bits(from, to)) return;
  const auto put = [&](DType a, DType b) { steps[size_t(count++)] = {step(a, b), b}; };
  if ((is_reduced(from) && to != DType::Float32) ||
      (is_reduced(to) && from != DType::Float32)) {
    put(from, DType::Float32);
    if (to == DType::Float32) return;
    from = DType::Float32;
  }
  put(from, to);
}

void Conversion::run(char* to, const char* from, int64_t n, char* const* scratch) const {
  char* data[2] = {nullptr, const_cast<char*>(from)};
  for (int k = 0; k < count; ++k) {
    data[0] = k + 1 == count ? to : scratch[data[1] == scratch[0] ? 1 : 0];
    steps[size_t(k)].run(nullptr, data, n);
    data[1] = data[0];
  }
}

}  // namespace pkg

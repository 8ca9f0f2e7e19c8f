// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/comparison.cc: comparisons and logic of two tensors, and bits.
#include "base/number_fits.h"
#include "ops/loops.h"

namespace pkg::ops {
namespace {

// Bits are those of integers; the record keeps other dtypes out.
constexpr auto kBitsType = [](DType dtype, auto&& f) {
  visit_compute("bitwise", dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_integral_v<T>) f(tag);
  });
};

template <class F>
OpBuilder bitwise(OpBuilder op, F) {
  return op.pointwise()
      .dtypes(kIntegerOrBoolDTypes)
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("bitwise", a, b, result_type(a, b));
      })
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, result_type(a, b), kBitsType,
                   [](auto x, auto y) -> decltype(x) { return decltype(x)(F{}(x, y)); });
      })
      .non_differentiable()
      .in_place();
}

// Shifts by any number, of which C++ defines those by less than all bits.
// Vectors have no shifts of bytes by different counts: of those each bit of the count
// chooses.
struct LeftShift {
  template <class T>
  T operator()(T x, T n) const {
    if constexpr (std::is_same_v<T, bool>) return x;  // which the record keeps out
    if constexpr (sizeof(T) == 1) {
      x = n & 1 ? T(x << 1) : x;
      x = n & 2 ? T(x << 2) : x;
      x = n & 4 ? T(x << 4) : x;
      return uint8_t(n) < 8 ? x : T(0);
    }
    constexpr uint64_t bits = 8 * sizeof(T);
    if constexpr (sizeof(T) == 8) {
      // No remainder: the compiler narrows that to 32 bits, and widens it again.
      const bool all = wraps(n) & ~(bits - 1);
      const uint64_t shifted = wraps(x) << (all ? 0 : wraps(n));
      return T(all ? 0 : shifted);
    }
    const T shifted = T(wraps(x) << (wraps(n) % bits));
    return uint64_t(wraps(n)) < bits ? shifted : T(0);
  }
};
struct RightShift {
  template <class T>
  T operator()(T x, T n) const {
    if constexpr (std::is_same_v<T, bool>) return x;
    const T sign = x < T(0) ? T(-1) : T(0);
    if constexpr (sizeof(T) == 1) {
      x = n & 1 ? T(x >> 1) : x;
      x = n & 2 ? T(x >> 2) : x;
      x = n & 4 ? T(x >> 4) : x;
      return uint8_t(n) < 8 ? x : sign;
    }
    constexpr uint64_t bits = 8 * sizeof(T);
    // AVX2 has no arithmetic shift of 64 bits to the right, and no unsigned comparison.
    if constexpr (sizeof(T) == 8) {
      const bool all = wraps(n) & ~(bits - 1);
      const uint64_t part = (wraps(x) ^ wraps(sign)) >> (all ? 0 : wraps(n));
      return T((all ? 0 : part) ^ wraps(sign));
    }
    const T shifted = T(x >> (wraps(n) % bits));
    return uint64_t(wraps(n)) < bits ? shifted : sign;
  }
};

PKG_LIBRARY_FRAGMENT(pkg, m) {
  binary_bool(m.def("eq(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x == y;
  }).doc("self == other, elementwise.");
  binary_bool(m.def("_same(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x == y || (x != x && y != y);
  }).doc("eq, to which a NaN is like another.");
  binary_bool(m.def("ne(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x != y;
  }).doc("self != other, elementwise.");
  binary_bool(m.def("lt(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x < y;
  }).doc("self < other, elementwise.");
  binary_bool(m.def("le(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x <= y;
  }).doc("self <= other, elementwise.");
  binary_bool(m.def("gt(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x > y;
  }).doc("self > other, elementwise.");
  binary_bool(m.def("ge(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x >= y;
  }).doc("self >= other, elementwise.");
  binary_bool(m.def("logical_and(Tensor self, Tensor other) -> Tensor"), [](auto x,
                                                                            auto y) {
    return bool(x) & bool(y);
  }).doc("True where both are non-zero.");
  binary_bool(m.def("logical_or(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return bool(x) | bool(y);
  }).doc("True where one is non-zero.");
  binary_bool(m.def("logical_xor(Tensor self, Tensor other) -> Tensor"), [](auto x,
                                                                            auto y) {
    return bool(x) != bool(y);
  }).doc("True where exactly one is non-zero.");
  unary_bool(m.def("logical_not(Tensor self) -> Tensor"), [](auto x) {
    return !bool(x);
  }).doc("True where self is zero.");
  bitwise(m.def("bitwise_and(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x & y;
  }).doc("Bitwise and of integers or bools.");
  bitwise(m.def("bitwise_or(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x | y;
  }).doc("Bitwise or of integers or bools.");
  bitwise(m.def("bitwise_xor(Tensor self, Tensor other) -> Tensor"), [](auto x, auto y) {
    return x ^ y;
  }).doc("Bitwise exclusive or of integers or bools.");
  bitwise(m.def("bitwise_left_shift(Tensor self, Tensor other) -> Tensor"), LeftShift{})
      .doc("self * 2^other of integers; 0 when every bit is shifted out.")
      .dtypes(kIntegerDTypes);
  bitwise(m.def("bitwise_right_shift(Tensor self, Tensor other) -> Tensor"), RightShift{})
      .doc("self / 2^other of integers, rounded down.")
      .dtypes(kIntegerDTypes);
  m.def("bitwise_not(Tensor self) -> Tensor")
      .doc("Every bit the other way; of bools, logical not.")
      .pointwise()
      .dtypes(kIntegerOrBoolDTypes)
      .shape(same_shape)
      .cpu([](Tensor& out, const Tensor& self) {
        if (self.dtype() == DType::Bool) {  // as bytes, or the loop is none of vectors
          const auto bytes = [](DType, auto&& f) { f(TypeTag<uint8_t>{}); };
          return run_unary(out, self, DType::UInt8, bytes,
                           [](uint8_t x) -> bool { return x == 0; });
        }
        run_unary(out, self, self.dtype(), kBitsType, [](auto x) -> decltype(x) {
          using T = decltype(x);
          if constexpr (std::is_same_v<T, bool>) return x;
          else return T(~x);
        });
      })
      .non_differentiable();
}

}  // namespace
}  // namespace pkg::ops

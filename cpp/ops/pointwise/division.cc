// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/division.cc: quotients and remainders.  Integers divided by zero have no value:
// an error, as in Python, not a trap.
#include <cmath>

#include "ops/loops.h"

namespace pkg::ops {
namespace {

struct FloorDivide {
  static constexpr const char* kName = "floor_divide";
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (y == 0) return x / y;
      // floor(x / y) is wrong where x / y was rounded up to an integer: 1 // 0.1 is 9.
      T remainder = std::fmod(x, y);
      T quotient = (x - remainder) / y;
      if (remainder != 0 && (y < 0) != (remainder < 0)) quotient -= T(1);
      const T whole = std::floor(quotient);
      if (quotient == 0) return std::copysign(T(0), x / y);
      return quotient - whole > T(0.5) ? whole + T(1) : whole;
    } else {
      const T q = T(x / y);
      return T(q - ((x % y != 0) && ((x < 0) != (y < 0))));
    }
  }
};
struct TruncDivide {
  static constexpr const char* kName = "div";
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) return std::trunc(x / y);
    else return T(x / y);
  }
};
struct Remainder {  // sign of the divisor, as in Python
  static constexpr const char* kName = "remainder";
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T r = std::fmod(x, y);
      return r != 0 && ((r < 0) != (y < 0)) ? r + y : r;
    } else {
      const T r = T(x % y);
      return T(r != 0 && ((r < 0) != (y < 0)) ? r + y : r);
    }
  }
};
struct Fmod {  // sign of the dividend, as in C
  static constexpr const char* kName = "fmod";
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) return std::fmod(x, y);
    else return T(x % y);
  }
};

// The most negative integer over -1 overflows, which the processor traps: by -1 is
// negation, which wraps.
template <class F>
constexpr bool is_quotient = !std::is_same_v<F, Remainder> && !std::is_same_v<F, Fmod>;
template <class F>
struct Guarded {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      if (y == T(-1)) {
        return is_quotient<F> ? T(uint64_t(0) - uint64_t(x)) : T(0);
      }
    }
    return F{}(x, y);
  }
};

Spec true_rule(const Tensor& a, const Tensor& b) {
  return broadcast_spec("div", a, b, to_floating(result_type(a, b)));
}
Spec same_type_rule(const Tensor& a, const Tensor& b) {
  return broadcast_spec("div", a, b, result_type(a, b));
}

template <class F>
void checked_division(Tensor& out, const Tensor& a, const Tensor& b) {
  const DType dtype = result_type(a, b);
  if (!is_floating(dtype) && out.numel() > 0) {
    // As the loop will see it: 256 is no uint8 and becomes 0.
    const Tensor divisor = as_contiguous(as_dtype(as_dtype(b, dtype), DType::Int64));
    const int64_t* values = divisor.data<int64_t>();
    for (int64_t i = 0; i < divisor.numel(); ++i) {
      PKG_CHECK(values[i] != 0, RuntimeError, "ZeroDivisionError: [", F::kName,
                "] integer division by zero (dtype ", dtype, ").");
    }
  }
  run_binary(out, a, b, dtype, kNumberType,
             [](auto x, auto y) -> decltype(x) { return Guarded<F>{}(x, y); },
             is_quotient<F> ? Numbers::Kept : Numbers::Rounded);
}

// Whole numbers stand still between their steps; as rounding.cc.
constexpr auto no_slope = [](const Tensor& g) { return full_like(g, 0); };

bool floors(const std::string& mode) {
  PKG_CHECK(mode == "floor" || mode == "trunc", RuntimeError, "[div] expected "
            "rounding_mode to be one of None, 'trunc', or 'floor', got '", mode, "'.");
  return mode == "floor";
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("div(Tensor self, Tensor other) -> Tensor")
      .doc("True division; integers give the default floating type.")
      .pointwise()
      .shape(true_rule)
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, to_floating(result_type(a, b)), kFloatType,
                   [](auto x, auto y) { return x / y; }, Numbers::Kept);
      })
      // The quotient itself is not kept: it may be written in place afterwards.
      .derivative("self", "other", [](auto& g, auto& other) { return g / other; })
      .derivative("other", "self other", [](auto& g, auto& self, auto& other) {
        return -(g / other * (self / other));
      })
      .in_place();
  m.def("div.rounded(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor")
      .doc("Quotient rounded by 'floor' or 'trunc'; None is true division.")
      .composite([](const Tensor& a, const Tensor& b, std::optional<std::string> mode) {
        return (!mode ? div : floors(*mode) ? floor_divide : trunc_divide)(a, b);
      });
  m.def("div_.rounded(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)")
      .doc("In-place form of div with a rounding mode.")
      .composite([](const Tensor& a, const Tensor& b, std::optional<std::string> mode) {
        return (!mode           ? div_
                : floors(*mode) ? floor_divide_
                                : trunc_divide_)(a, b);
      });
  m.def("floor_divide(Tensor self, Tensor other) -> Tensor")
      .doc("Quotient rounded towards minus infinity.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(checked_division<FloorDivide>)
      .derivative("self", "", no_slope)
      .derivative("other", "", no_slope)
      .in_place();
  m.def("_trunc_divide(Tensor self, Tensor other) -> Tensor")
      .doc("Quotient rounded towards zero.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(checked_division<TruncDivide>)
      .derivative("self", "", no_slope)
      .derivative("other", "", no_slope)
      .in_place();
  m.def("remainder(Tensor self, Tensor other) -> Tensor")
      .doc("Remainder with the divisor's sign, as Python's %.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(checked_division<Remainder>)
      .derivative("self", "", [](auto& g) { return g; })
      .derivative("other", "self other", [](auto& g, auto& self, auto& other) {
        return -(g * floor_divide(self, other));
      })
      .in_place();
  m.def("fmod(Tensor self, Tensor other) -> Tensor")
      .doc("Remainder with the dividend's sign, as in C.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(checked_division<Fmod>)
      .derivative("self", "", [](auto& g) { return g; })
      .derivative("other", "self other", [](auto& g, auto& self, auto& other) {
        return -(g * trunc_divide(self, other));
      })
      .in_place();
}

}  // namespace
}  // namespace pkg::ops

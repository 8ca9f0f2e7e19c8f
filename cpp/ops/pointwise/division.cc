// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/division.cc: quotients and remainders.  Integers divided by zero have no value:
// an error, as in Python, not a trap.
#include <atomic>
#include <cmath>

#include "ops/loops.h"
#include "ops/pointwise/number_divisor.h"
#include "ops/pointwise/quotients.h"
#include "scheduler/parallel.h"
#include "tensor/layout.h"
#include "tensor/overlap.h"

namespace pkg::ops {
namespace {

Spec true_rule(const Tensor& a, const Tensor& b) {
  return broadcast_spec("div", a, b, to_floating(result_type(a, b)));
}
Spec same_type_rule(const Tensor& a, const Tensor& b) {
  return broadcast_spec("div", a, b, result_type(a, b));
}

[[gnu::cold]] void refuse_zero(const char* op, DType dtype) {
  PKG_CHECK(false, RuntimeError, "ZeroDivisionError: [", op,
            "] integer division by zero (dtype ", dtype, ").");
}

// As the loop will see it: 256 is no uint8 and becomes 0.
bool has_zero(const Tensor& other, DType dtype) {
  const Tensor values = as_dtype(other, dtype);
  const Tensor divisor = is_dense(values) ? values : as_contiguous(values);
  std::atomic<bool> zero = false;
  visit_compute("division", dtype, [&]<class T>(TypeTag<T>) {
    parallel_for(0, divisor.numel(), kGrain, [&](int64_t begin, int64_t end) {
      int found = 0;
      with_isa([&found, values = divisor.data<T>(), begin, end] {
        int any = 0;
        for (int64_t i = begin; i < end; ++i) any |= values[i] == T(0);
        found = any;
      });
      if (found) zero.store(true, std::memory_order_relaxed);
    });
  });
  return zero;
}

constexpr auto kWholeType = [](DType dtype, auto&& f) {
  kNumberType(dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_integral_v<T>) f(tag);
  });
};

// One number that divides integers, if there is a shorter way for it.
template <class F>
bool divided_by_number(Tensor& out, const Tensor& a, const Tensor& b, DType dtype) {
  if (is_floating(dtype) || b.numel() != 1) return false;
  using Formula = ByNumber<F::kFloors, !F::kQuotient>;
  const int64_t divisor = item(as_dtype(b, dtype)).template to<int64_t>();
  if (!Formula::takes(divisor)) return false;
  run_unary(out, a, dtype, kWholeType, Formula(divisor));
  return true;
}

// What is written in place is left as it is if there is an error, so that zeros are looked
// for before; else the loop finds them.
template <class F, class Visit>
void checked_division(Tensor& out, const Tensor& a, const Tensor& b, DType dtype,
                      Visit visit) {
  if (divided_by_number<F>(out, a, b, dtype)) return;
  if (!is_floating(dtype) && out.numel() > 0 &&
      (share_memory(a, out) || share_memory(b, out)) && has_zero(b, dtype)) {
    refuse_zero(F::kName, dtype);
  }
  std::atomic<bool> by_zero = false;
  F formula;
  formula.by_zero = &by_zero;
  run_binary(out, a, b, dtype, visit, formula,
             F::kQuotient ? Numbers::Kept : Numbers::Rounded);
  if (by_zero) refuse_zero(F::kName, dtype);
}
template <class F>
void any_division(Tensor& out, const Tensor& a, const Tensor& b) {
  checked_division<F>(out, a, b, result_type(a, b), kNumberType);
}
void trunc_division(Tensor& out, const Tensor& a, const Tensor& b) {
  const DType dtype = result_type(a, b);
  if (!is_floating(dtype)) {
    return checked_division<TruncDivide>(out, a, b, dtype, kWholeType);
  }
  run_binary(
      out, a, b, dtype, kFloatType, [](auto x, auto y) { return std::trunc(x / y); },
      Numbers::Kept);
}

// Whole numbers stand still between their steps; as rounding.cc.
constexpr auto no_slope = [](const Tensor& g) { return full_like(g, 0); };

bool floors(const std::string& mode) {
  PKG_CHECK(mode == "floor" || mode == "trunc", RuntimeError,
            "[div] expected "
            "rounding_mode to be one of None, 'trunc', or 'floor', got '",
            mode, "'.");
  return mode == "floor";
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("div(Tensor self, Tensor other) -> Tensor")
      .doc("True division; integers give the default floating type.")
      .pointwise()
      .shape(true_rule)
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(
            out, a, b, to_floating(result_type(a, b)), kFloatType,
            [](auto x, auto y) { return x / y; }, Numbers::Kept);
      })
      // The quotient itself is not kept: it may be written in place afterwards.
      .derivative("self", "other", [](auto& g, auto& other) { return g / other; })
      .derivative(
          "other", "self other",
          [](auto& g, auto& self, auto& other) { return -(g / other * (self / other)); })
      .in_place();
  m.def("div.rounded(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor")
      .doc("Quotient rounded by 'floor' or 'trunc'; None is true division.")
      .composite([](const Tensor& a, const Tensor& b, std::optional<std::string> mode) {
        return (!mode ? div : floors(*mode) ? floor_divide : trunc_divide)(a, b);
      });
  m.def("div_.rounded(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)")
      .doc("In-place form of div with a rounding mode.")
      .composite([](const Tensor& a, const Tensor& b, std::optional<std::string> mode) {
        return (!mode ? div_ : floors(*mode) ? floor_divide_ : trunc_divide_)(a, b);
      });
  m.def("floor_divide(Tensor self, Tensor other) -> Tensor")
      .doc("Quotient rounded towards minus infinity.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(any_division<FloorDivide>)
      .derivative("self", "", no_slope)
      .derivative("other", "", no_slope)
      .in_place();
  m.def("_trunc_divide(Tensor self, Tensor other) -> Tensor")
      .doc("Quotient rounded towards zero.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(trunc_division)
      .derivative("self", "", no_slope)
      .derivative("other", "", no_slope)
      .in_place();
  m.def("remainder(Tensor self, Tensor other) -> Tensor")
      .doc("Remainder with the divisor's sign, as Python's %.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(any_division<Remainder>)
      .derivative("self", "", [](auto& g) { return g; })
      .derivative(
          "other", "self other",
          [](auto& g, auto& self, auto& other) { return -(g * floor_divide(self, other)); })
      .in_place();
  m.def("fmod(Tensor self, Tensor other) -> Tensor")
      .doc("Remainder with the dividend's sign, as in C.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape(same_type_rule)
      .cpu(any_division<Fmod>)
      .derivative("self", "", [](auto& g) { return g; })
      .derivative(
          "other", "self other",
          [](auto& g, auto& self, auto& other) { return -(g * trunc_divide(self, other)); })
      .in_place();
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/blending.cc: elementwise functions of three tensors, and limits.
#include <limits>

#include "base/number_fits.h"
#include "ops/loops.h"
#include "ops/pointwise/limits.h"

namespace pkg::ops {
namespace {

Spec blend_spec(const char* op, const Tensor& a, const Tensor& b, const Tensor& c,
                DType dtype) {
  Spec spec = broadcast_spec(op, a, b, dtype);
  spec.sizes = broadcast_shapes(op, spec.sizes, c.sizes());
  if (c.is_meta()) spec.device = c.device();
  return spec;
}

// NaN in any operand gives NaN; the upper limit wins where the two cross.  Two choices of
// one condition each, as in Extreme (kernels/cpu/reduce/extreme.h).
struct AtLeast {
  template <class T>
  T operator()(T x, T low) const {
    const T larger = low > x ? low : x;
    return low == low ? larger : low;
  }
};
struct AtMost {
  template <class T>
  T operator()(T x, T high) const {
    const T smaller = high < x ? high : x;
    return high == high ? smaller : high;
  }
};

DType clamp_type(const Tensor& self, const Tensor& min, const Tensor& max) {
  PKG_CHECK(min.defined() || max.defined(), RuntimeError,
            "[clamp] At least one of 'min' or 'max' must not be None.");
  return result_type({&self, &min, &max});
}
Spec clamp_rule(const Tensor& self, const Tensor& min, const Tensor& max) {
  const DType dtype = clamp_type(self, min, max);
  const auto check = [&](const Tensor& limit, const char* name) {
    if (!limit.defined() || !limit.impl()->wrapped_number) return;
    check_fits("clamp", item(limit), dtype, name);
  };
  check(min, "min");
  check(max, "max");
  return blend_spec("clamp", self, min.defined() ? min : self, max.defined() ? max : self,
                    dtype);
}
void clamp_kernel(Tensor& out, const Tensor& self, const Tensor& min, const Tensor& max) {
  const DType dtype = clamp_type(self, min, max);
  const auto number = [](const Tensor& t) { return !t.defined() || t.ndim() == 0; };
  if (number(min) && number(max) && dtype == self.dtype() && dtype != DType::Bool) {
    const Scalar low = min.defined() ? item(as_dtype(min, dtype)) : Scalar(0);
    const Scalar high = max.defined() ? item(as_dtype(max, dtype)) : Scalar(0);
    return limit(out, self, min.defined() ? &low : nullptr,
                 max.defined() ? &high : nullptr);
  }
  if (!max.defined()) return run_binary(out, self, min, dtype, kAnyType, AtLeast{});
  if (!min.defined()) return run_binary(out, self, max, dtype, kAnyType, AtMost{});
  run_ternary(
      out, self, min, max, dtype, kAnyType,
      [](auto x, auto low, auto high) { return AtMost{}(AtLeast{}(x, low), high); },
      Numbers::Rounded);
}
// At a limit the gradient belongs to self, where the limits cross to max; NaN in self or
// in a limit is within no limits and beyond none, so that nobody gets it.
Spec promoted_blend(const char* op, const Tensor& a, const Tensor& b, const Tensor& c) {
  return blend_spec(op, a, b, c, result_type({&a, &b, &c}));
}
Spec scaled_blend(const char* op, const Tensor& a, const Tensor& b, const Tensor& c,
                  const Scalar& value) {
  const Spec spec = promoted_blend(op, a, b, c);
  check_factor(op, value, spec.dtype, "value");
  return spec;
}

template <class F>
void run_scaled(Tensor& out, const Tensor& self, const Tensor& tensor1,
                const Tensor& tensor2, const Scalar& value, F f) {
  const DType dtype = result_type({&self, &tensor1, &tensor2});
  const double factor = value.to<double>();
  const int64_t whole = value.to<int64_t>();
  run_ternary(out, self, tensor1, tensor2, dtype, kNumberType,
              [=](auto x, auto a, auto b) -> decltype(x) {
                using T = decltype(x);
                const T v = std::is_floating_point_v<T> ? T(factor) : T(whole);
                return T(f(wraps(x), wraps(v), wraps(a), wraps(b)));
              });
}

// Gradient of addcmul for the factor of this shape; of a column beside a row, or a row
// beside a column, by a matrix product, as the sum of g * other would be two passes.  In 16
// bits the value counts for each term, as sums without it might leave their range.
Tensor factor_gradient(const Tensor& g, const Tensor& other, const Scalar& value,
                       const Shape& sizes) {
  const bool in_range = value == Scalar(1) || !is_reduced(g.dtype());
  if (in_range && g.ndim() == 2 && sizes.size() == 2 && other.ndim() == 2) {
    const int64_t m = g.size(0), n = g.size(1);
    const Tensor b = as_gradient(other, g);
    if (sizes == Shape{m, 1} && other.sizes() == Shape{1, n}) {
      return unsqueeze(mv(g, reshape(b, Shape{n}) * value), 1);
    }
    if (sizes == Shape{1, n} && other.sizes() == Shape{m, 1}) {
      return unsqueeze(mv(transpose(g, 0, 1), reshape(b, Shape{m}) * value), 0);
    }
  }
  return g * value * other;
}

// The gradient of clamp() at its bounds: on a number self has none, as from relu().  On a
// tensor, self and the bound get half each, as from maximum(); between two tensors that
// coincide, all is self's.
bool is_number(const Tensor& bound) {
  return bound.defined() && bound.impl()->wrapped_number;
}
Tensor clamp_self(const Tensor& g, const Tensor& x, const Tensor& min, const Tensor& max) {
  Tensor result = g;
  if (is_number(min)) result = where(x > min, result, 0);
  if (is_number(max)) result = where(x < max, result, 0);
  const bool least = min.defined() && !is_number(min);
  const bool most = max.defined() && !is_number(max);
  if (least && most) {
    const Tensor outside = (x < min) | (x > max);
    const Tensor shared = (eq(x, min) | eq(x, max)) & (min < max);
    return where(outside, 0, where(shared, result * 0.5, result));
  }
  if (least) return of_larger(result, x, min);
  if (most) return of_smaller(result, x, max);
  return result;
}
Tensor clamp_min_bound(const Tensor& g, const Tensor& x, const Tensor& min,
                       const Tensor& max) {
  if (!max.defined()) return of_larger(g, min, x);
  const Tensor shared = eq(x, min) & (min < max);
  return where((x < min) & (min <= max), g, where(shared, g * 0.5, 0));
}
Tensor clamp_max_bound(const Tensor& g, const Tensor& x, const Tensor& min,
                       const Tensor& max) {
  if (!min.defined()) return of_smaller(g, max, x);
  const Tensor shared = eq(x, max) & (min < max);
  const Tensor above = ((x > max) & (min <= max)) | (max < min);
  return where(above, g, where(shared, g * 0.5, 0));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
      .doc("self limited to [min, max]; either may be a number, a tensor or None.  No "
           "gradient where self equals a number; half of it where it equals a tensor.")
      .pointwise()
      .shape(clamp_rule)
      .cpu(clamp_kernel)
      .derivative("self", "self min max", clamp_self)
      .derivative("min", "self min max", clamp_min_bound)
      .derivative("max", "self min max", clamp_max_bound)
      .in_place();
  m.def("clip(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
      .doc("clamp by NumPy's name.")
      .composite([](const Tensor& self, const Tensor& min, const Tensor& max) {
        return clamp(self, min, max);
      });
  m.def("clip_(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)")
      .doc("clamp_ by NumPy's name.")
      .composite([](const Tensor& self, const Tensor& min, const Tensor& max) {
        return clamp_(self, min, max);
      });
  m.def("clamp_min(Tensor self, Tensor min) -> Tensor")
      .doc("self, but not below min.")
      .composite(
          [](const Tensor& self, const Tensor& min) { return clamp(self, min, Tensor()); });
  m.def("clamp_min_(Tensor(a!) self, Tensor min) -> Tensor(a!)")
      .doc("In-place form of clamp_min.")
      .composite([](const Tensor& self, const Tensor& min) {
        return clamp_(self, min, Tensor());
      });
  m.def("clamp_max(Tensor self, Tensor max) -> Tensor")
      .doc("self, but not above max.")
      .composite(
          [](const Tensor& self, const Tensor& max) { return clamp(self, Tensor(), max); });
  m.def("clamp_max_(Tensor(a!) self, Tensor max) -> Tensor(a!)")
      .doc("In-place form of clamp_max.")
      .composite([](const Tensor& self, const Tensor& max) {
        return clamp_(self, Tensor(), max);
      });
  m.def("nan_to_num(Tensor self, float? nan=None, float? posinf=None, "
        "float? neginf=None) -> Tensor")
      .doc("NaN as nan (zero), infinities as posinf and neginf (the largest numbers).")
      .pointwise()
      .shape([](const Tensor& self, std::optional<double>, std::optional<double>,
                std::optional<double>) { return self.spec(); })
      .cpu([](Tensor& out, const Tensor& self, std::optional<double> nan,
              std::optional<double> posinf, std::optional<double> neginf) {
        // The largest float32 is no float16: ask the dtype of the result.
        const double most = largest(out.dtype());
        const double none = nan.value_or(0), high = posinf.value_or(most),
                     low = neginf.value_or(-most);
        if (!is_floating(self.dtype())) {
          if (!out.is_same(self)) copy_into(out, self);
          return;
        }
        if (!posinf && !neginf) {  // the limits of what is finite
          return run_unary(out, self, self.dtype(), kFloatType, [=](auto x) {
            using T = decltype(x);
            const T above = x < T(low) ? T(low) : x;
            const T within = above > T(high) ? T(high) : above;
            return x != x ? T(none) : within;
          });
        }
        run_unary(out, self, self.dtype(), kFloatType, [=](auto x) {
          using T = decltype(x);
          constexpr T inf = std::numeric_limits<T>::infinity();
          const T upper = x == inf ? T(high) : x;
          const T lower = x == -inf ? T(low) : upper;
          return x != x ? T(none) : lower;
        });
      })
      .derivative("self", "self", [](auto& g, auto& x) { return g * isfinite(x); })
      .in_place();
  m.def("lerp(Tensor self, Tensor end, Tensor weight) -> Tensor")
      .doc("self + weight * (end - self); exact at weight 0 and 1.")
      .pointwise()
      .dtypes(kFloatDTypes)
      .shape([](const Tensor& self, const Tensor& end, const Tensor& weight) {
        const Spec spec = promoted_blend("lerp", self, end, weight);
        if (weight.impl()->wrapped_number) {
          check_factor("lerp", item(weight), spec.dtype, "weight");
        }
        return spec;
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& end, const Tensor& weight) {
        run_ternary(out, self, end, weight, result_type({&self, &end, &weight}), kFloatType,
                    [](auto a, auto b, auto w) {
                      using T = decltype(a);
                      const T apart = b - a;
                      return std::abs(w) < T(0.5) ? a + w * apart : b - apart * (T(1) - w);
                    });
      })
      .derivative("self", "weight",
                  [](auto& g, auto& w) { return g * (1 - as_gradient(w, g)); })
      .derivative("end", "weight", [](auto& g, auto& w) { return g * as_gradient(w, g); })
      .derivative("weight", "self end",
                  [](auto& g, auto& a, auto& b) {
                    return g * (as_gradient(b, g) - as_gradient(a, g));
                  })
      .in_place();
  m.def("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) "
        "-> Tensor")
      .doc("self + value * tensor1 * tensor2; of integers, value without its fraction.")
      .pointwise()
      .dtypes(kNumberDTypes)
      .shape([](const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value) {
        return scaled_blend("addcmul", self, a, b, value);
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b,
              const Scalar& value) {
        run_scaled(out, self, a, b, value,
                   [](auto x, auto v, auto p, auto q) { return x + v * p * q; });
      })
      .derivative("self", "", [](auto& g) { return g; })
      .derivative("tensor1", "tensor2 value tensor1.shape", factor_gradient)
      .derivative("tensor2", "tensor1 value tensor2.shape", factor_gradient)
      .in_place();
  m.def("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) "
        "-> Tensor")
      .doc("self + value * tensor1 / tensor2 of floating tensors.")
      .pointwise()
      .dtypes(kFloatDTypes)
      .shape([](const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value) {
        return scaled_blend("addcdiv", self, a, b, value);
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b,
              const Scalar& value) {
        const double factor = value.to<double>();
        run_ternary(
            out, self, a, b, result_type({&self, &a, &b}), kFloatType,
            [=](auto x, auto p, auto q) { return x + decltype(x)(factor) * p / q; });
      })
      .derivative("self", "", [](auto& g) { return g; })
      .derivative(
          "tensor1", "tensor2 value",
          [](const Tensor& g, const Tensor& b, const Scalar& v) { return g * v / b; })
      .derivative("tensor2", "tensor1 tensor2 value",
                  [](const Tensor& g, const Tensor& a, const Tensor& b, const Scalar& v) {
                    // value first: 0 times an infinite quotient is NaN
                    return -(g * (as_gradient(a, g) * v / b / b));
                  })
      .in_place();
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/reduce/statistics.cc: spread and log-sum-exp over dimensions, from other ops.
#include "base/number_fits.h"
#include "base/vecmath.h"
#include "ops/loops.h"
#include "ops/reduce/mean.h"
#include "ops/reduce/reduced_dims.h"

namespace pkg::ops {
namespace {

using DividedSpread = Op<Tensor(const Tensor&, const Dims&, double, bool)>;

Tensor spread(const DividedSpread& of, const Tensor& self, const Dims& dim,
              int64_t correction, bool keepdim) {
  PKG_CHECK(is_floating(self.dtype()), RuntimeError,
            "[var] std and var only support floating point dtypes, got ", self.dtype());
  const auto n = double(reduced_count("var", self.sizes(), dim));
  // Of nothing there is none, whatever the correction.
  const double freedom = n == 0 ? 0 : std::max(0.0, n - double(correction));
  return of(self, dim, freedom, keepdim);
}

Tensor var(const Tensor& self, const Dims& dim, int64_t correction, bool keepdim) {
  return spread(divided_spread, self, dim, correction, keepdim);
}
Tensor deviation(const Tensor& self, const Dims& dim, int64_t correction, bool keepdim) {
  return spread(divided_spread_root, self, dim, correction, keepdim);
}

// The distances from the mean, in a type that holds them, times what `scale` makes of the
// gradient of the result.
template <class Scale>
Tensor spread_gradient(const Tensor& g, const Tensor& self, const Dims& dim, bool keepdim,
                       Scale scale) {
  const Tensor x = in_dtype(self, compute_type(self.dtype()));
  const auto restored = [&](const Tensor& tensor) {
    return in_dtype(restore_dims(tensor, self.sizes(), dim, keepdim), x.dtype());
  };
  const Tensor centred = x - mean(x, dim, true, std::optional<DType>());
  return in_dtype(centred * scale(restored(g), restored), self.dtype());
}
Tensor var_gradient(const Tensor& g, const Tensor& self, const Dims& dim, double freedom,
                    bool keepdim) {
  return spread_gradient(g, self, dim, keepdim, [&](const Tensor& grad, const auto&) {
    return grad * (2 / freedom);
  });
}
// Of a deviation of zero it is zero, not infinite.
Tensor std_gradient(const Tensor& g, const Tensor& self, const Dims& dim, double freedom,
                    bool keepdim, const Tensor& result) {
  return spread_gradient(
      g, self, dim, keepdim, [&](const Tensor& grad, const auto& restored) {
        const Tensor root = restored(result), flat = eq(root, Tensor(0));
        const Tensor slope = grad / freedom / masked_fill(root, flat, Tensor(1));
        return masked_fill(slope, flat, Tensor(0));
      });
}

using SpreadOp = Tensor (*)(const Tensor&, const Dims&, int64_t, bool);
template <SpreadOp of>
void def_spread(Library& m, const char* name, const char* doc) {
  m.def(str(name, "(Tensor self, int[]? dim=None, *, int correction=1, "
                  "bool keepdim=False) -> Tensor"))
      .doc(doc)
      .composite([](const Tensor& self, const Dims& dim, int64_t correction, bool keepdim) {
        return of(self, dim, correction, keepdim);
      });
  m.def(str(name, ".unbiased(Tensor self, bool unbiased) -> Tensor"))
      .doc("Of all elements, with correction 1 (unbiased) or 0.")
      .composite([](const Tensor& self, bool unbiased) {
        return of(self, Dims(), unbiased, false);
      });
  m.def(str(name, ".dim_unbiased(Tensor self, int[]? dim, bool unbiased, "
                  "bool keepdim=False) -> Tensor"))
      .doc("Over dim, with correction 1 (unbiased) or 0.")
      .composite([](const Tensor& self, const Dims& dim, bool unbiased, bool keepdim) {
        return of(self, dim, unbiased, keepdim);
      });
  m.def(str(name, "_mean(Tensor self, int[]? dim=None, *, int correction=1, "
                  "bool keepdim=False) -> (Tensor, Tensor)"))
      .doc("The same together with the mean.")
      .composite([](const Tensor& self, const Dims& dim, int64_t correction, bool keepdim) {
        return Two{of(self, dim, correction, keepdim),
                   mean(self, dim, keepdim, std::optional<DType>())};
      });
}

// The maximum keeps exp() in range; where it is infinite, what is next to it does, as it must
// not make inf - inf.
Tensor logsumexp(const Tensor& self, const Dims& dim, bool keepdim) {
  const Tensor x = is_floating(self.dtype()) ? self : to_dtype(self, default_dtype());
  if (reduced_count("logsumexp", x.sizes(), dim) == 0) {
    return log(sum(exp(x), dim, keepdim));
  }
  Tensor top;
  {
    ExcludeKeys off(DispatchKey::Autograd);
    top = amax(x, dim, true);
    const double most = largest(x.dtype());
    top = clamp(top, Tensor(-most), Tensor(most));
  }
  const Tensor total = log(sum(exp(sub(x, top)), dim, keepdim));
  return add(total, keepdim ? top : reshape(top, total.sizes()));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  const auto rule = [](const Tensor& self, const Dims& dim, double, bool keepdim) {
    return Spec{reduced_shape("var", self, dim, keepdim), self.dtype(), self.device()};
  };
  m.def("_var(Tensor self, int[]? dim, float freedom, bool keepdim) -> Tensor")
      .doc("Sum of squared distances from the mean over dim, divided by freedom.")
      .dtypes("self", kFloatDTypes)
      .shape(rule)
      .derivative("self", "self dim freedom keepdim", var_gradient);
  m.def("_std(Tensor self, int[]? dim, float freedom, bool keepdim) -> Tensor")
      .doc("The root of _var, which may itself be out of the dtype's range.")
      .dtypes("self", kFloatDTypes)
      .shape(rule)
      .derivative("self", "self dim freedom keepdim result", std_gradient);
  def_spread<var>(m, "var", "Variance over dim, divided by n - correction.");
  def_spread<deviation>(m, "std", "Standard deviation over dim.");
  m.def("logsumexp(Tensor self, int[] dim, bool keepdim=False) -> Tensor")
      .doc("log(sum(exp(self))) over dim, without overflow.")
      .composite([](const Tensor& self, const Shape& dim, bool keepdim) {
        return logsumexp(self, Dims(dim), keepdim);
      });
  m.def("logaddexp(Tensor self, Tensor other) -> Tensor")
      .doc("log(exp(self) + exp(other)), without overflow.")
      .pointwise()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("logaddexp", a, b, to_floating(result_type(a, b)));
      })
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, to_floating(result_type(a, b)), kFloatType,
                   [](auto x, auto y) {
                     const auto top = x < y || y != y ? y : x;
                     const decltype(x) apart = x == y ? 0 : std::abs(x - y);  // inf - inf
                     return top + vec::log1p_unit(vec::exp(-apart));
                   });
      })
      // Not a sigmoid, which knows no difference of infinities.
      .derivative("self", "self other",
                  [](auto& g, auto& a, auto& b) {
                    return g / (exp(as_gradient(b, g) - as_gradient(a, g)) + 1);
                  })
      .derivative("other", "self other", [](auto& g, auto& a, auto& b) {
        return g / (exp(as_gradient(a, g) - as_gradient(b, g)) + 1);
      });
}

}  // namespace
}  // namespace pkg::ops

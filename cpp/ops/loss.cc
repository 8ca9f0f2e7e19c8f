// SPDX-License-Identifier: Apache-2.0
// ops/loss.cc: softmax and the losses, written with other ops.
#include "ops/elementwise.h"

namespace pkg::ops {
namespace {

using Dims = std::optional<Shape>;
const Op<Tensor(const Tensor&, const Dims&, bool)> amax_op{"amax"};
const Op<Tensor(const Tensor&, int64_t, const Tensor&)> gather_op{"gather"};

// The maximum only keeps exp() in range; no gradient flows through it.
Tensor shifted(const Tensor& self, int64_t dim) {
  const Tensor x = is_floating(self.dtype()) ? self : to_dtype(self, default_dtype());
  Tensor top = x;
  {
    ExcludeKeys off(DispatchKey::Autograd);
    top = amax_op(x, Dims(Shape{dim}), true);
  }
  return sub(x, top);
}

Tensor log_softmax(const Tensor& self, int64_t dim) {
  const Tensor x = shifted(self, dim);
  return sub(x, log(sum(exp(x), Dims(Shape{dim}), true)));
}

Tensor reduce(const Tensor& loss, const std::string& reduction, double count) {
  if (reduction == "none") return loss;
  const Tensor total = sum(loss);
  if (reduction == "sum") return total;
  PKG_CHECK(reduction == "mean", ValueError, "[loss] ", reduction,
            " is not a valid value for reduction: expected 'none', 'mean' or 'sum'");
  return div(total, Tensor(count));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("softmax(Tensor self, int dim) -> Tensor")
      .doc("exp(self) normalised to sum 1 over dim.")
      .composite([](const Tensor& self, int64_t dim) {
        const Tensor e = exp(shifted(self, dim));
        return div(e, sum(e, Dims(Shape{dim}), true));
      });
  m.def("log_softmax(Tensor self, int dim) -> Tensor")
      .doc("Logarithm of softmax, stable for large values.")
      .composite(log_softmax);
  m.def("cross_entropy(Tensor input, Tensor target, *, str reduction='mean') -> Tensor")
      .doc("-log softmax(input)[target]; input (N, C) of scores, target (N,) of classes.")
      .composite([](const Tensor& input, const Tensor& target, const std::string& reduction) {
        PKG_CHECK(input.ndim() == 2 && target.ndim() == 1 &&
                      input.size(0) == target.size(0),
                  ValueError, "[cross_entropy] expected input (N, C) and target (N,), got ",
                  input.sizes(), " and ", target.sizes());
        const Tensor picked = gather_op(log_softmax(input, 1), 1, unsqueeze(target, 1));
        return reduce(neg(reshape(picked, target.sizes())), reduction,
                      double(target.numel()));
      });
  m.def("mse_loss(Tensor input, Tensor target, *, str reduction='mean') -> Tensor")
      .doc("Squared difference, averaged by default.")
      .composite([](const Tensor& input, const Tensor& target, const std::string& reduction) {
        const Tensor d = sub(input, target);
        return reduce(mul(d, d), reduction, double(d.numel()));
      });
}

}  // namespace
}  // namespace pkg::ops

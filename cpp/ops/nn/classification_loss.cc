// SPDX-License-Identifier: Apache-2.0
// ops/nn/classification_loss.cc: losses of scores against class numbers or signs.
#include "ops/nn/loss_reduction.h"
#include "ops/op.h"

namespace pkg::ops {
namespace {

// Not relu, whose slope at 0 is 0: PyTorch's losses take 1 there.
Tensor positive_part(const Tensor& x) { return clamp(x, Tensor(0), Tensor()); }

Spec scores_rule(const Tensor& input, const Tensor& target, int64_t,
                 const std::string& reduction) {
  check_reduction(reduction);
  const int64_t n = input.ndim();
  PKG_CHECK(n == 2 || n == 3, ValueError,
            "[_nll_loss] expected input (N, C) or (N, C, K), got ", input.sizes());
  Shape want = input.sizes();
  want.erase(1);
  PKG_CHECK(target.sizes() == want, ValueError, "[_nll_loss] expected target of shape ",
            want, " for input ", input.sizes(), ", got ", target.sizes());
  return {reduction == "none" ? want : Shape(), input.dtype(), input.device()};
}

// Without weights, in one pass: of (N, C), or (N, C, K) of what has more dimensions.
Tensor unweighted_loss(const Tensor& input, const Tensor& target, int64_t ignore,
                       const std::string& reduction) {
  const int64_t n = input.ndim();
  if (n == 2) return nll_rows(input, target, ignore, reduction);
  Tensor loss;
  if (n == 1) {
    loss = nll_rows(unsqueeze(input, 0), unsqueeze(target, 0), ignore, reduction);
  } else if (n == 3) {
    return nll_rows(input, target, ignore, reduction);
  } else {
    const int64_t samples = input.size(0), classes = input.size(1);
    int64_t width = 1;
    for (int64_t d = 2; d < n; ++d) width *= input.size(d);
    loss = nll_rows(reshape(input, Shape{samples, classes, width}),
                    reshape(target, Shape{samples, width}), ignore, reduction);
  }
  return reduction == "none" ? reshape(loss, target.sizes()) : loss;
}

// input (N, C, ...) or (C,), target the same without C.
Tensor nll_loss_fn(const Tensor& input, const Tensor& given, const Tensor& weight,
                   int64_t ignore_index, const std::string& reduction) {
  const Tensor target = given.dtype() == DType::UInt8 ? to_dtype(given, DType::Int64)
                                                      : given;
  check_reduction(reduction);
  const int64_t at = input.ndim() == 1 ? 0 : 1;
  PKG_CHECK(input.ndim() > 0, ValueError,
            "[nll_loss] expected input (N, C, ...) or (C,), got a 0-d tensor");
  Shape want = input.sizes();
  want.erase(size_t(at));
  PKG_CHECK(target.sizes() == want, ValueError, "[nll_loss] expected target of shape ",
            want, " for input ", input.sizes(), ", got ", target.sizes());
  PKG_CHECK(!weight.defined() || weight.sizes() == Shape{input.size(at)}, RuntimeError,
            "[nll_loss] weight tensor should be defined either for all ", input.size(at),
            " classes or no classes but got weight tensor of shape ",
            weight.defined() ? weight.sizes() : Shape());
  if (!weight.defined()) {
    return unweighted_loss(input, in_dtype(target, DType::Int64), ignore_index, reduction);
  }
  const Tensor ignored = eq(target, Tensor(ignore_index));
  const Tensor classes = to_dtype(where(ignored, Tensor(0), target), DType::Int64);
  const Tensor picked = gather(second_is_zero(input), at, unsqueeze(classes, at));
  // Each element's weight: its class's, and none where it is ignored.
  const Tensor kept = to_dtype(eq(ignored, Tensor(false)), input.dtype());
  const Tensor scale = mul(index_front(weight, TensorList{classes}), kept);
  // where, not a product with 0: an ignored -inf must not make NaN.
  const Tensor loss = where(ignored, Tensor(0),
                            neg(mul(reshape(picked, target.sizes()), scale)));
  if (reduction == "none") return loss;
  return reduction == "sum" ? sum(loss) : div(sum(loss), sum(scale));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_nll_loss(Tensor input, Tensor target, int ignore_index, str reduction) -> Tensor")
      .doc("Minus input at the class of each target, reduced; ignored ones do not count.")
      .dtypes("input", kFloatDTypes)
      .dtypes("target", DType::Int64)
      .shape(scores_rule)
      .cost([](const Value* args, const Spec*) {
        return 2 * double(std::get<Tensor>(args[1]).numel());
      })
      .derivative("input", "target input.shape ignore_index reduction", nll_rows_backward)
      .second_is_zero();
  m.def("_nll_loss_backward(Tensor grad, Tensor target, int[] sizes, int ignore_index, "
        "str reduction) -> Tensor")
      .doc("Gradient of _nll_loss for its input of these sizes.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("target", DType::Int64)
      .element_cost(0.5)
      .shape([](const Tensor& grad, const Tensor& target, const Shape& sizes, int64_t,
                const std::string& reduction) {
        check_reduction(reduction);
        PKG_CHECK(sizes.size() == 2 || sizes.size() == 3, ValueError,
                  "[_nll_loss_backward] expected the sizes of (N, C) or (N, C, K), got ",
                  sizes);
        Shape want = sizes;
        want.erase(1);
        check_shape("target", target, want);
        check_gradient(grad, reduction == "none" ? want : Shape());
        return Spec{sizes, grad.dtype(), grad.device()};
      })
      .derivative("grad", "target ignore_index reduction", nll_rows);
  m.def("nll_loss(Tensor input, Tensor target, Tensor? weight=None, *, "
        "int ignore_index=-100, str reduction='mean') -> Tensor")
      .doc("Minus the log-probability input (N, C, ...) at the class numbers target "
           "(N, ...); the mean is weighted.")
      .dtypes("target", kIntegerDTypes)
      .composite(nll_loss_fn);
  m.def("hinge_embedding_loss(Tensor input, Tensor target, *, float margin=1.0, "
        "str reduction='mean') -> Tensor")
      .doc("input where target is 1, max(0, margin - input) where it is -1.")
      .composite([](const Tensor& input, const Tensor& target, double margin,
                    const std::string& reduction) {
        const Tensor zero(0);
        const Tensor apart = positive_part(sub(Tensor(margin), input));
        return reduce_loss(add(where(ne(target, Tensor(1)), apart, zero),
                               where(ne(target, Tensor(-1)), input, zero)),
                           reduction);
      });
  m.def("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, *, "
        "float margin=0.0, str reduction='mean') -> Tensor")
      .doc("max(0, margin - target * (input1 - input2)), target being 1 or -1.")
      .composite([](const Tensor& a, const Tensor& b, const Tensor& target, double margin,
                    const std::string& reduction) {
        PKG_CHECK(
            a.ndim() == b.ndim() && a.ndim() == target.ndim(), RuntimeError,
            "[margin_ranking_loss] All input tensors should have same dimension, got ",
            a.sizes(), ", ", b.sizes(), " and ", target.sizes(), ".");
        // The copy, which nobody can change in place, is what backward needs.
        const Tensor gap = mul(clone(target), sub(a, b));
        return reduce_loss(positive_part(sub(Tensor(margin), gap)), reduction);
      });
}

}  // namespace
}  // namespace pkg::ops

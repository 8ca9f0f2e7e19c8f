// SPDX-License-Identifier: Apache-2.0
// ops/shape/padding.cc: borders around tensors.
#include "base/number_fits.h"
#include "ops/op.h"
#include "ops/shape/move_cost.h"

namespace pkg::ops {
namespace {

// pad holds (before, after) of the last dimension, then of the one before it, and so on;
// a negative number cuts off.
Spec constant_rule(const Tensor& self, const Shape& pad, const Scalar& value) {
  check_fits("pad", value, self.dtype());
  PKG_CHECK(pad.size() % 2 == 0 && pad.size() / 2 <= self.sizes().size(), RuntimeError,
            "[pad] expected an even number of paddings, at most two for each dimension, "
            "got ",
            pad, " for shape ", self.sizes());
  Spec spec = self.spec();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = spec.sizes[spec.sizes.size() - 1 - i];
    const int64_t kept = Checked(size) + std::min<int64_t>(pad[2 * i], 0) +
                         std::min<int64_t>(pad[2 * i + 1], 0);
    size = Checked(size) + pad[2 * i] + pad[2 * i + 1];
    PKG_CHECK(kept >= 0, RuntimeError, "[pad] the padding ", pad,
              " leaves a negative size "
              "of ",
              self.sizes());
  }
  return spec;
}

// Borders made of self's own elements.
Spec border_rule(const Shape& sizes, const Shape& pad, const std::string& mode) {
  const bool reflects = mode == "reflect", circular = mode == "circular";
  PKG_CHECK(reflects || circular || mode == "replicate", NotImplementedError,
            "[pad] expected mode 'constant', 'reflect', 'replicate' or 'circular', got '",
            mode, "'.");
  PKG_CHECK(pad.size() % 2 == 0, RuntimeError,
            "[pad] expected an even number of borders, got ", pad, " (pad).");
  const size_t count = pad.size() / 2;
  PKG_CHECK(
      count >= 1 && count <= 3 && (sizes.size() == count + 1 || sizes.size() == count + 2),
      NotImplementedError,
      "[pad] expected borders of 1 to 3 dimensions with one or two before them, got ", pad,
      " (shape=", sizes, ", mode='", mode, "').");
  Spec spec{sizes};
  for (size_t i = 0; i < count; ++i) {
    int64_t& size = spec.sizes[sizes.size() - 1 - i];
    const int64_t before = pad[2 * i], after = pad[2 * i + 1];
    int64_t most = reflects ? size - 1 : size ? INT64_MAX : 0;
    if (circular) {  // what is cut off does not return
      most = Checked(size) + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    }
    const int64_t padded = Checked(size) + before + after;
    const bool nothing_left = circular && padded == 0;
    PKG_CHECK(nothing_left || (std::max(before, after) <= most && padded >= 0),
              RuntimeError, "[pad] expected borders that mode '", mode, "' can fill, got (",
              before, ", ", after, ") for a dimension of size ", size, ".");
    size = padded;
  }
  return spec;
}

Spec pad_rule(const Tensor& input, const Shape& pad, const std::string& mode,
              const std::optional<Scalar>& value) {
  if (mode == "constant") return constant_rule(input, pad, value.value_or(Scalar(0)));
  Spec spec = border_rule(input.sizes(), pad, mode);
  PKG_CHECK(!value || !value->to<bool>(), RuntimeError,
            "[pad] expected no value with mode '", mode, "', got ", *value, " (value).");
  return {spec.sizes, input.dtype(), input.device()};
}

Tensor without(const Tensor& grad, Shape pad) {
  for (int64_t& n : pad) n = -n;
  return constant_pad_nd(grad, pad, 0);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor")
      .doc("A border of one value; pad is (before, after) from the last dimension on, "
           "negative numbers cut off.")
      .element_cost(kMoveNanoseconds)
      .shape(constant_rule)
      .derivative("self", "pad", without);
  m.def("pad(Tensor input, int[] pad, str mode='constant', Scalar? value=None) -> Tensor")
      .doc("A border of a value, or of the input's elements: pad is (before, after) from "
           "the last dimension on, mode 'constant', 'reflect', 'replicate' or 'circular'.")
      .element_cost(kMoveNanoseconds)
      .shape(pad_rule)
      .derivative("input", "input.shape pad mode",
                  [](const Tensor& g, const Shape& sizes, const Shape& pad,
                     const std::string& mode) {
                    return mode == "constant" ? without(g, pad)
                                              : pad_backward(g, sizes, pad, mode);
                  });
  m.def("_pad_backward(Tensor grad, int[] sizes, int[] pad, str mode) -> Tensor")
      .doc("Each element of a tensor of these sizes is the sum of those that it became.")
      .shape([](const Tensor& grad, const Shape& sizes, const Shape& pad,
                const std::string& mode) {
        check_gradient(grad, border_rule(sizes, pad, mode).sizes);
        return Spec{sizes, grad.dtype(), grad.device()};
      })
      .derivative("grad", "pad mode",
                  [](const Tensor& g, const Shape& pad, const std::string& mode) {
                    return ops::pad(g, pad, mode, std::nullopt);
                  });
}

}  // namespace
}  // namespace pkg::ops

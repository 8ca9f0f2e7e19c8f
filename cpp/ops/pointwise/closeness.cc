// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/closeness.cc: whether tensors agree, exactly or within a tolerance.
#include "ops/op.h"

namespace pkg::ops {
namespace {

bool truth(const Tensor& t) { return item(t).to<bool>(); }
bool all_true(const Tensor& t) { return truth(all(t, std::optional<Shape>(), false)); }

// |a - b| <= atol + rtol * |b|, the same infinity, or NaN on both sides if that counts.
Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol,
               bool equal_nan) {
  PKG_CHECK(self.dtype() == other.dtype(), RuntimeError, "[isclose] ", self.dtype(),
            " did not match ", other.dtype());
  PKG_CHECK(rtol >= 0 && atol >= 0, RuntimeError,
            "[isclose] rtol and atol must not be "
            "negative, got ",
            rtol, " and ", atol);
  const Tensor close = (equal_nan ? same : eq)(self, other);
  // Integers are compared in double, where differences cannot wrap.
  const DType wide = is_floating(self.dtype()) ? self.dtype() : DType::Float64;
  const Tensor a = to_dtype(self, wide), b = to_dtype(other, wide);
  const Tensor allowed = add(mul(abs(b), Tensor(rtol)), Tensor(atol));
  const Tensor distance = abs(sub(a, b));
  return logical_or(close, logical_and(isfinite(distance), le(distance, allowed)));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, "
        "bool equal_nan=False) -> Tensor")
      .doc("True where |self - other| <= atol + rtol * |other|.")
      .composite(isclose);
  m.def("allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, "
        "bool equal_nan=False) -> bool")
      .doc("Whether isclose holds everywhere; waits for the values.")
      .composite([](const Tensor& self, const Tensor& other, double rtol, double atol,
                    bool equal_nan) {
        return all_true(ops::isclose(self, other, rtol, atol, equal_nan));
      });
  m.def("equal(Tensor self, Tensor other) -> bool")
      .doc("Whether shapes and all values agree; waits for the values.")
      .composite([](const Tensor& self, const Tensor& other) {
        PKG_CHECK(!self.is_meta() && !other.is_meta(), NotImplementedError,
                  "[equal] a meta "
                  "tensor has a shape but no values.");
        return self.sizes() == other.sizes() && all_true(eq(self, other));
      });
}

}  // namespace
}  // namespace pkg::ops

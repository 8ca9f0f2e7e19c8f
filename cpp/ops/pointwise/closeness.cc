// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/closeness.cc: whether tensors agree, exactly or within a tolerance.
#include <cmath>
#include <limits>

#include "ops/loops.h"

namespace pkg::ops {
namespace {

bool truth(const Tensor& t) { return item(t).to<bool>(); }
bool all_true(const Tensor& t) { return truth(all(t, std::optional<Shape>(), false)); }

// |a - b| <= atol + rtol * |b|, the same infinity, or NaN on both sides if that counts.
// Integers are compared in double, where differences cannot wrap.
template <class T>
struct Close {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, T, double>;
  Wide rtol, atol;
  bool equal_nan;

  bool operator()(T x, T y) const {
    const Wide a = Wide(x), b = Wide(y), distance = std::abs(a - b);
    const bool both_nan = equal_nan & (a != a) & (b != b);
    const bool near = (distance <= atol + rtol * std::abs(b)) &
                      (distance < std::numeric_limits<Wide>::infinity());
    return (x == y) | both_nan | near;
  }
};

void isclose_kernel(Tensor& out, const Tensor& self, const Tensor& other, double rtol,
                    double atol, bool equal_nan) {
  kOrderedType(compute_type(self.dtype()), [&]<class T>(TypeTag<T>) {
    using Wide = typename Close<T>::Wide;
    const Close<T> close{Wide(rtol), Wide(atol), equal_nan};
    Pointwise kernel{block<Close<T>, bool, T, T>, &close};
    kernel.add(out, DType::Bool);
    kernel.add(self, dtype_of<T>);
    kernel.add(other, dtype_of<T>);
    run_pointwise(kernel);
  });
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, "
        "bool equal_nan=False) -> Tensor")
      .doc("True where |self - other| <= atol + rtol * |other|.")
      .pointwise()
      .non_differentiable()
      .shape([](const Tensor& self, const Tensor& other, double rtol, double atol, bool) {
        PKG_CHECK(self.dtype() == other.dtype(), RuntimeError, "[isclose] ", self.dtype(),
                  " did not match ", other.dtype());
        PKG_CHECK(rtol >= 0 && atol >= 0, RuntimeError,
                  "[isclose] rtol and atol must not be negative, got ", rtol, " and ",
                  atol);
        return broadcast_spec("isclose", self, other, DType::Bool);
      })
      .cpu(isclose_kernel);
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

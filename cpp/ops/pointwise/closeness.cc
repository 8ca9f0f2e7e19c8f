// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/closeness.cc: whether tensors agree, exactly or within a tolerance.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ops/loops.h"

namespace pkg::ops {
namespace {

bool truth(const Tensor& t) { return item(t).to<bool>(); }
bool all_true(const Tensor& t) { return truth(all(t, std::optional<Shape>(), false)); }

// Some places of a dimension.
Tensor piece(const Tensor& t, size_t d, int64_t at, int64_t some) {
  Shape sizes = t.sizes();
  sizes[d] = some;
  return alias(t, sizes, t.strides(), t.offset() + at * t.strides()[d]);
}

// Whether f holds for all elements of both.  Pieces grow, so that a difference near the
// beginning is found at once, and results of f stay in the cache.
template <class F>
bool holds(const Tensor& self, const Tensor& other, const F& f) {
  constexpr int64_t kFirst = 256, kTimes = 64, kMost = 1 << 20;
  const Shape& sizes = self.sizes();
  const int64_t n = self.numel();
  const bool whole = self.is_meta() || other.is_meta() || sizes != other.sizes();
  if (whole || n <= 4 * kFirst) return all_true(f(self, other));
  size_t d = 0;  // the dimension whose elements are farthest apart
  int64_t outer = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t apart = sizes[i] > 1 ? std::abs(self.strides()[i]) : -1;
    if (apart > outer) outer = apart, d = i;
  }
  const int64_t size = sizes[d], each = n / size;
  int64_t at = 0, wanted = kFirst;
  if (each > 4 * kFirst) {  // of the first by pieces too
    if (!holds(piece(self, d, 0, 1), piece(other, d, 0, 1), f)) return false;
    at = 1;
    wanted = each;
  }
  for (; at < size; wanted = std::min(kTimes * wanted, kMost)) {
    const int64_t some = std::min(std::max<int64_t>(1, wanted / each), size - at);
    if (!all_true(f(piece(self, d, at, some), piece(other, d, at, some)))) return false;
    at += some;
  }
  return true;
}

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
        return holds(self, other, [=](const Tensor& a, const Tensor& b) {
          return ops::isclose(a, b, rtol, atol, equal_nan);
        });
      });
  m.def("equal(Tensor self, Tensor other) -> bool")
      .doc("Whether shapes and all values agree; waits for the values.")
      .composite([](const Tensor& self, const Tensor& other) {
        PKG_CHECK(!self.is_meta() && !other.is_meta(), NotImplementedError,
                  "[equal] a meta "
                  "tensor has a shape but no values.");
        return self.sizes() == other.sizes() && holds(self, other, eq);
      });
}

}  // namespace
}  // namespace pkg::ops

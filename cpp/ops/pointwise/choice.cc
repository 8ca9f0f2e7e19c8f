// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/choice.cc: the choice between two tensors, element by element.
#include "ops/pointwise/choice.h"

#include "base/number_fits.h"
#include "ops/loops.h"

namespace pkg::ops {
namespace {

// By bits: the compiler would read one of the two behind a branch, which a condition that is
// random makes dear.
struct Choose {
  template <class T>
  T operator()(uint8_t condition, T x, T y) const {
    const T all = condition ? T(~T(0)) : T(0);
    return T((x & all) | (y & T(~all)));
  }
};

// Of the element type only the size matters.
BlockFunction choice_of(int64_t itemsize) {
  switch (itemsize) {
    case 1: return block<Choose, uint8_t, uint8_t, uint8_t, uint8_t>;
    case 2: return block<Choose, uint16_t, uint8_t, uint16_t, uint16_t>;
    case 4: return block<Choose, uint32_t, uint8_t, uint32_t, uint32_t>;
    default: return block<Choose, uint64_t, uint8_t, uint64_t, uint64_t>;
  }
}

Spec where_rule(const Tensor& condition, const Tensor& a, const Tensor& b) {
  Spec spec = broadcast_spec("where", a, b, result_type(a, b));
  spec.sizes = broadcast_shapes("where", spec.sizes, condition.sizes());
  if (a.impl()->wrapped_number) check_written("where", item(a), spec.dtype, "self");
  if (b.impl()->wrapped_number) check_written("where", item(b), spec.dtype, "other");
  return spec;
}

}  // namespace

void choose(const Tensor& out, const Tensor& condition, const Tensor& self,
            const Tensor& other) {
  static constexpr Choose formula;
  Pointwise kernel{choice_of(itemsize(out.dtype())), &formula};
  kernel.add(out, out.dtype());
  kernel.add(condition, DType::Bool);
  kernel.add(self, out.dtype());
  kernel.add(other, out.dtype());
  run_pointwise(kernel);
}

namespace {

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("where(Tensor condition, Tensor self, Tensor other) -> Tensor")
      .doc("self where condition is true, else other.")
      .pointwise()
      .shape(where_rule)
      .cpu([](Tensor& out, const Tensor& condition, const Tensor& self,
              const Tensor& other) { choose(out, condition, self, other); })
      .derivative("self", "condition", [](auto& g, auto& c) { return where(c, g, 0.0); })
      .derivative("other", "condition", [](auto& g, auto& c) { return where(c, 0.0, g); });
  m.def("where.places(Tensor condition) -> Tensor[]")
      .doc("Index tensors of the elements that are true, one for each dimension.")
      .composite([](const Tensor& condition) {
        const Tensor places = nonzero(condition.ndim() ? condition
                                                       : reshape(condition, Shape{1}));
        TensorList columns;
        for (int64_t d = 0; d < places.size(1); ++d) {
          columns.push_back(select(places, 1, d));
        }
        return columns;
      });
}

}  // namespace
}  // namespace pkg::ops

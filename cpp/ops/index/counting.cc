// SPDX-License-Identifier: Apache-2.0
// ops/index/counting.cc: integers counted, spread out, and found among sorted values.
#include "ops/op.h"

namespace pkg::ops {
namespace {

Tensor one_hot_fn(const Tensor& self, int64_t num_classes) {
  PKG_CHECK(self.numel() > 0 || num_classes > 0, RuntimeError,
            "[one_hot] Can not infer total number of classes from empty tensor.");
  int64_t classes = num_classes;
  if (classes == -1 && !self.is_meta()) {
    const Tensor most = amax(self, std::optional<Shape>(), false);
    classes = std::max<int64_t>(1, Checked(item(most).to_int("one_hot")) + 1);
  }
  PKG_CHECK(classes > 0, RuntimeError, "[one_hot] expected num_classes > 0, got ",
            num_classes);
  return one_hot_rows(self, classes);
}

// Whether the first of the sorted tests that is not below an element equals it.
Tensor isin(const Tensor& elements, const Tensor& tests) {
  if (tests.ndim() == 0) return eq(elements, tests);
  const int64_t count = tests.numel();
  if (count == 0 && tests.device() == elements.device()) {
    return full_like(elements, 0, DType::Bool, elements.device(), false);
  }
  const Tensor line = to_dtype(reshape(tests, Shape{count}), result_type(elements, tests));
  if (count == 1) return reshape(eq(elements, line), elements.sizes());
  return among(elements, std::get<0>(sort(line, 0, false, false)));
}

Spec search_rule(const Tensor& sorted, const Tensor& values, bool) {
  PKG_CHECK(sorted.ndim() == 1, NotImplementedError,
            "[searchsorted] expected a 1-d sorted "
            "sequence, got shape ",
            sorted.sizes());
  return {values.sizes(), DType::Int64, values.device()};
}
PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor")
      .doc("How often (or with what weight) each of 0, 1, ... occurs; waits for self.")
      .dtypes("self", kIntegerOrBoolDTypes)
      .non_differentiable();
  m.def("one_hot(Tensor self, int num_classes=-1) -> Tensor")
      .doc("Integers as rows of 0 with a single 1, as int64; -1: the largest plus one.")
      .dtypes("self", kIntegerDTypes)
      .composite(one_hot_fn);
  m.def("_one_hot(Tensor self, int num_classes) -> Tensor")
      .doc("one_hot of so many classes.")
      .dtypes("self", kIntegerDTypes)
      .non_differentiable()
      .shape([](const Tensor& self, int64_t classes) {
        PKG_CHECK(classes > 0, RuntimeError, "[one_hot] expected num_classes > 0, got ",
                  classes);
        Shape sizes = self.sizes();
        sizes.push_back(classes);
        return Spec{sizes, DType::Int64, self.device()};
      });
  m.def("_search(Tensor sorted_sequence, Tensor values, bool right) -> Tensor")
      .doc("Where values belong in a sorted vector: before equals, or after (right).")
      .reads_part()
      .non_differentiable()
      .shape(search_rule);
  m.def("_among(Tensor elements, Tensor sorted_tests) -> Tensor")
      .doc("isin of a sorted vector of tests.")
      .non_differentiable()
      .shape([](const Tensor& elements, const Tensor& tests) {
        PKG_CHECK(tests.ndim() == 1, RuntimeError,
                  "[isin] expected a vector of tests, got "
                  "shape ",
                  tests.sizes());
        return Spec{elements.sizes(), DType::Bool, elements.device()};
      });
  m.def("isin(Tensor elements, Tensor test_elements) -> Tensor")
      .doc("True where an element is among test_elements.")
      .composite(isin);
  m.def("searchsorted(Tensor sorted_sequence, Tensor self, *, bool right=False) -> Tensor")
      .doc("Index at which each value would be inserted into a sorted vector.")
      .composite([](const Tensor& sorted, const Tensor& values, bool right) {
        return search(sorted, values, right);
      });
  m.def("bucketize(Tensor self, Tensor boundaries, *, bool right=False) -> Tensor")
      .doc("Number of the bucket between boundaries that each value falls in.")
      .composite([](const Tensor& values, const Tensor& boundaries, bool right) {
        return search(boundaries, values, right);
      });
}

}  // namespace
}  // namespace pkg::ops

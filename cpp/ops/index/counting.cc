// SPDX-License-Identifier: Apache-2.0
// ops/index/counting.cc: integers counted, spread out, and found among sorted values.
#include "ops/op.h"
#include "scheduler/parallel.h"

namespace pkg::ops {
namespace {

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  PKG_CHECK(self.ndim() == 1, RuntimeError, "[bincount] only supports 1-d non-negative "
            "integral inputs, got shape ", self.sizes(), " of ", self.dtype());
  PKG_CHECK(minlength >= 0, RuntimeError, "[bincount] minlength should be >= 0, got ",
            minlength);
  PKG_CHECK(!weights.defined() || weights.sizes() == self.sizes(), RuntimeError,
            "[bincount] weights should be 1-d and have the same length as input, got ",
            weights.defined() ? weights.sizes() : Shape());
  const Tensor numbers = as_contiguous(as_dtype(self, DType::Int64));
  const int64_t* value = numbers.data<int64_t>();
  int64_t length = minlength;
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    PKG_CHECK(value[i] >= 0, RuntimeError,
              "[bincount] only supports non-negative inputs, got ", value[i]);
    length = std::max<int64_t>(length, Checked(value[i]) + 1);
  }
  const bool single = weights.defined() && weights.dtype() == DType::Float32;
  const DType dtype = !weights.defined() ? DType::Int64
                      : single           ? DType::Float32
                                         : DType::Float64;
  Tensor out = empty(Shape{length}, dtype);
  const Tensor added =
      weights.defined() ? as_contiguous(as_dtype(weights, dtype)) : Tensor();
  visit_compute("bincount", dtype, [&]<class T>(TypeTag<T>) {
    T* count = out.data<T>();
    std::fill_n(count, length, T(0));
    const T* weight = added.defined() ? added.data<T>() : nullptr;
    for (int64_t i = 0; i < numbers.numel(); ++i) {
      count[value[i]] = T(count[value[i]] + (weight ? weight[i] : T(1)));
    }
  });
  return out;
}

Tensor one_hot_fn(const Tensor& self, int64_t num_classes) {
  PKG_CHECK(self.numel() > 0 || num_classes > 0, RuntimeError,
            "[one_hot] Can not infer total number of classes from empty tensor.");
  int64_t classes = num_classes;
  if (!self.is_meta() && self.numel() > 0) {
    const auto number = [](const Tensor& t) { return item(t).to_int("one_hot"); };
    const int64_t most = number(amax(self, std::optional<Shape>(), false));
    PKG_CHECK(number(amin(self, std::optional<Shape>(), false)) >= 0, RuntimeError,
              "[one_hot] Class values must be non-negative.");
    if (num_classes == -1) classes = Checked(most) + 1;
    PKG_CHECK(most < classes, RuntimeError, "[one_hot] Class values must be smaller than "
              "num_classes (", num_classes, "), got ", most);
  }
  PKG_CHECK(classes > 0, RuntimeError, "[one_hot] expected num_classes > 0, got ",
            num_classes);
  Shape sizes = self.sizes();
  sizes.push_back(classes);
  const Tensor rows = zeros_of(sizes, empty(Shape(), DType::Int64, self.device()));
  return scatter(rows, -1, unsqueeze(to_dtype(self, DType::Int64), -1), Tensor(1));
}

Spec search_rule(const Tensor& sorted, const Tensor& values, bool) {
  PKG_CHECK(sorted.ndim() == 1, NotImplementedError, "[searchsorted] expected a 1-d sorted "
            "sequence, got shape ", sorted.sizes());
  return {values.sizes(), DType::Int64, values.device()};
}
void search_kernel(Tensor& out, const Tensor& sorted, const Tensor& values, bool right) {
  const DType type = compute_type(result_type(sorted, values));
  const Tensor line = as_contiguous(as_dtype(sorted, type));
  const Tensor wanted = as_contiguous(as_dtype(values, type));
  int64_t* at = out.data<int64_t>();
  visit_compute("searchsorted", type, [&]<class T>(TypeTag<T>) {
    const T *begin = line.data<T>(), *end = begin + line.numel();
    const T* value = wanted.data<T>();
    parallel_for(0, wanted.numel(), kGrain / 16, [&](int64_t first, int64_t past) {
      for (int64_t i = first; i < past; ++i) {
        // Not `<` alone, so that NaN stands behind every number.
        const auto below = [&](T x) { return right ? !(x > value[i]) : x < value[i]; };
        const bool last = value[i] != value[i];
        at[i] = last ? end - begin : std::partition_point(begin, end, below) - begin;
      }
    });
  });
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor")
      .doc("How often (or with what weight) each of 0, 1, ... occurs; waits for self.")
      .dtypes("self", kIntegerOrBoolDTypes)
      .non_differentiable()
      .cpu(bincount);
  m.def("one_hot(Tensor self, int num_classes=-1) -> Tensor")
      .doc("Integers as rows of 0 with a single 1, as int64; -1: the largest plus one.")
      .dtypes("self", kIntegerDTypes)
      .composite(one_hot_fn);
  m.def("_search(Tensor sorted_sequence, Tensor values, bool right) -> Tensor")
      .doc("Where values belong in a sorted vector: before equals, or after (right).")
      .non_differentiable()
      .shape(search_rule)
      .cpu(search_kernel);
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

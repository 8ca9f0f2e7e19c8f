// SPDX-License-Identifier: Apache-2.0
// ops/index/marks.cc: which places of an array were written, each of which may be once.
#include <algorithm>

#include "ops/op.h"

namespace pkg::ops {
namespace {

Spec marks_rule(const Tensor& marks, const Tensor& places) {
  PKG_CHECK(marks.ndim() == 1 && marks.dtype() == DType::Bool && places.ndim() == 1,
            ValueError, "[mark_written] expected a bool for each place, and a vector of ",
            "places, got ", marks.dtype(), " of shape ", marks.sizes(), " and shape ",
            places.sizes(), ".");
  return marks.spec();
}

void mark(Tensor& out, const Tensor& marks, const Tensor& places) {
  bool* written = out.data<bool>();
  const int64_t n = out.numel();
  const int64_t from = marks.strides()[0], step = places.strides()[0];
  for (int64_t i = 0; i < n; ++i) written[i] = marks.data<bool>()[i * from];
  for (int64_t i = 0; i < places.numel(); ++i) {
    const int64_t place = places.data<int64_t>()[i * step];
    PKG_CHECK(place >= 0 && place < n, IndexError, "Tried to write to index ", place,
              " but array is not resizeable and size is: ", n);
    PKG_CHECK(!written[place], ValueError, "Could not write to TensorArray index ", place,
              " because it has already been written to.");
    written[place] = true;
  }
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_mark_written(Tensor marks, Tensor places) -> Tensor")
      .doc("marks with those at the places set; none of them may be set before.")
      .dtypes("places", DTypeSet{DType::Int64})
      .non_differentiable()
      .shape(marks_rule)
      .cpu(mark);
}

}  // namespace
}  // namespace pkg::ops

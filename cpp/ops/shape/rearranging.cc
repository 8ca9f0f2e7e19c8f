// SPDX-License-Identifier: Apache-2.0
// ops/shape/rearranging.cc: repetition: results with memory of their own that hold the input's
// elements several times.  Reversal and rotation: flipping.cc.
#include "ops/op.h"

namespace pkg::ops {
namespace {

// A result never shares memory with self.
Tensor owned(const Tensor& result, const Tensor& self) {
  return result.impl()->storage == self.impl()->storage ? clone(result) : result;
}

// Every element repeats[d] times along d, by views of size 1 expanded.
Tensor repeat_fn(const Tensor& self, const Shape& repeats) {
  const size_t n = repeats.size(), ndim = self.sizes().size();
  PKG_CHECK(n >= ndim, RuntimeError,
            "[repeat] Number of dimensions of repeat dims can not "
            "be smaller than number of dimensions of tensor, got ",
            repeats, " for ", self.sizes());
  Shape split, wide, joined;
  for (size_t d = 0; d < n; ++d) {
    const int64_t size = d < n - ndim ? 1 : self.sizes()[d - (n - ndim)];
    PKG_CHECK(repeats[d] >= 0, RuntimeError, "[repeat] expected non-negative repeats, got ",
              repeats);
    split.push_back(1);
    split.push_back(size);
    wide.push_back(repeats[d]);
    wide.push_back(size);
    joined.push_back(Checked(repeats[d]) * size);
  }
  joined.numel();  // raises here rather than in a view of it
  return owned(reshape(expand(reshape(self, split), wide), joined), self);
}

Tensor repeat_each(const Tensor& self, int64_t repeats, std::optional<int64_t> dim) {
  PKG_CHECK(repeats >= 0, RuntimeError,
            "[repeat_interleave] expected non-negative "
            "repeats, got ",
            repeats);
  const Tensor x = dim ? self : reshape(self, Shape{self.numel()});
  const int64_t d = wrap_dim("repeat_interleave", dim.value_or(0), x.ndim());
  const Tensor raised = unsqueeze(x.ndim() ? x : reshape(x, Shape{1}), d + 1);
  Shape wide = raised.sizes();
  wide[size_t(d) + 1] = repeats;
  Shape joined = wide;
  joined.erase(size_t(d) + 1);
  joined[size_t(d)] = Checked(joined[size_t(d)]) * repeats;
  joined.numel();
  return owned(reshape(expand(raised, wide), joined), self);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("repeat(Tensor self, int[] repeats) -> Tensor")
      .doc("The tensor side by side repeats[d] times along each dimension.")
      .composite(repeat_fn);
  m.def("tile(Tensor self, int[] dims) -> Tensor")
      .doc("repeat with ones in front of dims where it is too short.")
      .composite([](const Tensor& self, const Shape& dims) {
        Shape repeats = dims;
        while (repeats.size() < self.sizes().size()) repeats.insert(0, 1);
        return repeat(self, repeats);
      });
  m.def("repeat_interleave(Tensor self, int repeats, int? dim=None) -> Tensor")
      .doc("Each element repeated, next to itself; without dim the flattened tensor.")
      .composite(repeat_each);
  m.def("repeat_interleave.each(Tensor self, Tensor repeats, int? dim=None) -> Tensor")
      .doc("Element i along dim repeated repeats[i] times; waits for repeats.")
      .composite([](const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim) {
        if (repeats.numel() == 1) {
          return repeat_each(self, item(repeats).to_int("repeats"), dim);
        }
        const Tensor x = dim ? self : reshape(self, Shape{self.numel()});
        PKG_CHECK(repeats.ndim() == 1 && repeats.size(0) == x.size(dim.value_or(0)),
                  RuntimeError,
                  "[repeat_interleave] repeats must have the same size as "
                  "input along dim, got ",
                  repeats.sizes(), " for ", x.sizes());
        return index_select(x, dim.value_or(0), repeated_places(repeats));
      });
  m.def("_repeated_places(Tensor repeats) -> Tensor")
      .doc("Index i repeats[i] times.")
      .non_differentiable()
      .cpu([](const Tensor& repeats) {
        const Tensor counts = as_contiguous(as_dtype(repeats, DType::Int64));
        const int64_t* count = counts.data<int64_t>();
        int64_t total = 0;
        for (int64_t i = 0; i < counts.numel(); ++i) {
          PKG_CHECK(count[i] >= 0, RuntimeError,
                    "[repeat_interleave] repeats can not be negative, got ", count[i]);
          total = Checked(total) + count[i];
        }
        Tensor out = empty(Shape{total}, DType::Int64);
        int64_t* at = out.data<int64_t>();
        for (int64_t i = 0; i < counts.numel(); ++i) at = std::fill_n(at, count[i], i);
        return out;
      });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/reduce_layout.h: how reduction kernels see a tensor.
//
// Every case is brought to one of two layouts: rows (the reduced elements lie together)
// or columns (they lie `outer` apart), so the order of additions depends on the shape
// and, of a sum of everything, on the order in memory; never on the number of threads.
#pragma once

#include <optional>

#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/layout.h"
#include "tensor/strided_loop.h"

namespace pkg {

using Dims = std::optional<Shape>;

struct Layout {
  Tensor data;         // contiguous
  int64_t outer, reduced;
  bool columns;        // reduced dimensions in front
};

/// The elements with the kept dimensions in front; apart, so that the usual case is short.
[[gnu::noinline]] inline Tensor in_front(const Tensor& self, const Shape& kept,
                                         const Shape& reduced, bool anyhow) {
  if (anyhow && kept.empty() && is_dense(self)) {
    return alias(self, Shape{self.numel()}, Shape{1}, self.offset());
  }
  Shape sizes, strides;
  for (const Shape* group : {&kept, &reduced}) {
    for (int64_t d : *group) {
      sizes.push_back(self.sizes()[size_t(d)]);
      strides.push_back(self.strides()[size_t(d)]);
    }
  }
  return as_contiguous(alias(self, sizes, strides, self.offset()));
}

/// `anyhow`: where everything is reduced, the elements may come in any order.
inline Layout lay_out(const Tensor& self, const Dims& dim, bool anyhow = true) {
  const Shape dims = wrap_dims("reduce", dim.value_or(Shape()), self.ndim());
  Shape kept, reduced;
  Layout out{self, 1, 1, false};
  const auto size_of = [&](int64_t d) { return self.sizes()[size_t(d)]; };
  for (int64_t d = 0; d < self.ndim(); ++d) {
    const bool gone = std::find(dims.begin(), dims.end(), d) != dims.end();
    (gone ? reduced : kept).push_back(d);
    (gone ? out.reduced : out.outer) *= size_of(d);
  }
  bool trailing = true, leading = true;
  for (size_t i = 0; i < kept.size(); ++i) {
    trailing &= kept[i] == int64_t(i);
    leading &= kept[i] == int64_t(i + reduced.size());
  }
  if (self.is_contiguous() && (trailing || leading)) {
    out.columns = !trailing;
    return out;
  }
  out.data = in_front(self, kept, reduced, anyhow);
  return out;
}

// Folds every group of reduced elements with f(accumulator, index, value).
template <class T, class Init, class F, class Done>
void fold(const Layout& in, Init init, F f, Done done) {
  const T* x = in.data.data<T>();
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.reduced));
  const int64_t step = in.columns ? in.outer : 1;
  const int64_t stride = in.columns ? 1 : in.reduced;
  parallel_for(0, in.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto acc = init();
      const T* at = x + i * stride;
      for (int64_t r = 0; r < in.reduced;) {
        const int64_t block = std::min<int64_t>(in.reduced, r + (1 << 22));
        for (; r < block; ++r) f(acc, r, at[r * step]);
        if (r < in.reduced) stop_point();
      }
      done(i, acc);
    }
  });
}

}  // namespace pkg

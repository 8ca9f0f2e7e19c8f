// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/planes.h: tensors (samples, channels, places).  With many places a channel is
// dense planes, with few of them neighbouring channels are computed side by side, as columns.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/rows.h"
#include "tensor/small_vector.h"

namespace pkg {

inline constexpr int64_t kFewPlaces = 16, kRun = 2048;
template <class T>
using Numbers = std::vector<T, PoolAllocator<T>>;

/// A tensor as (samples, channels, places).
struct Planes {
  int64_t samples, channels, places;
  explicit Planes(const Tensor& x)
      : samples(x.size(0)), channels(x.size(1)), places(x.numel() ? 1 : 0) {
    for (int64_t d = 2; d < x.ndim(); ++d) places *= x.size(d);
  }
  int64_t row() const { return channels * places; }
  int64_t each() const { return samples * places; }
  bool side_by_side() const { return places < kFewPlaces; }
  /// Samples that are one run where channels lie side by side: short ones are too short for
  /// vector instructions.
  int64_t together() const {
    return side_by_side() && row() ? std::clamp<int64_t>(kRun / 2 / row(), 1, samples) : 1;
  }
};

/// Calls f(first element, count, its column or channel, mine) for runs of elements: of one
/// channel, or where channels lie side by side, of the samples that are together.  `mine` is
/// what make() gave the thread.
template <class M, class F>
void for_planes(const Planes& shape, M make, F f) {
  if (shape.samples * shape.row() == 0) return;
  const bool columns = shape.side_by_side();
  const int64_t length = columns ? shape.row() * shape.together() : shape.places;
  const int64_t total = shape.samples * shape.row(), count = (total - 1) / length + 1;
  const int64_t grain = std::max<int64_t>(1, kGrain / length);
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    auto mine = make();
    with_isa([&] {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = std::min(length, total - i * length);
        for (int64_t at = 0; at < n; at += kRun) {
          f(i * length + at, std::min(kRun, n - at), columns ? at : i % shape.channels,
            mine);
        }
      }
    });
  });
}

/// One number a channel as for_planes wants them: one for each column, or for each plane.
template <class T, class F>
Numbers<T> spread_out(const Planes& shape, F of_channel) {
  const int64_t repeat = shape.side_by_side() ? shape.places : 1;
  const int64_t n = shape.channels * repeat, copies = shape.together();
  Numbers<T> out(size_t(n * copies));
  for (int64_t c = 0; c < shape.channels; ++c) {
    std::fill_n(out.data() + c * repeat, repeat, of_channel(c));
  }
  for (int64_t i = 1; i < copies; ++i) std::copy_n(out.data(), n, out.data() + i * n);
  return out;
}

}  // namespace pkg

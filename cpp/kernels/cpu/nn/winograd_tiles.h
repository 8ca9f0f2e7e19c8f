// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/winograd_tiles.h: the sums and differences of F(2x2, 3x3), and the rows of
// tiles that a piece of work has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/cpu/nn/conv_lines.h"
#include "kernels/cpu/nn/winograd.h"

namespace pkg::conv {

template <class T>
inline constexpr int64_t kLanes = 64 / sizeof(T);

/// How many tiles lie in the second-level cache at a time, with all their places.
template <class T>
int64_t tiles_at_once(int64_t channels) {
  constexpr int64_t kBytes = 3 << 17;
  return std::clamp<int64_t>(kBytes / (kPlaces * channels * int64_t(sizeof(T))) / 32 * 32,
                             32, 256);
}

/// B^T d B of a tile whose four rows are given as its even and odd elements: place p's value
/// goes to to[p][at].
template <class T>
inline void tile_to_places(const T* const* even, const T* const* odd, int64_t x,
                           T* const* to, int64_t at) {
  T h[4][4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    const T a = even[r][x], b = odd[r][x], c = even[r][x + 1], d = odd[r][x + 1];
    h[r][0] = a - c;
    h[r][1] = b + c;
    h[r][2] = c - b;
    h[r][3] = b - d;
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    to[j][at] = h[0][j] - h[2][j];
    to[4 + j][at] = h[1][j] + h[2][j];
    to[8 + j][at] = h[2][j] - h[1][j];
    to[12 + j][at] = h[1][j] - h[3][j];
  }
}

/// G k G^T of a kernel whose nine weights are k_step apart.
template <class T>
inline void kernel_to_places(const T* k, int64_t k_step, T* to, int64_t step) {
  T h[4][3];
  for (int j = 0; j < 3; ++j) {
    const T a = k[j * k_step], b = k[(3 + j) * k_step], c = k[(6 + j) * k_step];
    const T half = (a + c) * T(0.5), middle = b * T(0.5);
    h[0][j] = a;
    h[1][j] = half + middle;
    h[2][j] = half - middle;
    h[3][j] = c;
  }
  for (int i = 0; i < 4; ++i) {
    const T half = (h[i][0] + h[i][2]) * T(0.5), middle = h[i][1] * T(0.5);
    to[4 * i * step] = h[i][0];
    to[(4 * i + 1) * step] = half + middle;
    to[(4 * i + 2) * step] = half - middle;
    to[(4 * i + 3) * step] = h[i][2];
  }
}

/// A^T m A: the four outputs of a tile.
template <class T>
inline void places_to_outputs(const T* m, int64_t step, T& y0, T& y1, T& y2, T& y3) {
  const auto column = [=](int64_t j, T& upper, T& lower) {
    const T a = m[j * step], b = m[(4 + j) * step], c = m[(8 + j) * step],
            d = m[(12 + j) * step];
    upper = a + (b + c);
    lower = (b - c) - d;
  };
  T u0, u1, u2, u3, l0, l1, l2, l3;
  column(0, u0, l0);
  column(1, u1, l1);
  column(2, u2, l2);
  column(3, u3, l3);
  y0 = u0 + (u1 + u2);
  y1 = (u1 - u2) - u3;
  y2 = l0 + (l1 + l2);
  y3 = (l1 - l2) - l3;
}

/// A y A^T: what 2x2 gradients of outputs are at each place.
template <class T>
inline void outputs_to_places(T y0, T y1, T y2, T y3, T* to, int64_t step) {
  const auto row = [=](int64_t i, T a, T b) {
    to[4 * i * step] = a;
    to[(4 * i + 1) * step] = a + b;
    to[(4 * i + 2) * step] = a - b;
    to[(4 * i + 3) * step] = -b;
  };
  row(0, y0, y1);
  row(1, y0 + y2, y1 + y3);
  row(2, y0 - y2, y1 - y3);
  row(3, -y2, -y3);
}

/// G^T m G: the nine weights' gradients.
template <class T>
inline void places_to_kernel(const T* m, int64_t step, T* to, int64_t to_step) {
  const auto column = [=](int64_t j, T& a, T& b, T& c) {
    const T half = (m[(4 + j) * step] + m[(8 + j) * step]) * T(0.5);
    a = m[j * step] + half;
    b = (m[(4 + j) * step] - m[(8 + j) * step]) * T(0.5);
    c = m[(12 + j) * step] + half;
  };
  T h[3][4];
  column(0, h[0][0], h[1][0], h[2][0]);
  column(1, h[0][1], h[1][1], h[2][1]);
  column(2, h[0][2], h[1][2], h[2][2]);
  column(3, h[0][3], h[1][3], h[2][3]);
  const auto row = [=](int64_t i, T a, T b, T c, T d) {
    const T half = (b + c) * T(0.5);
    to[3 * i * to_step] = a + half;
    to[(3 * i + 1) * to_step] = (b - c) * T(0.5);
    to[(3 * i + 2) * to_step] = d + half;
  };
  row(0, h[0][0], h[0][1], h[0][2], h[0][3]);
  row(1, h[1][0], h[1][1], h[1][2], h[1][3]);
  row(2, h[2][0], h[2][1], h[2][2], h[2][3]);
}

/// Tiles of one row of tiles, beside each other; `at` is the first one's number.
struct TileRun {
  int64_t at, sample, y, x, count;
};

/// The tiles of 2x2 outputs of planes h x w, numbered row by row through all samples.
struct TileGrid {
  int64_t high, wide;
  TileGrid(int64_t h, int64_t w) : high((h + 1) / 2), wide((w + 1) / 2) {}

  void runs(int64_t first, int64_t count, std::vector<TileRun>& to) const {
    to.clear();
    for (int64_t at = 0; at < count;) {
      const int64_t x = (first + at) % wide, row = (first + at) / wide;
      const int64_t some = std::min(wide - x, count - at);
      to.push_back({at, row / high, row % high, x, some});
      at += some;
    }
  }
};

/// What some runs of tiles see of planes with zeros around: rows of the planes, the elements
/// at even columns apart from those at odd ones.  Where the rows are is found out once for
/// all channels, and the zeros around stay.
template <class T>
class SeenRows {
 public:
  SeenRows(int64_t source_h, int64_t source_w, int64_t pad_y, int64_t pad_x)
      : h_(source_h), w_(source_w), pad_y_(pad_y), pad_x_(pad_x) {}

  /// `sample`: distance of a channel's planes.
  void plan(const std::vector<TileRun>& runs, int64_t sample) {
    lines_.clear();
    seen_.clear();
    width_ = kLanes<T> + 1;
    for (const TileRun& run : runs) width_ = std::max(width_, run.count + 1 + kLanes<T>);
    memory_.assign(size_t(8 * width_) * runs.size(), T(0));
    int64_t rows = 0;
    const TileRun* before = nullptr;
    for (const TileRun& run : runs) {
      // The rows that the run above has are not taken twice.
      const bool below = before && before->sample == run.sample && before->y + 1 == run.y &&
                         before->x == run.x && before->count >= run.count;
      if (below) rows -= 2;
      seen_.push_back({rows * 2 * width_, run.at, run.count});
      for (int64_t r = below ? 2 : 0; r < 4; ++r) {
        line(2 * run.y + r - pad_y_, 2 * run.x - pad_x_, run.count + 1, run.sample * sample,
             (rows + r) * 2 * width_);
      }
      rows += 4;
      before = &run;
    }
  }
  /// Of a channel: the value of place p of the tile `at` goes to to[p][first + at].  Writes
  /// whole vectors, up to kLanes elements beyond a run.  For the inside of with_isa().
  void load(const T* plane, T* const* to, int64_t first) {
    T* rows = memory_.data();
    for (const Line& line : lines_) {
      split(plane + line.from, line.count, rows + line.a, rows + line.b);
    }
    for (const Seen& seen : seen_) {
      const T *even[4], *odd[4];
      for (int64_t r = 0; r < 4; ++r) {
        even[r] = rows + seen.rows + r * 2 * width_;
        odd[r] = even[r] + width_;
      }
      for (int64_t v = 0; v < seen.count; v += kLanes<T>) {
#pragma omp simd
        for (int64_t x = v; x < v + kLanes<T>; ++x) {
          tile_to_places(even, odd, x, to, first + seen.at + x);
        }
      }
    }
  }

 private:
  struct Line {  // elements from.. of a plane go to a and b in turn
    int64_t from, count, a, b;
  };
  struct Seen {
    int64_t rows, at, count;
  };

  void line(int64_t y, int64_t x, int64_t pairs, int64_t plane, int64_t at) {
    const int64_t lead = std::clamp<int64_t>(-x, 0, 2 * pairs);
    const int64_t count = std::clamp<int64_t>(w_ - x, lead, 2 * pairs) - lead;
    if (y < 0 || y >= h_ || count == 0) return;
    const int64_t even = at + (lead + 1) / 2, odd = at + width_ + lead / 2;
    lines_.push_back(
        {plane + y * w_ + x + lead, count, lead % 2 ? odd : even, lead % 2 ? even : odd});
  }
  static void split(const T* from, int64_t count, T* __restrict a, T* __restrict b) {
    int64_t i = 0;
    for (; i + kLanes<T> <= count / 2; i += kLanes<T>) {
      split_some<kLanes<T>>(from + 2 * i, a + i, b + i);
    }
    for (; i + 4 <= count / 2; i += 4) split_some<4>(from + 2 * i, a + i, b + i);
    for (; i < count / 2; ++i) split_some<1>(from + 2 * i, a + i, b + i);
    if (count % 2) a[i] = from[2 * i];
  }

  const int64_t h_, w_, pad_y_, pad_x_;
  int64_t width_ = 0;
  std::vector<Line> lines_;
  std::vector<Seen> seen_;
  std::vector<T> memory_;
};

}  // namespace pkg::conv

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

/// d B of a row that tiles see: what it has for tile x, whose elements are 2x..2x + 3, goes
/// to to[x], to[step + x], ... for each column of places.  In whole vectors.
template <class T>
inline void row_to_places(const T* row, int64_t tiles, T* to, int64_t step) {
  constexpr int64_t n = kLanes<T>;
  for (int64_t x = 0; x < tiles; x += n) {
    T a[n], b[n], c[n], d[n];
    even_some<n>(row + 2 * x, a);
    odd_some<n>(row + 2 * x, b);
    even_some<n>(row + 2 * x + 2, c);
    odd_some<n>(row + 2 * x + 2, d);
    T* __restrict out = to + x;
#pragma omp simd
    for (int64_t l = 0; l < n; ++l) {
      out[l] = a[l] - c[l];
      out[step + l] = b[l] + c[l];
      out[2 * step + l] = c[l] - b[l];
      out[3 * step + l] = b[l] - d[l];
    }
  }
}

/// B^T of what the four rows of tiles have so: place p's value of tile i goes to to[p][i].
/// A row's columns of places are `step` apart.  In whole vectors.
template <class T>
inline void rows_to_places(const T* const* rows, int64_t step, int64_t tiles, T* const* to,
                           int64_t first) {
  for (int64_t j = 0; j < 4; ++j) {
    const T *a = rows[0] + j * step, *b = rows[1] + j * step;
    const T *c = rows[2] + j * step, *d = rows[3] + j * step;
    T* __restrict out[] = {to[j] + first, to[4 + j] + first, to[8 + j] + first,
                           to[12 + j] + first};
    for (int64_t v = 0; v < tiles; v += kLanes<T>) {
#pragma omp simd
      for (int64_t i = v; i < v + kLanes<T>; ++i) {
        out[0][i] = a[i] - c[i];
        out[1][i] = b[i] + c[i];
        out[2][i] = c[i] - b[i];
        out[3][i] = b[i] - d[i];
      }
    }
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

/// What some tiles see of planes with zeros around.  Where their rows are is found out once
/// for all channels, and the zeros around stay.  A row is summed up once for both rows of
/// tiles that see it; the sums of even rows lie behind each other, and those of odd ones, so
/// that vectors go on over the end of a row of tiles.
template <class T>
class SeenRows {
 public:
  SeenRows(const TileGrid& grid, int64_t source_h, int64_t source_w, int64_t pad_y,
           int64_t pad_x)
      : wide_(grid.wide), h_(source_h), w_(source_w), pad_y_(pad_y), pad_x_(pad_x) {}

  /// `sample`: distance of a channel's planes.
  void plan(const std::vector<TileRun>& runs, int64_t sample) {
    find_parts(runs);
    lines_.clear();
    int64_t rows = 0, sums = 0;
    for (Part& part : parts_) {
      part.rows = rows;
      part.sums = sums;
      const int64_t columns = 2 * part.wide + 2, first = 2 * part.left - pad_x_;
      const int64_t lead = std::clamp<int64_t>(-first, 0, columns);
      const int64_t count = std::min(w_ - (first + lead), columns - lead);
      for (int64_t r = 0; r < 2 * part.pairs; ++r, rows += part.line()) {
        const int64_t y = 2 * part.y + r - pad_y_;
        if (y < 0 || y >= h_ || count <= 0) continue;
        lines_.push_back(
            {part.sample * sample + y * w_ + first + lead, count, rows + lead});
      }
      sums += 8 * part.step();
    }
    rows_.assign(size_t(rows), T(0));
    if (sums_.size() < size_t(sums)) sums_.resize(size_t(sums));
  }
  /// Of a channel: the value of place p of the tile `at` goes to to[p][first + at].  Writes
  /// whole vectors, up to kLanes elements beyond the tiles.  For the inside of with_isa().
  void load(const T* plane, T* const* to, int64_t first) {
    T *rows = rows_.data(), *sums = sums_.data();
    for (const Line& line : lines_)
      copy_line(plane + line.from, line.count, rows + line.to);
    for (const Part& part : parts_) {
      for (int64_t r = 0; r < 2 * part.pairs; ++r) {
        T* row = sums + part.sums + r % 2 * part.step() + r / 2 * part.wide;
        row_to_places(rows + part.rows + r * part.line(), part.wide, row, 2 * part.step());
      }
    }
    for (const Part& part : parts_) {
      const T *even = sums + part.sums + part.x, *odd = even + part.step();
      const T* const seen[] = {even, odd, even + part.wide, odd + part.wide};
      rows_to_places(seen, 2 * part.step(), part.tiles, to, first + part.at);
    }
  }

 private:
  struct Line {  // elements from.. of a plane
    int64_t from, count, to;
  };
  // Tiles of a sample: the first one is number `at`, in row y.  Their rows are summed up
  // from tile `left` on, `wide` tiles of each; the first tile is number x of these.
  struct Part {
    int64_t sample, at, y, left, x, wide, tiles;
    int64_t pairs, rows, sums;  // pairs of rows; where these and their sums begin
    // Of a row that is seen, in whole vectors.
    int64_t line() const { return (wide + kLanes<T> - 1) / kLanes<T> * kLanes<T> * 2 + 2; }
    // From the sums of even rows to those of odd ones.
    int64_t step() const { return pairs * wide + kLanes<T>; }
  };
  // The runs of a sample are one part, or, where they are little of their rows, one each:
  // what is not seen is not summed up then.
  void find_parts(const std::vector<TileRun>& runs) {
    parts_.clear();
    int64_t tiles = 0;
    for (const TileRun& run : runs) tiles += run.count;
    const bool alone = 2 * wide_ > tiles;
    for (const TileRun& run : runs) {
      if (alone) {
        parts_.push_back(
            {run.sample, run.at, run.y, run.x, 0, run.count, run.count, 2, 0, 0});
        continue;
      }
      if (parts_.empty() || parts_.back().sample != run.sample) {
        parts_.push_back({run.sample, run.at, run.y, 0, run.x, wide_, 0, 0, 0, 0});
      }
      parts_.back().tiles += run.count;
      parts_.back().pairs = run.y - parts_.back().y + 2;
    }
  }

  const int64_t wide_, h_, w_, pad_y_, pad_x_;
  std::vector<Line> lines_;
  std::vector<Part> parts_;
  std::vector<T> rows_, sums_;
};

}  // namespace pkg::conv

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/winograd_tiles.h: the weighted sums of F(4x4, 3x3), and the rows of tiles
// that a piece of work has.
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

// Note [Points] in winograd.h.
template <class T>
struct Points {
  static constexpr T a = T(0.625), b = T(1.5), aa = a * a, bb = b * b;
  // 1 / the product of the distances to the other points: of 0, a, b.
  static constexpr T of_zero = T(1) / (aa * bb), of_a = T(1) / (2 * aa * (aa - bb)),
                     of_b = T(1) / (2 * bb * (bb - aa));
};

/// B^T of six elements that a tile sees: for the points 0, a, -a, b, -b, infinity.
template <class T>
inline void seen_to_points(T d0, T d1, T d2, T d3, T d4, T d5, T& p0, T& p1, T& p2, T& p3,
                           T& p4, T& p5) {
  using P = Points<T>;
  const T even_a = d4 - P::bb * d2, odd_a = P::a * (d3 - P::bb * d1);
  const T even_b = d4 - P::aa * d2, odd_b = P::b * (d3 - P::aa * d1);
  p0 = P::aa * P::bb * d0 - (P::aa + P::bb) * d2 + d4;
  p1 = even_a + odd_a;
  p2 = even_a - odd_a;
  p3 = even_b + odd_b;
  p4 = even_b - odd_b;
  p5 = P::aa * P::bb * d1 - (P::aa + P::bb) * d3 + d5;
}

/// A^T of what is at the points: the outputs.
template <class T>
inline void points_to_outputs(T p0, T p1, T p2, T p3, T p4, T p5, T& y0, T& y1, T& y2,
                              T& y3) {
  using P = Points<T>;
  const T even_a = p1 + p2, odd_a = P::a * (p1 - p2);
  const T even_b = p3 + p4, odd_b = P::b * (p3 - p4);
  y0 = p0 + (even_a + even_b);
  y1 = odd_a + odd_b;
  y2 = P::aa * even_a + P::bb * even_b;
  y3 = P::aa * odd_a + P::bb * odd_b + p5;
}

/// A of the gradients of four outputs: what they are at the points.
template <class T>
inline void outputs_to_points(T y0, T y1, T y2, T y3, T& p0, T& p1, T& p2, T& p3, T& p4,
                              T& p5) {
  using P = Points<T>;
  const T even_a = y0 + P::aa * y2, odd_a = P::a * (y1 + P::aa * y3);
  const T even_b = y0 + P::bb * y2, odd_b = P::b * (y1 + P::bb * y3);
  p0 = y0;
  p1 = even_a + odd_a;
  p2 = even_a - odd_a;
  p3 = even_b + odd_b;
  p4 = even_b - odd_b;
  p5 = y3;
}

/// G of three weights.
template <class T>
inline void weights_to_points(T w0, T w1, T w2, T& p0, T& p1, T& p2, T& p3, T& p4, T& p5) {
  using P = Points<T>;
  const T even_a = P::of_a * (w0 + P::aa * w2), odd_a = P::of_a * P::a * w1;
  const T even_b = P::of_b * (w0 + P::bb * w2), odd_b = P::of_b * P::b * w1;
  p0 = P::of_zero * w0;
  p1 = even_a + odd_a;
  p2 = even_a - odd_a;
  p3 = even_b + odd_b;
  p4 = even_b - odd_b;
  p5 = w2;
}

/// G^T of what is at the points: the gradients of three weights.
template <class T>
inline void points_to_weights(T p0, T p1, T p2, T p3, T p4, T p5, T& w0, T& w1, T& w2) {
  using P = Points<T>;
  const T even_a = P::of_a * (p1 + p2), odd_a = P::of_a * (p1 - p2);
  const T even_b = P::of_b * (p3 + p4), odd_b = P::of_b * (p3 - p4);
  w0 = P::of_zero * p0 + (even_a + even_b);
  w1 = P::a * odd_a + P::b * odd_b;
  w2 = P::aa * even_a + P::bb * even_b + p5;
}

template <int64_t n, class T>
inline void split_by_four_in(const T* row, int64_t count, T* to, int64_t step) {
  for (int64_t x = 0; x < count; x += n) {
    T even[2 * n], odd[2 * n];
    for (int64_t half = 0; half < 2; ++half) {
      even_some<n>(row + 4 * x + 2 * half * n, even + half * n);
      odd_some<n>(row + 4 * x + 2 * half * n, odd + half * n);
    }
    even_some<n>(even, to + x);
    even_some<n>(odd, to + step + x);
    odd_some<n>(even, to + 2 * step + x);
    odd_some<n>(odd, to + 3 * step + x);
  }
}

/// The elements of a row whose number leaves the rest 0, 1, 2, 3 when divided by four, each
/// kind to a place of its own, `step` apart.  In whole vectors.
template <class T>
inline void split_by_four(const T* row, int64_t count, T* to, int64_t step) {
  if (isa() == Isa::V4) split_by_four_in<kLanes<T>>(row, count, to, step);
  else split_by_four_in<16 / sizeof(T)>(row, count, to, step);
}

/// d B of rows that tiles see, split into the six kinds that a tile has of them, `step`
/// apart; a tile's values are as far apart, one for each column of places.
template <class T>
inline void row_to_places(const T* kinds, int64_t step, T* __restrict to) {
  const T *a = kinds, *b = a + step, *c = b + step, *d = c + step, *e = d + step;
  const T* f = e + step;
#pragma omp simd
  for (int64_t x = 0; x < step; ++x) {
    seen_to_points(a[x], b[x], c[x], d[x], e[x], f[x], to[x], to[step + x],
                   to[2 * step + x], to[3 * step + x], to[4 * step + x], to[5 * step + x]);
  }
}

/// B^T of what the six rows of tiles have so: place p's value of tile i goes to
/// to[p][first + i].  A row's columns of places are `step` apart.  In whole vectors.
template <class T>
inline void rows_to_places(const T* const* rows, int64_t step, int64_t tiles, T* const* to,
                           int64_t first) {
  const int64_t whole = (tiles + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  for (int64_t j = 0; j < kSide; ++j) {
    const T *a = rows[0] + j * step, *b = rows[1] + j * step, *c = rows[2] + j * step;
    const T *d = rows[3] + j * step, *e = rows[4] + j * step, *f = rows[5] + j * step;
    T *p = to[j] + first, *q = to[kSide + j] + first, *r = to[2 * kSide + j] + first;
    T *s = to[3 * kSide + j] + first, *t = to[4 * kSide + j] + first;
    T* u = to[5 * kSide + j] + first;
#pragma omp simd
    for (int64_t i = 0; i < whole; ++i) {
      seen_to_points(a[i], b[i], c[i], d[i], e[i], f[i], p[i], q[i], r[i], s[i], t[i],
                     u[i]);
    }
  }
}

/// G k G^T of a kernel whose nine weights are k_step apart.
template <class T>
inline void kernel_to_places(const T* k, int64_t k_step, T* to, int64_t step) {
  T h[kSide][3];
  const auto column = [&](int j) {
    weights_to_points(k[j * k_step], k[(3 + j) * k_step], k[(6 + j) * k_step], h[0][j],
                      h[1][j], h[2][j], h[3][j], h[4][j], h[5][j]);
  };
  column(0);
  column(1);
  column(2);
  const auto row = [&](int i) {
    T* p = to + kSide * i * step;
    weights_to_points(h[i][0], h[i][1], h[i][2], p[0], p[step], p[2 * step], p[3 * step],
                      p[4 * step], p[5 * step]);
  };
  row(0);
  row(1);
  row(2);
  row(3);
  row(4);
  row(5);
}

/// A^T m A: the outputs of a tile, `to_step` apart.
template <class T>
inline void places_to_outputs(const T* m, int64_t step, T bias, T* to, int64_t to_step) {
  T h[kEdge][kSide];
  const auto column = [&](int64_t j) {
    const T* p = m + j * step;
    const int64_t row = kSide * step;
    points_to_outputs(p[0], p[row], p[2 * row], p[3 * row], p[4 * row], p[5 * row], h[0][j],
                      h[1][j], h[2][j], h[3][j]);
  };
  column(0);
  column(1);
  column(2);
  column(3);
  column(4);
  column(5);
  const auto row = [&](int64_t i) {
    T y0, y1, y2, y3;
    points_to_outputs(h[i][0], h[i][1], h[i][2], h[i][3], h[i][4], h[i][5], y0, y1, y2, y3);
    T* y = to + kEdge * i * to_step;
    y[0] = y0 + bias;
    y[to_step] = y1 + bias;
    y[2 * to_step] = y2 + bias;
    y[3 * to_step] = y3 + bias;
  };
  row(0);
  row(1);
  row(2);
  row(3);
}

/// A y A^T: what gradients of a tile's outputs are at each place; a row of them is y_row
/// behind the one before, an element y_step.
template <class T>
inline void outputs_to_places(const T* y, int64_t y_row, int64_t y_step, T* to,
                              int64_t step) {
  T h[kSide][kEdge];
  const auto column = [&](int64_t j) {
    const T* p = y + j * y_step;
    outputs_to_points(p[0], p[y_row], p[2 * y_row], p[3 * y_row], h[0][j], h[1][j], h[2][j],
                      h[3][j], h[4][j], h[5][j]);
  };
  column(0);
  column(1);
  column(2);
  column(3);
  const auto row = [&](int64_t i) {
    T* p = to + kSide * i * step;
    outputs_to_points(h[i][0], h[i][1], h[i][2], h[i][3], p[0], p[step], p[2 * step],
                      p[3 * step], p[4 * step], p[5 * step]);
  };
  row(0);
  row(1);
  row(2);
  row(3);
  row(4);
  row(5);
}

/// G^T m G: the nine weights' gradients.
template <class T>
inline void places_to_kernel(const T* m, int64_t step, T* to, int64_t to_step) {
  T h[3][kSide];
  const auto column = [&](int64_t j) {
    const T* p = m + j * step;
    const int64_t row = kSide * step;
    points_to_weights(p[0], p[row], p[2 * row], p[3 * row], p[4 * row], p[5 * row], h[0][j],
                      h[1][j], h[2][j]);
  };
  column(0);
  column(1);
  column(2);
  column(3);
  column(4);
  column(5);
  const auto row = [&](int64_t i) {
    T* w = to + 3 * i * to_step;
    points_to_weights(h[i][0], h[i][1], h[i][2], h[i][3], h[i][4], h[i][5], w[0],
                      w[to_step], w[2 * to_step]);
  };
  row(0);
  row(1);
  row(2);
}

/// Tiles of one row of tiles, beside each other; `at` is the first one's number.
struct TileRun {
  int64_t at, sample, y, x, count;
};

/// The tiles of 4x4 outputs of planes h x w.  They are numbered row by row, and rows of
/// small planes lie side by side in bands: the first rows of all samples of a band, the
/// second ones, and so on.  So vectors over tiles are full even where a plane has a few.
struct TileGrid {
  int64_t samples, high, wide;
  int64_t together;  // samples of a band; the last one may have fewer
  TileGrid(int64_t n, int64_t h, int64_t w)
      : samples(n),
        high((h + kEdge - 1) / kEdge),
        wide((w + kEdge - 1) / kEdge),
        together(std::clamp<int64_t>((kBand + wide - 1) / std::max<int64_t>(1, wide), 1,
                                     std::max<int64_t>(1, n))) {}
  int64_t tiles() const { return samples * high * wide; }
  int64_t samples_of(int64_t band) const {
    return std::min(together, samples - band * together);
  }

  void runs(int64_t first, int64_t count, std::vector<TileRun>& to) const {
    to.clear();
    for (int64_t at = 0; at < count;) {
      const int64_t band = (first + at) / (together * high * wide);
      const int64_t in_band = first + at - band * together * high * wide;
      const int64_t row = samples_of(band) * wide, x = in_band % row;
      const int64_t some = std::min(wide - x % wide, count - at);
      to.push_back({at, band * together + x / wide, in_band / row, x % wide, some});
      at += some;
    }
  }

 private:
  static constexpr int64_t kBand = 16;  // tiles of a row that fill vectors
};

/// What some tiles see of planes with zeros around.  Where their rows are is found out once
/// for all channels, and the zeros around stay.  A row is summed up once for both rows of
/// tiles that see it.  Each fourth row lies behind the one before, and so do its elements of
/// each of four kinds and its sums, so that vectors go on over the ends of rows.
template <class T>
class SeenRows {
 public:
  SeenRows(const TileGrid& grid, int64_t source_h, int64_t source_w, int64_t pad_y,
           int64_t pad_x)
      : grid_(grid), h_(source_h), w_(source_w), pad_y_(pad_y), pad_x_(pad_x) {}

  /// `sample`: distance of a channel's planes.
  void plan(const std::vector<TileRun>& runs, int64_t sample) {
    find_parts(runs);
    int64_t places = 0;
    for (Part& part : parts_) {
      part.begin = places;
      places += (part.high + 1) * part.wide;
    }
    step_ = (places + kLanes<T> - 1) / kLanes<T> * kLanes<T> + kLanes<T>;
    lines_.clear();
    ends_.clear();
    for (const Part& part : parts_) {
      const int64_t wide = part.wide / part.samples;
      const int64_t columns = kEdge * wide, first = kEdge * part.left - pad_x_;
      const int64_t lead = std::clamp<int64_t>(-first, 0, columns);
      const int64_t count = std::min(w_ - (first + lead), columns - lead);
      for (int64_t r = 0; r < kEdge * part.high + 2; ++r) {
        const int64_t y = kEdge * part.y + r - pad_y_;
        const bool inside = y >= 0 && y < h_;
        int64_t to = r % kEdge * step_ + part.begin + r / kEdge * part.wide;
        for (int64_t i = 0; i < part.samples; ++i, to += wide) {
          const int64_t row = (part.sample + i) * sample + y * w_;
          if (inside && count > 0) {
            lines_.push_back({row + first + lead, count, kEdge * to + lead});
          }
          const auto seen = [&](int64_t x) {
            return inside && x >= 0 && x < w_ ? row + x : kOutside;
          };
          const int64_t x = first + columns;
          ends_.push_back({seen(x), seen(x + 1), to + wide - 1});
        }
      }
    }
    rows_.assign(size_t(kEdge * kEdge * step_), T(0));
    kinds_.resize(size_t(kSide * kEdge * step_));
    sums_.resize(size_t(kSide * kEdge * step_));
  }
  /// Of a channel: the value of place p of the tile `at` goes to to[p][first + at].  Writes
  /// whole vectors, up to kLanes elements beyond the tiles.  For the inside of with_isa().
  void load(const T* plane, T* const* to, int64_t first) {
    const int64_t all = kEdge * step_;
    T *rows = rows_.data(), *kinds = kinds_.data(), *sums = sums_.data();
    for (const Line& line : lines_)
      copy_line(plane + line.from, line.count, rows + line.to);
    split_by_four(rows, all, kinds, all);
    // A tile's last two elements are the first ones of the next tile, but for the last tile
    // of a row.
    std::copy_n(kinds + 1, 2 * all, kinds + kEdge * all);
    for (const End& end : ends_) {
      kinds[kEdge * all + end.to] = end.a == kOutside ? T(0) : plane[end.a];
      kinds[(kEdge + 1) * all + end.to] = end.b == kOutside ? T(0) : plane[end.b];
    }
    row_to_places(kinds, all, sums);
    for (const Part& part : parts_) {
      const T* seen[kSide];
      for (int64_t r = 0; r < kSide; ++r) {
        seen[r] = sums + r % kEdge * step_ + part.begin + r / kEdge * part.wide + part.x;
      }
      rows_to_places(seen, all, part.tiles, to, first + part.at);
    }
  }

 private:
  static constexpr int64_t kOutside = -1;
  struct Line {  // elements from.. of a plane
    int64_t from, count, to;
  };
  struct End {  // two elements of a plane, or kOutside
    int64_t a, b, to;
  };
  // Tiles of a band: the first one is number `at`, in row y.  Their rows are summed up from
  // tile `left` of each sample on, `wide` tiles of each row; the first tile is number x of
  // these.
  struct Part {
    int64_t sample, samples, at, y, left, x, wide, tiles;
    int64_t high;   // rows of tiles
    int64_t begin;  // where its elements of each kind begin
  };
  // The runs of a band are one part, or, where they are little of their rows, one each:
  // what is not seen is not summed up then.
  void find_parts(const std::vector<TileRun>& runs) {
    parts_.clear();
    int64_t tiles = 0;
    for (const TileRun& run : runs) tiles += run.count;
    const bool alone = grid_.together == 1 && 2 * grid_.wide > tiles;
    for (const TileRun& run : runs) {
      if (alone) {
        parts_.push_back(
            {run.sample, 1, run.at, run.y, run.x, 0, run.count, run.count, 1, 0});
        continue;
      }
      const int64_t band = run.sample / grid_.together, first = band * grid_.together;
      if (parts_.empty() || parts_.back().sample != first) {
        const int64_t samples = grid_.samples_of(band);
        const int64_t x = (run.sample - first) * grid_.wide + run.x;
        parts_.push_back(
            {first, samples, run.at, run.y, 0, x, samples * grid_.wide, 0, 0, 0});
      }
      parts_.back().tiles += run.count;
      parts_.back().high = run.y - parts_.back().y + 1;
    }
  }

  const TileGrid grid_;
  const int64_t h_, w_, pad_y_, pad_x_;
  std::vector<Line> lines_;
  std::vector<End> ends_;
  std::vector<Part> parts_;
  int64_t step_ = 0;  // from one of four rows to the next, for each kind
  std::vector<T> rows_, kinds_, sums_;
};

}  // namespace pkg::conv

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv_tile.h: convolution without a matrix of patches.
//
// Some rows of the source lie in a tile with the zeros around them, each plane in rows of
// one width; with a stride, each of its phases (y mod stride, x mod stride) is a plane of
// its own.  For a place in the kernel (a tap), the elements that it meets at all outputs
// then lie one after the other, at a distance from the tile's beginning: the tile is the
// matrix of patches as it stands, its rows overlapping.  Where a row of outputs ends and
// the next begins some sums are computed that nobody wants.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/linalg/tiles.h"
#include "kernels/cpu/rows.h"
#include "scheduler/scheduler.h"

namespace pkg::conv {

/// A place in the kernel: which phase of the source it meets, and how far from the first.
struct Tap {
  int64_t phase_y, phase_x, y, x;
};

/// What a convolution reads of a sample: output (t, u) and a tap meet the source at
/// (t * step_y + tap.phase_y + tap.y * step_y + origin_y, and so for x).
struct Source {
  int64_t channels, h, w;  // of a group
  int64_t step_y, step_x, origin_y, origin_x;
  int64_t grid_h, grid_w;  // outputs
  std::vector<Tap> taps;

  int64_t phases_y = 1, phases_x = 1, reach_y = 0, reach_x = 0;
  /// To be called when all taps are there.
  void measure() {
    for (const Tap& tap : taps) {
      phases_y = std::max(phases_y, tap.phase_y + 1);
      phases_x = std::max(phases_x, tap.phase_x + 1);
      reach_y = std::max(reach_y, tap.y);
      reach_x = std::max(reach_x, tap.x);
    }
  }
  int64_t width() const { return grid_w + reach_x; }
};

inline constexpr int64_t kTileOutputs = 1024;

/// Rows of outputs of a tile, nearly the same for all tiles.
inline int64_t rows_per_tile(const Source& s) {
  const int64_t most = std::clamp<int64_t>(kTileOutputs / s.width(), 1, s.grid_h);
  const int64_t tiles = (s.grid_h + most - 1) / most;
  return (s.grid_h + tiles - 1) / tiles;
}

/// The tile of one thread.  It can be read a strip beyond its end.
template <class T>
class Tile {
 public:
  Tile(const Source& source, int64_t most_rows, int64_t channels)
      : s_(source),
        memory_(empty(Shape{channels * plane(most_rows) + kSlack}, dtype_of<T>)) {
    std::fill_n(memory_.data<T>() + channels * plane(most_rows), kSlack, T(0));
  }
  const T* data() const { return memory_.data<T>(); }

  /// Takes the source for outputs from row `row`, of some channels, from their planes.
  void load(const T* planes, int64_t channels, int64_t row, int64_t rows) {
    rows_ = rows;
    T* to = memory_.data<T>();
    with_isa([&, this] {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t py = 0; py < s_.phases_y; ++py) {
          for (int64_t px = 0; px < s_.phases_x; ++px) {
            to = load_plane(planes + c * s_.h * s_.w, row, py, px, to);
          }
        }
      }
    });
  }
  /// Distances from data() to what the taps meet at the first output, for each channel.
  void places(const std::vector<Tap>& taps, int64_t channels,
              std::vector<int64_t>& to) const {
    to.clear();
    for (int64_t c = 0; c < channels; ++c) {
      for (const Tap& tap : taps) {
        const int64_t phase = tap.phase_y * s_.phases_x + tap.phase_x;
        to.push_back(c * plane(rows_) +
                     (phase * (rows_ + s_.reach_y) + tap.y) * s_.width() + tap.x);
      }
    }
  }

 private:
  static constexpr int64_t kSlack = 64;

  int64_t plane(int64_t rows) const {
    return s_.phases_y * s_.phases_x * (rows + s_.reach_y) * s_.width();
  }
  T* load_plane(const T* plane, int64_t row, int64_t py, int64_t px, T* to) const {
    const int64_t width = s_.width(), x0 = px + s_.origin_x, step = s_.step_x;
    // Columns from..last of the tile are in the source.
    const int64_t from = std::clamp<int64_t>(x0 < 0 ? (-x0 + step - 1) / step : 0, 0,
                                             width);
    const int64_t last = s_.w > x0 ? std::clamp<int64_t>((s_.w - x0 + step - 1) / step,
                                                         from, width)
                                   : from;
    for (int64_t r = 0; r < rows_ + s_.reach_y; ++r, to += width) {
      const int64_t y = (row + r) * s_.step_y + py + s_.origin_y;
      if (y < 0 || y >= s_.h) {
        std::fill_n(to, width, T(0));
        continue;
      }
      const T* line = plane + y * s_.w + x0;
      for (int64_t x = 0; x < from; ++x) to[x] = 0;
      if (step == 1) {
        for (int64_t x = from; x < last; ++x) to[x] = line[x];
      } else {
        for (int64_t x = from; x < last; ++x) to[x] = line[x * step];
      }
      for (int64_t x = last; x < width; ++x) to[x] = 0;
    }
    return to;
  }

  const Source& s_;
  Tensor memory_;
  int64_t rows_ = 0;
};

/// One convolution of images (N, C, H, W) to maps (N, O, OH, OW).
struct Geometry {
  int64_t n, c, h, w, o, oh, ow, kh, kw;
  int64_t sh, sw, ph, pw, dh, dw, groups;
  int64_t group_c, group_o, patch;  // patch: elements of the kernel of one map

  Geometry(const Shape& image, const Shape& map, const Shape& weight, const Shape& stride,
           const Shape& padding, const Shape& dilation, int64_t groups_in)
      : n(image[0]),
        c(image[1]),
        h(image[2]),
        w(image[3]),
        o(map[1]),
        oh(map[2]),
        ow(map[3]),
        kh(weight[2]),
        kw(weight[3]),
        sh(stride[0]),
        sw(stride[1]),
        ph(padding[0]),
        pw(padding[1]),
        dh(dilation[0]),
        dw(dilation[1]),
        groups(groups_in),
        group_c(c / groups),
        group_o(o / groups),
        patch(group_c * kh * kw) {}

  bool empty() const { return n * o * oh * ow * patch == 0; }
  /// What winograd.h is for.
  bool three_by_three() const {
    return kh == 3 && kw == 3 && sh == 1 && sw == 1 && dh == 1 && dw == 1;
  }
  /// How the maps read the images.
  Source source() const {
    Source s{group_c, h, w, sh, sw, -ph, -pw, oh, ow, {}};
    for (int64_t i = 0; i < kh; ++i) {
      for (int64_t j = 0; j < kw; ++j) {
        s.taps.push_back({i * dh % sh, j * dw % sw, i * dh / sh, j * dw / sw});
      }
    }
    s.measure();
    return s;
  }
};

}  // namespace pkg::conv

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv_tile.h: convolution without a matrix of patches.
//
// Some rows of the source lie in a tile with the zeros around them, each plane in rows of
// one width; with a stride, each of its phases (y mod stride, x mod stride) is a plane of
// its own.  For a place in the kernel (a tap), the elements that it meets at all outputs
// then lie one after the other, at a distance from the tile's beginning: the tile is the
// matrix of patches as it stands, its rows overlapping.  Where a row of outputs ends and
// the next begins some sums are computed that nobody wants; where these would cost much,
// each column of the kernel has planes of its own, whose rows are those of the outputs.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/linalg/tiles.h"
#include "kernels/cpu/nn/conv_lines.h"
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

  int64_t phases_y = 1, reach_y = 0, reach_x = 0;
  /// Where the rows of the tile's planes begin: phases of x, or columns of the kernel.
  std::vector<int64_t> columns = {};

  /// To be called when all taps are there; `rows` planes of outputs come from them.
  void measure(int64_t rows) {
    int64_t phases_x = 1;
    for (const Tap& tap : taps) {
      phases_y = std::max(phases_y, tap.phase_y + 1);
      phases_x = std::max(phases_x, tap.phase_x + 1);
      reach_y = std::max(reach_y, tap.y);
      reach_x = std::max(reach_x, tap.x);
      columns.push_back(column(tap));
    }
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    if (reach_x > 0 && own_columns_pay(rows, phases_x)) {
      reach_x = 0;
      return;
    }
    columns.clear();
    for (int64_t x = 0; x < phases_x; ++x) columns.push_back(x);
  }
  int64_t width() const { return grid_w + reach_x; }
  int64_t planes() const { return phases_y * int64_t(columns.size()); }
  /// A tap's plane of the tile, and how far in its rows it begins.
  int64_t plane_of(const Tap& tap) const {
    const int64_t x = reach_x ? tap.phase_x : column(tap);
    const auto at = std::lower_bound(columns.begin(), columns.end(), x);
    return tap.phase_y * int64_t(columns.size()) + (at - columns.begin());
  }
  int64_t shift_of(const Tap& tap) const { return reach_x ? tap.x : 0; }
  /// Whether the planes of the source are the tile's.
  bool as_it_stands() const {
    return taps.size() == 1 && step_y == 1 && step_x == 1 && origin_y == 0 &&
           origin_x == 0 && grid_h == h && grid_w == w && planes() == 1 && reach_y == 0 &&
           reach_x == 0 && columns[0] == 0;
  }

 private:
  int64_t column(const Tap& tap) const { return tap.phase_x + tap.x * step_x; }
  // A sum nobody wants costs a hundredth of a nanosecond for each term, an element that is
  // moved an eighth of one.
  bool own_columns_pay(int64_t rows, int64_t phases_x) const {
    const auto terms = double(channels * int64_t(taps.size()));
    const double sums = double(rows) * terms * double(reach_x) / double(grid_w) / 100;
    const auto more = double(int64_t(columns.size()) - phases_x);
    return sums + double(rows) / 8 > more * double(channels * phases_y) / 8;
  }
};

inline constexpr int64_t kTileOutputs = 1024;

/// Rows of outputs of a tile, nearly the same for all tiles.
inline int64_t rows_per_tile(const Source& s) {
  const int64_t most = std::clamp<int64_t>(kTileOutputs / s.width(), 1, s.grid_h);
  const int64_t tiles = (s.grid_h + most - 1) / most;
  return (s.grid_h + tiles - 1) / tiles;
}

/// The tile of one thread.  It can be read a strip beyond its end, unless it is the source
/// itself (`in_place`).
template <class T>
class Tile {
 public:
  Tile(const Source& source, int64_t most_rows, int64_t channels, bool in_place)
      : s_(source),
        in_place_(in_place),
        memory_(
            empty(Shape{in_place ? 0 : channels * plane(most_rows) + kSlack}, dtype_of<T>)),
        data_(memory_.data<T>()) {
    if (in_place) return;
    for (int64_t column : source.columns) {
      const int64_t x = column + source.origin_x, step = source.step_x;
      const int64_t width = source.width();
      const int64_t from = std::clamp<int64_t>(x < 0 ? (-x + step - 1) / step : 0, 0,
                                               width);
      const int64_t last = source.w > x
                               ? std::clamp((source.w - x + step - 1) / step, from, width)
                               : from;
      spans_.push_back({from, last, last > from ? x + from * step : 0});
    }
    std::fill_n(memory_.data<T>() + channels * plane(most_rows), kSlack, T(0));
  }
  const T* data() const { return data_; }

  /// Takes the source for outputs from row `row`, of some channels, from their planes.
  void load(const T* planes, int64_t channels, int64_t row, int64_t rows) {
    rows_ = rows;
    if (in_place_) {
      data_ = planes + row * s_.w;
      return;
    }
    T* to = memory_.data<T>();
    with_isa([&, this] {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t py = 0; py < s_.phases_y; ++py) {
          for (const Span& span : spans_) {
            to = load_plane(planes + c * s_.h * s_.w, row, py, span, to);
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
        to.push_back(c * plane(rows_) +
                     (s_.plane_of(tap) * (rows_ + s_.reach_y) + tap.y) * s_.width() +
                     s_.shift_of(tap));
      }
    }
  }

 private:
  static constexpr int64_t kSlack = 64;

  int64_t plane(int64_t rows) const {
    return in_place_ ? s_.h * s_.w : s_.planes() * (rows + s_.reach_y) * s_.width();
  }
  // The elements from..last of a row of the tile are elements of the source, the first of
  // them that of column `at`.
  struct Span {
    int64_t from, last, at;
  };
  T* load_plane(const T* plane, int64_t row, int64_t py, Span span, T* to) const {
    const int64_t width = s_.width(), count = span.last - span.from;
    for (int64_t r = 0; r < rows_ + s_.reach_y; ++r, to += width) {
      const int64_t y = (row + r) * s_.step_y + py + s_.origin_y;
      if (y < 0 || y >= s_.h) {
        std::fill_n(to, width, T(0));
        continue;
      }
      const T* line = plane + y * s_.w + span.at;
      zeros(to, span.from);
      if (s_.step_x == 1) {
        copy_line(line, count, to + span.from);
      } else if (s_.step_x == 2) {
        every_second(line, count, plane + s_.h * s_.w, to + span.from);
      } else {
        for (int64_t x = 0; x < count; ++x) to[span.from + x] = line[x * s_.step_x];
      }
      zeros(to + span.last, width - span.last);
    }
    return to;
  }
  // Mostly one or two.  Those behind them may become zeros too: what is there comes later,
  // or is the slack.
  static void zeros(T* to, int64_t n) {
    constexpr int64_t kFew = 16 / sizeof(T);
    if (n == 0) return;
    const T few[kFew] = {};
    std::memcpy(to, few, sizeof few);
    for (int64_t x = kFew; x < n; ++x) to[x] = 0;
  }

  const Source& s_;
  const bool in_place_;
  Tensor memory_;
  const T* data_;
  std::vector<Span> spans_;  // of each column
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
        sh(step(stride[0], oh, h, padding[0])),
        sw(step(stride[1], ow, w, padding[1])),
        ph(padding[0]),
        pw(padding[1]),
        dh(dilation[0]),
        dw(dilation[1]),
        groups(groups_in),
        group_c(c / groups),
        group_o(o / groups),
        patch(group_c * kh * kw) {}

  // The stride; where it leads nowhere, one that is as good and not huge.
  static int64_t step(int64_t stride, int64_t outputs, int64_t size, int64_t padding) {
    return outputs > 1 ? stride : std::min(stride, size + padding + 1);
  }
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
    s.measure(group_o);
    return s;
  }
};

}  // namespace pkg::conv

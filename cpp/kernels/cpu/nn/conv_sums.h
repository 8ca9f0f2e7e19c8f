// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv_sums.h: planes of weighted sums over taps, from tiles of the source.
#pragma once

#include "kernels/cpu/nn/conv_taps.h"
#include "kernels/cpu/nn/conv_tile.h"

namespace pkg::conv {

inline constexpr double kSumsWorth = 3e5;  // multiply-adds that are worth a chunk

// Sums over some taps, to outputs `first_y`, `first_x` and every step-th from there.
template <class T>
struct Part {
  std::vector<Tap> taps;
  const T* weight;  // rows x (channels * taps), for each group
  int64_t first_y, first_x;
  Tensor packed;  // the same in panels
};

// What is computed for each sample: `rows` planes of h x w for each group.
template <class T>
struct Correlation {
  Source source;
  std::vector<Part<T>> parts;
  int64_t groups, rows, h, w, step_y, step_x;
  const T* bias;

  int64_t depth(const Part<T>& part) const {
    return source.channels * int64_t(part.taps.size());
  }
  // In units of gemm::kRowStep: a panel's rows, for each block of its depth.
  int64_t height() const { return gemm::panel_rows(rows); }
  int64_t panels() const { return (rows + height() - 1) / height(); }
  int64_t blocks(const Part<T>& part) const {
    return (depth(part) + gemm::kDepth - 1) / gemm::kDepth;
  }
  const T* packed(const Part<T>& part, int64_t group, int64_t row, int64_t block) const {
    const int64_t panel = group * panels() + row / height();
    return part.packed.template data<T>() +
           (panel * blocks(part) + block) * height() * gemm::kRowStep;
  }
  // Whether a plane of a tile's sums is part of a plane of the result.
  bool writes_in_place() const {
    return parts.size() == 1 && step_y == 1 && step_x == 1 && source.reach_x == 0 &&
           source.grid_w == w && depth(parts[0]) > 0;
  }
  // Whether the source is its own tile.  Strips of products are read to their ends.
  bool reads_in_place(int64_t tile_rows) const {
    const int64_t half = gemm::strip_columns<T>() / 2;
    return rows > 1 && source.as_it_stands() && tile_rows * w % half == 0 &&
           h * w % half == 0;
  }
  // Whether part p has the even columns of what part p + 1 has the odd ones of.
  bool columns_in_turn(size_t p) const {
    return step_x == 2 && !bias && p + 1 < parts.size() && parts[p].first_x == 0 &&
           parts[p + 1].first_x == 1 && parts[p].first_y == parts[p + 1].first_y;
  }
  void pack() {
    for (Part<T>& part : parts) {
      const int64_t height = this->height(), k = depth(part);
      part.packed = empty(Shape{groups * panels() * blocks(part) * height * gemm::kRowStep},
                          dtype_of<T>);
      parallel_for(
          0, groups * panels(), 1 + kGrain / (1 + k * height),
          [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const int64_t group = i / panels(), row = i % panels() * height;
              for (int64_t block = 0; block < blocks(part); ++block) {
                const int64_t p = k * block / blocks(part);
                const int64_t terms = k * (block + 1) / blocks(part) - p;
                T* to = const_cast<T*>(packed(part, group, row, block));
                const int64_t some = std::min(height, rows - row);
                gemm::pack(
                    gemm::Strided<T>{part.weight + (group * rows + row) * k + p, k, 1},
                    some, terms, terms, to, gemm::kRowStep);
              }
            }
          });
    }
  }
};

template <class T>
class SumWorker {
 public:
  SumWorker(const Correlation<T>& c, int64_t most_rows)
      : c_(c),
        step_(most_rows * c.source.width() + 64),
        tile_(c.source, most_rows, c.source.channels, c.reads_in_place(most_rows)),
        sums_(empty(Shape{2 * c.height() * step_}, dtype_of<T>)) {}

  // Planes first..last of a group, outputs from row `row` on.
  void run(const T* source, T* out, int64_t group, int64_t first, int64_t last, int64_t row,
           int64_t rows) {
    const Source& s = c_.source;
    tile_.load(source + group * s.channels * s.h * s.w, s.channels, row, rows);
    const int64_t count = (rows - 1) * s.width() + s.grid_w, panel = c_.height();
    const int64_t some = c_.rows == 1 ? 1 : panel;
    for (size_t p = 0; p < c_.parts.size(); ++p) {
      const bool pair = c_.columns_in_turn(p);
      if (p != placed_ || rows != placed_rows_) {
        tile_.places(c_.parts[p].taps, s.channels, places_[0]);
        if (pair) tile_.places(c_.parts[p + 1].taps, s.channels, places_[1]);
        placed_ = p;
        placed_rows_ = rows;
      }
      for (int64_t i = first; i < last; i += some) {
        const int64_t height = std::min(some, last - i);
        const int64_t plane = (group * c_.rows + i) * c_.h * c_.w;
        if (some > 1 && c_.writes_in_place()) {
          T* to = out + plane + row * c_.w;
          products(p, 0, group, i, height, count, to, c_.h * c_.w);
          if (c_.bias) add_bias(c_.bias + group * c_.rows + i, height, count, to);
          continue;
        }
        for (size_t k = 0; k <= size_t(pair); ++k) {
          T* sums = sums_.data<T>() + int64_t(k) * c_.height() * step_;
          const Part<T>& part = c_.parts[p + k];
          const int64_t depth = c_.depth(part);
          if (some > 1 && depth > 0) {
            products(p + k, k, group, i, height, count, sums, step_);
            continue;
          }
          for (int64_t r = 0; r < height; ++r) {
            sum_of_taps(part.weight + (group * c_.rows + i + r) * depth, depth,
                        tile_.data(), places_[k].data(), count, sums + r * step_);
          }
        }
        put(c_.parts[p], pair, height, out + plane, row, rows,
            c_.bias ? c_.bias + group * c_.rows + i : nullptr);
      }
      if (pair) ++p;
    }
  }

 private:
  // The sums of a panel.
  void products(size_t p, size_t places, int64_t group, int64_t row, int64_t height,
                int64_t count, T* sums, int64_t step) {
    const Part<T>& part = c_.parts[p];
    const int64_t width = gemm::strip_columns<T>(), depth = c_.depth(part);
    const int64_t blocks = c_.blocks(part);
    strips_.resize(size_t((count + width - 1) / width));
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t at = depth * block / blocks, end = depth * (block + 1) / blocks;
      for (size_t s = 0; s < strips_.size(); ++s) {
        strips_[s] = {tile_.data() + int64_t(s) * width, places_[places].data() + at};
      }
      gemm::multiply_panel<T>(c_.packed(part, group, row, block), height, count, end - at,
                              strips_.data(), {block ? sums : nullptr, step}, sums, step);
    }
  }
  void add_bias(const T* bias, int64_t height, int64_t count, T* to) const {
    with_isa([&, this] {
      for (int64_t r = 0; r < height; ++r) {
        T* __restrict line = to + r * c_.h * c_.w;
        const T b = bias[r];
        for (int64_t i = 0; i < count; ++i) line[i] += b;
      }
    });
  }
  // The sums of a panel, without those that nobody wants, to the result.  The parts of a
  // pair have the even columns and the odd ones; a convolution with a bias has one part.
  void put(const Part<T>& part, bool pair, int64_t height, T* out, int64_t row,
           int64_t rows, const T* bias) {
    const int64_t width = c_.source.width();
    const int64_t columns = (c_.w - part.first_x + c_.step_x - 1) / c_.step_x;
    with_isa([&, this] {
      for (int64_t r = 0; r < height; ++r, out += c_.h * c_.w) {
        const T* from = sums_.data<T>() + r * step_;
        const T b = bias ? bias[r] : T(0);
        for (int64_t t = 0; t < rows; ++t, from += width) {
          const int64_t y = (row + t) * c_.step_y + part.first_y;
          if (y >= c_.h) break;
          T* to = out + y * c_.w + part.first_x;
          if (pair) {
            in_turn(from, from + c_.height() * step_, c_.w, to);
          } else if (c_.step_x == 1) {
            add_line(from, columns, b, to);
          } else {
            for (int64_t x = 0; x < columns; ++x) to[x * c_.step_x] = from[x] + b;
          }
        }
      }
    });
  }

  const Correlation<T>& c_;
  const int64_t step_;
  Tile<T> tile_;
  Tensor sums_;
  std::vector<int64_t> places_[2];  // of part placed_, for a tile of placed_rows_
  size_t placed_ = SIZE_MAX;
  int64_t placed_rows_ = 0;
  std::vector<gemm::Strip<T>> strips_;
};

// All samples, cut into groups, tiles and, where those are few, into planes of the result:
// sums have the same bits however they are cut.
template <class T>
void run(Correlation<T>& c, int64_t n, const T* source, T* out) {
  if (c.rows > 1) c.pack();
  const Source& s = c.source;
  const int64_t rows = rows_per_tile(s), tiles = (s.grid_h + rows - 1) / rows;
  const int64_t panels = c.panels();
  const int64_t wanted = 2 * num_threads();
  const int64_t cuts = num_threads() == 1 || n * tiles * c.groups >= wanted
                           ? 1
                           : std::min(panels, wanted);
  double depth = 0;
  for (const auto& part : c.parts) depth += double(c.depth(part));
  const double work = depth * double(c.rows * rows * s.width()) / double(cuts);
  const int64_t grain = int64_t(std::clamp(kSumsWorth / work, 1.0, 1e6));
  parallel_for(0, n * tiles * c.groups * cuts, grain, [&](int64_t begin, int64_t end) {
    SumWorker<T> worker(c, rows);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t cut = i % cuts, group = i / cuts % c.groups,
                    tile = i / cuts / c.groups % tiles,
                    sample = i / cuts / c.groups / tiles;
      const auto bound = [&](int64_t k) {
        return std::min(c.rows, panels * k / cuts * c.height());
      };
      worker.run(source + sample * c.groups * s.channels * s.h * s.w,
                 out + sample * c.groups * c.rows * c.h * c.w, group, bound(cut),
                 bound(cut + 1), tile * rows, std::min(rows, s.grid_h - tile * rows));
      stop_point();
    }
  });
}

}  // namespace pkg::conv

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/winograd.cc: the loops of 3x3 convolutions by F(4x4, 3x3).
#include "kernels/cpu/nn/winograd.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/linalg/tiles.h"
#include "kernels/cpu/nn/winograd_tiles.h"
#include "kernels/cpu/rows.h"
#include "scheduler/scheduler.h"

namespace pkg::conv {
namespace {

constexpr int64_t kSums = 32;  // tiles whose products lie in the first-level cache
// Channels summed in one go: with more of them the error grows beyond that of plain sums.
constexpr int64_t kTerms = 64;

// The weights of all places: for each group, block of channels and place, rows of a panel.
template <class T>
class Kernels {
 public:
  explicit Kernels(const Winograd<T>& c)
      : c_(c),
        blocks_((c.channels + kTerms - 1) / kTerms),
        place_(c.rows * gemm::kRowStep + kLanes<T>),
        memory_(empty(
            Shape{c.groups * blocks_ * kPlaces * place_ + gemm::kMostRows * gemm::kRowStep},
            dtype_of<T>)) {
    T* to = memory_.data<T>();
    parallel_for(0, c.groups * c.rows, 1 + kGrain / 16 / c.channels,
                 [&](int64_t begin, int64_t end) {
                   with_isa([&, this] {
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t group = i / c_.rows, row = i % c_.rows;
                       for (int64_t b = 0; b < blocks_; ++b) {
                         const T* from = c_.weight + group * c_.group_step +
                                         row * c_.row_step + first(b) * c_.channel_step;
                         put(from, first(b + 1) - first(b), to + at(group, b, 0, row));
                       }
                     }
                   });
                 });
  }
  int64_t blocks() const { return blocks_; }
  int64_t first(int64_t block) const { return c_.channels * block / blocks_; }
  const T* rows(int64_t group, int64_t block, int64_t place, int64_t row) const {
    return memory_.data<T>() + at(group, block, place, row);
  }

 private:
  int64_t at(int64_t group, int64_t block, int64_t place, int64_t row) const {
    return ((group * blocks_ + block) * kPlaces + place) * place_ + row * gemm::kRowStep;
  }
  // G g G^T of some channels, to the places' rows.
  void put(const T* from, int64_t channels, T* to) const {
    constexpr int64_t kSome = 16;
    T k[9][kSome] = {};
    for (int64_t c = 0; c < channels; c += kSome) {
      const int64_t some = std::min(kSome, channels - c);
      for (int64_t l = 0; l < some; ++l) {
        const T* w = from + (c + l) * c_.channel_step;
        if (c_.turned) {
          for (int64_t j = 0; j < 9; ++j) k[j][l] = w[8 - j];
        } else {
          for (int64_t j = 0; j < 9; ++j) k[j][l] = w[j];
        }
      }
      // Beyond `channels` the rows have room.
#pragma omp simd
      for (int64_t l = 0; l < kSome; ++l)
        kernel_to_places(&k[0][l], kSome, to + c + l, place_);
    }
  }

  const Winograd<T>& c_;
  const int64_t blocks_;
  const int64_t place_;  // from one to the next: not the same sets of the cache
  Tensor memory_;
};

template <class T>
class MapWorker {
 public:
  MapWorker(const Winograd<T>& c, const Kernels<T>& kernels, int64_t most)
      : c_(c),
        kernels_(kernels),
        grid_(c.n, c.h, c.w),
        seen_(grid_, c.source_h, c.source_w, c.pad_y, c.pad_x),
        step_(most + kLanes<T>),
        place_(c.channels * step_ + kLanes<T>),
        tiles_(empty(Shape{kPlaces * place_}, dtype_of<T>)),
        sums_(empty(Shape{kPlaces * gemm::kMostRows * kSums}, dtype_of<T>)) {
    for (int64_t p = 0; p < kTerms; ++p) places_[p] = p * step_;
  }

  // Of a group the tiles first..first + count, for rows from..last; whether all is finite.
  bool run(int64_t group, int64_t first, int64_t count, int64_t from, int64_t last) {
    const int64_t plane = c_.source_h * c_.source_w;
    grid_.runs(first, count, runs_);
    seen_.plan(runs_, c_.groups * c_.channels * plane);
    T* to[kPlaces];
    for (int64_t p = 0; p < kPlaces; ++p) to[p] = tiles_.data<T>() + p * place_;
    with_isa([&, this] {
      for (int64_t c = 0; c < c_.channels; ++c) {
        seen_.load(c_.source + (group * c_.channels + c) * plane, to, c * step_);
      }
    });
    std::fill_n(check_, kSums, T(0));
    const int64_t panel = gemm::panel_rows(c_.rows);
    for (int64_t at = 0; at < count; at += kSums) {
      const int64_t some = std::min(kSums, count - at);
      grid_.runs(first + at, some, runs_);
      for (int64_t row = from; row < last; row += panel) {
        const int64_t height = std::min(panel, last - row);
        multiply(group, row, height, at, some);
        with_isa([&, this] {
          for (int64_t r = 0; r < height; ++r) {
            put(group * c_.rows + row + r, sums_.data<T>() + r * kSums, some);
          }
        });
      }
    }
    return std::all_of(check_, check_ + kSums, [](T zero) { return zero == 0; });
  }

 private:
  void multiply(int64_t group, int64_t row, int64_t height, int64_t at, int64_t count) {
    const int64_t width = gemm::strip_columns<T>();
    gemm::Strip<T> strips[gemm::kMostStrips];
    for (int64_t place = 0; place < kPlaces; ++place) {
      T* to = sums_.data<T>() + place * gemm::kMostRows * kSums;
      for (int64_t b = 0; b < kernels_.blocks(); ++b) {
        const T* from = tiles_.data<T>() + place * place_ + kernels_.first(b) * step_ + at;
        for (int64_t j = 0; j < count; j += width) strips[j / width] = {from + j, places_};
        gemm::multiply_panel<T>(kernels_.rows(group, b, place, row), height, count,
                                kernels_.first(b + 1) - kernels_.first(b), strips,
                                {b ? to : nullptr, kSums}, to, kSums);
      }
    }
  }
  // A plane's outputs of some tiles.
  void put(int64_t plane, const T* sums, int64_t count) {
    constexpr int64_t place = gemm::kMostRows * kSums;
    const T bias = c_.bias ? c_.bias[plane] : T(0);
    T y[kEdge][kEdge * kSums], lines[kEdge][kEdge * kSums];
#pragma omp simd
    for (int64_t i = 0; i < kSums; ++i) {
      places_to_outputs(sums + i, place, bias, &y[0][i], kSums);
    }
    for (int64_t r = 0; r < kEdge; ++r) {
      const T *a = y[r], *b = a + kSums, *c = b + kSums, *d = c + kSums;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        check_[i] += ((a[i] + b[i]) + (c[i] + d[i])) * T(0);
      }
      T even[2 * kSums], odd[2 * kSums];
      join_some<kSums>(a, c, even);
      join_some<kSums>(b, d, odd);
      join_some<2 * kSums>(even, odd, lines[r]);
    }
    T* out = c_.out + plane * c_.h * c_.w;
    const int64_t sample = c_.groups * c_.rows * c_.h * c_.w;
    for (const TileRun& run : runs_) {
      const int64_t x = kEdge * run.x, y0 = kEdge * run.y;
      T* to = out + run.sample * sample + y0 * c_.w + x;
      const int64_t columns = std::min(kEdge * run.count, c_.w - x);
      for (int64_t r = 0; r < std::min(kEdge, c_.h - y0); ++r) {
        copy(lines[r] + kEdge * run.at, columns, to + r * c_.w);
      }
    }
  }

  static void copy(const T* from, int64_t count, T* to) {
    copy_run(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from),
             count * int64_t(sizeof(T)));
  }

  const Winograd<T>& c_;
  const Kernels<T>& kernels_;
  const TileGrid grid_;
  SeenRows<T> seen_;
  const int64_t step_, place_;
  Tensor tiles_, sums_;
  std::vector<TileRun> runs_;
  int64_t places_[kTerms];
  T check_[kSums];  // zero for what is finite
};

}  // namespace

template <class T>
bool Winograd<T>::pays() const {
  const TileGrid grid(n, h, w);
  return winograd_pays(channels, rows, grid.tiles(), n * h * w) && pad_y >= 0 && pad_x >= 0;
}

template <class T>
bool Winograd<T>::run() const {
  const Kernels<T> kernels(*this);
  const TileGrid grid(n, h, w);
  const int64_t tiles = grid.tiles(), strips = (tiles + kSums - 1) / kSums;
  // Any cut into blocks and panels gives the same bits.
  const int64_t wanted = num_threads() == 1 ? 1 : 4 * num_threads();
  int64_t most = tiles_at_once<T>(channels);
  most = std::clamp(strips / wanted * kSums, kSums, most);
  const int64_t blocks = (tiles + most - 1) / most;
  const int64_t panel = gemm::panel_rows(rows), panels = (rows + panel - 1) / panel;
  const int64_t cuts = blocks * groups >= wanted / 2
                           ? 1
                           : std::min(panels, (wanted / 2 + blocks - 1) / blocks);
  std::atomic<bool> finite = true;
  parallel_for(0, blocks * groups * cuts, 1, [&](int64_t begin, int64_t end) {
    MapWorker<T> worker(*this, kernels, most);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t cut = i % cuts, group = i / cuts % groups, block = i / cuts / groups;
      const int64_t first = strips * block / blocks * kSums;
      const int64_t last = std::min(tiles, strips * (block + 1) / blocks * kSums);
      const auto bound = [&](int64_t k) {
        return std::min(rows, panels * k / cuts * panel);
      };
      if (!worker.run(group, first, last - first, bound(cut), bound(cut + 1)))
        finite = false;
      stop_point();
    }
  });
  return finite;
}

template struct Winograd<float>;
template struct Winograd<double>;

}  // namespace pkg::conv

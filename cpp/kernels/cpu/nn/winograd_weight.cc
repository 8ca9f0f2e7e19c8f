// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/winograd_weight.cc: the gradient of 3x3 convolutions for their weights by
// F(4x4, 3x3): for each of 36 places what the tiles see times what their gradients are,
// summed over all tiles; at the end the weights' gradients from the places' sums.
#include <algorithm>
#include <atomic>

#include "kernels/cpu/nn/winograd.h"
#include "kernels/cpu/nn/winograd_tiles.h"

namespace pkg::conv {
namespace {

// Sums are made in blocks of tiles whose number depends on the shapes alone, each in pieces
// that lie in the cache.
constexpr int64_t kBlocks = 8, kBlockTiles = 256, kPieceTiles = 128;

template <class T>
class WeightWorker {
 public:
  WeightWorker(const Geometry& g, int64_t most, int64_t most_channels)
      : g_(g),
        grid_(g.n, g.oh, g.ow),
        seen_(grid_, g.h, g.w, g.ph, g.pw),
        width_(gemm::strip_columns<T>()),
        place_((most_channels + gemm::kMostRows) * gemm::kRowStep),
        tiles_(empty(Shape{kPlaces * place_}, dtype_of<T>)),
        turned_(empty(Shape{kEdge * kEdge * most * width_}, dtype_of<T>)),
        slopes_step_(most * width_ + kLanes<T>),
        slopes_(empty(Shape{kPlaces * slopes_step_}, dtype_of<T>)) {
    for (int64_t p = 0; p < gemm::kDepth; ++p) in_strip_[p] = p * width_;
  }

  // Adds what `count` tiles from the first one give for some channels of a group: to
  // sums[place][channel][map of the group].
  void add(const T* images, const T* maps, int64_t first, int64_t count, int64_t group,
           int64_t channel, int64_t channels, T* sums) {
    grid_.runs(first, count, runs_);
    const int64_t plane = g_.h * g_.w, o = g_.group_o;
    seen_.plan(runs_, g_.c * plane);
    T* to[kPlaces];
    for (int64_t p = 0; p < kPlaces; ++p) to[p] = tiles_.data<T>() + p * place_;
    with_isa([&, this] {
      for (int64_t c = 0; c < channels; ++c) {
        seen_.load(images + (group * g_.group_c + channel + c) * plane, to,
                   c * gemm::kRowStep);
      }
    });
    const int64_t panel = gemm::panel_rows(channels);
    for (int64_t at = 0; at < o; at += width_) {
      const int64_t columns = std::min(width_, o - at);
      load_slopes(maps + (group * o + at) * g_.oh * g_.ow, columns);
      for (int64_t p = 0; p < kPlaces; ++p) {
        const gemm::Strip<T> strip{slopes_.data<T>() + p * slopes_step_, in_strip_};
        for (int64_t c = 0; c < channels; c += panel) {
          T* out = sums + (p * g_.group_c + channel + c) * o + at;
          gemm::multiply_panel<T>(to[p] + c * gemm::kRowStep, std::min(panel, channels - c),
                                  columns, count, &strip, {out, o}, out, o);
        }
      }
    }
  }

 private:
  // The gradients of some maps at the tiles, one tile after the other.
  void load_slopes(const T* maps, int64_t columns) {
    const int64_t plane = g_.oh * g_.ow;
    T *turned = turned_.data<T>(), *slopes = slopes_.data<T>();
    for (const TileRun& run : runs_) {
      const int64_t x = kEdge * run.x, y = kEdge * run.y, all = kEdge * run.count;
      const T* from = maps + run.sample * g_.o * plane + y * g_.ow + x;
      T* to = turned + kEdge * kEdge * run.at * width_;
      for (int64_t r = 0; r < kEdge; ++r, to += all * width_) {
        const int64_t some = y + r < g_.oh ? std::min(all, g_.ow - x) : 0;
        gemm::pack(gemm::Strided<T>{from + r * g_.ow, 1, plane}, some, columns, width_, to,
                   width_);
        std::fill(to + some * width_, to + all * width_, T(0));
      }
    }
    with_isa([&, this] {
      const int64_t step = slopes_step_;
      for (const TileRun& run : runs_) {
        const T* rows = turned + kEdge * kEdge * run.at * width_;
        for (int64_t t = 0; t < run.count; ++t) {
          const T* y = rows + kEdge * t * width_;
          T* to = slopes + (run.at + t) * width_;
#pragma omp simd
          for (int64_t l = 0; l < width_; ++l) {
            outputs_to_places(y + l, kEdge * run.count * width_, width_, to + l, step);
          }
        }
      }
    });
  }

  const Geometry& g_;
  const TileGrid grid_;
  SeenRows<T> seen_;
  const int64_t width_, place_;
  Tensor tiles_, turned_;
  const int64_t slopes_step_;  // no power of two from place to place
  Tensor slopes_;
  std::vector<TileRun> runs_;
  int64_t in_strip_[gemm::kDepth];
};

// The weights' gradients of some channels of a group, from its sums; whether all are finite.
template <class T>
bool put_kernels(const Geometry& g, const T* sums, int64_t begin, int64_t end, T* out) {
  constexpr int64_t kStep = 16;
  const int64_t place = g.group_c * g.group_o;
  T check[kStep] = {};
  for (int64_t c = begin; c < end; ++c) {
    for (int64_t o = 0; o < g.group_o; o += kStep) {
      const int64_t some = std::min(kStep, g.group_o - o);
      T k[9][kStep];
#pragma omp simd
      for (int64_t l = 0; l < some; ++l) {
        places_to_kernel(sums + c * g.group_o + o + l, place, &k[0][l], kStep);
      }
      for (int64_t l = 0; l < some; ++l) {
        T* to = out + (o + l) * g.patch + c * 9;
        for (int64_t j = 0; j < 9; ++j) to[j] = k[j][l];
      }
      for (int64_t j = 0; j < 9; ++j) {
        for (int64_t l = 0; l < some; ++l) check[l] += k[j][l] * T(0);
      }
    }
  }
  return std::all_of(check, check + kStep, [](T zero) { return zero == 0; });
}

}  // namespace

bool winograd_weight_pays(const Geometry& g) {
  const TileGrid grid(g.n, g.oh, g.ow);
  return g.three_by_three() &&
         winograd_pays(g.group_c, g.group_o, grid.tiles(), g.n * g.oh * g.ow);
}

template <class T>
bool winograd_weight_grad(const Geometry& g, const T* images, const T* maps, T* out) {
  const TileGrid grid(g.n, g.oh, g.ow);
  const int64_t tiles = grid.tiles();
  const int64_t size = kPlaces * g.group_c * g.group_o;
  const int64_t blocks = std::clamp<int64_t>(tiles / kBlockTiles, 1, kBlocks);
  const int64_t most = std::min(kPieceTiles, tiles_at_once<T>(g.group_c));
  // Few blocks are cut by channels too; that changes no bit.
  const int64_t cuts = blocks * g.groups >= 2 * num_threads()
                           ? 1
                           : std::min<int64_t>(g.group_c, num_threads());
  const Tensor parts = empty(Shape{blocks * g.groups * size}, dtype_of<T>);
  T* all = parts.data<T>();
  parallel_for(0, blocks * g.groups * cuts, 1, [&](int64_t begin, int64_t end) {
    WeightWorker<T> worker(g, most, (g.group_c + cuts - 1) / cuts);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t cut = i % cuts, group = i / cuts % g.groups,
                    block = i / cuts / g.groups;
      const int64_t channel = g.group_c * cut / cuts;
      const int64_t channels = g.group_c * (cut + 1) / cuts - channel;
      T* sums = all + (block * g.groups + group) * size;
      for (int64_t p = 0; p < kPlaces; ++p) {
        std::fill_n(sums + (p * g.group_c + channel) * g.group_o, channels * g.group_o,
                    T(0));
      }
      const int64_t last = tiles * (block + 1) / blocks;
      for (int64_t first = tiles * block / blocks; first < last; first += most) {
        worker.add(images, maps, first, std::min(most, last - first), group, channel,
                   channels, sums);
        stop_point();
      }
    }
  });
  parallel_for(0, blocks == 1 ? 0 : g.groups * size, kGrain / blocks,
               [=](int64_t begin, int64_t end) {
                 with_isa([=] {
                   for (int64_t block = 1; block < blocks; ++block) {
                     const T* part = all + block * g.groups * size;
                     for (int64_t i = begin; i < end; ++i) all[i] += part[i];
                   }
                 });
               });
  std::atomic<bool> finite = true;
  const int64_t grain = 1 + kGrain / kPlaces / 2 / g.group_o;
  for (int64_t group = 0; group < g.groups; ++group) {
    parallel_for(0, g.group_c, grain, [&](int64_t begin, int64_t end) {
      bool good = true;
      with_isa([&] {
        good = put_kernels(g, all + group * size, begin, end,
                           out + group * g.group_o * g.patch);
      });
      if (!good) finite = false;
    });
  }
  return finite;
}

template bool winograd_weight_grad(const Geometry&, const float*, const float*, float*);
template bool winograd_weight_grad(const Geometry&, const double*, const double*, double*);

}  // namespace pkg::conv

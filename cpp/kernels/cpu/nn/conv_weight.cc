// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv_weight.cc: the gradient of 2-D convolution for its weights.
//
// Patches times the gradient of the maps, summed over outputs and samples: a matrix
// (C / groups * kH * kW, O / groups), the weight's transposed.
#include "dispatcher/library.h"
#include "kernels/cpu/nn/winograd.h"

namespace pkg {
namespace {

using conv::Geometry, conv::Source, conv::Tile;
// Sums are made in blocks of samples, whose number depends on the shapes alone: the result
// must not depend on the threads.  A block has enough terms to pay for its sums.
constexpr int64_t kBlocks = 8, kBlockElements = 1 << 22, kBlockTerms = 2048;
constexpr int64_t kNearElements = 1 << 16;  // images that lie in the cache together

template <class T>
class Worker {
 public:
  // `together`: samples whose outputs are terms of one panel.
  Worker(const Geometry& g, const Source& s, int64_t most_rows, int64_t most_channels,
         int64_t together)
      : g_(g),
        s_(s),
        packed_(empty(Shape{gemm::kMostRows * gemm::kRowStep}, dtype_of<T>)),
        width_(gemm::strip_columns<T>()),
        strips_(size_t((g.group_o + width_ - 1) / width_)),
        columns_(
            empty(Shape{int64_t(strips_.size()) * width_ * gemm::kDepth}, dtype_of<T>)) {
    for (int64_t i = 0; i < together; ++i) {
      tiles_.emplace_back(s, most_rows, most_channels, s.as_it_stands());
    }
    for (int64_t p = 0; p < gemm::kDepth; ++p) in_strip_[p] = p * width_;
  }

  // Adds the part of some rows of outputs of some samples, for some channels of a group:
  // `image` are their planes, `maps` those of the gradient.
  void add(const T* image, int64_t channels, const T* maps, int64_t samples, int64_t row,
           int64_t rows, T* sums) {
    for (int64_t i = 0; i < samples; ++i) {
      tiles_[size_t(i)].load(image + i * g_.c * g_.h * g_.w, channels, row, rows);
    }
    tiles_[0].places(s_.taps, channels, places_);
    // As many rows as a panel is deep, or parts of one.
    const int64_t step = std::max<int64_t>(1, gemm::kDepth / s_.grid_w);
    const int64_t piece = std::min(s_.grid_w, gemm::kDepth);
    for (int64_t r = 0; r < rows; r += step) {
      for (int64_t x = 0; x < s_.grid_w; x += piece) {
        add_outputs(maps + (row + r) * s_.grid_w + x, samples, r * s_.width() + x,
                    std::min(step, rows - r), std::min(piece, s_.grid_w - x), sums);
      }
    }
  }

 private:
  // Of `rows` x `columns` outputs of each sample; the first is `first` in the tile's planes.
  void add_outputs(const T* maps, int64_t samples, int64_t first, int64_t rows,
                   int64_t columns, T* sums) {
    const int64_t each = rows * columns, depth = samples * each, o = g_.group_o;
    const int64_t panel = gemm::panel_rows(int64_t(places_.size()));
    const int64_t map = g_.oh * g_.ow;
    T *packed = packed_.data<T>(), *strip = columns_.data<T>();
    for (size_t s = 0; o > 1 && s < strips_.size(); ++s) {
      const int64_t at = int64_t(s) * width_;
      strips_[s] = {strip, in_strip_};
      for (int64_t i = 0; i < samples; ++i, strip += each * width_) {
        gemm::pack(gemm::Strided<T>{maps + (i * g_.o + at) * map, 1, map}, each,
                   std::min(width_, o - at), width_, strip, width_);
      }
    }
    for (int64_t i = 0; i < int64_t(places_.size()); i += panel) {
      const int64_t height = std::min(panel, int64_t(places_.size()) - i);
      take(i, height, samples, first, rows, columns, packed);
      if (o == 1) {  // a column of products; such samples come one by one
        gemm::add_dots<T>(packed, height, depth, maps, sums + i);
      } else {
        gemm::multiply_panel<T>(packed, height, o, depth, strips_.data(), {sums + i * o, o},
                                sums + i * o, o);
      }
    }
  }
  // Rows of patches.
  void take(int64_t i, int64_t height, int64_t samples, int64_t first, int64_t rows,
            int64_t columns, T* packed) const {
    // Rows that follow one another are one.
    const bool one = columns == s_.width();
    const int64_t run = one ? rows * columns : columns, runs = one ? 1 : rows;
    with_isa([&, this] {
      for (int64_t k = 0; k < height; ++k) {
        T* to = packed + k * gemm::kRowStep;
        for (int64_t sample = 0; sample < samples; ++sample) {
          const T* from = tiles_[size_t(sample)].data() + places_[size_t(i + k)] + first;
          for (int64_t r = 0; r < runs; ++r, from += s_.width(), to += run) {
            for (int64_t x = 0; x < run; ++x) to[x] = from[x];
          }
        }
      }
    });
  }

  const Geometry& g_;
  const Source& s_;
  std::vector<Tile<T>> tiles_;
  Tensor packed_;
  const int64_t width_;
  std::vector<gemm::Strip<T>> strips_;
  Tensor columns_;
  std::vector<int64_t> places_;
  int64_t in_strip_[gemm::kDepth];
};

void weight_grad_kernel(Tensor& out, const Tensor& grad, const Tensor& input, const Shape&,
                        const Shape& stride, const Shape& padding, const Shape& dilation,
                        int64_t groups) {
  const Geometry g(input.sizes(), grad.sizes(), out.sizes(), stride, padding, dilation,
                   groups);
  with_compute_type("conv2d", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Rows<T> g_in(grad), x_in(input);
    const RowsOut<T> to(out);
    const int64_t size = out.numel(), kernel = g.kh * g.kw;
    if (g.empty()) {
      std::fill_n(to.data(), size, T(0));
      return;
    }
    if (conv::winograd_weight_pays(g) &&
        conv::winograd_weight_grad(g, x_in.data(), g_in.data(), to.data())) {
      return;
    }
    const Source s = g.source();
    const int64_t rows = conv::rows_per_tile(s);
    const int64_t terms = g.n * g.oh * g.ow;
    const int64_t blocks = std::clamp<int64_t>(
        std::min(kBlockElements / size, terms / kBlockTerms), 1, std::min(g.n, kBlocks));
    // Small maps of several samples together are as many terms as a panel is deep.
    const int64_t near = kNearElements / std::max<int64_t>(g.group_c * g.h * g.w, 1);
    const int64_t together = g.group_o == 1
                                 ? 1
                                 : std::clamp<int64_t>(
                                       std::min(near, gemm::kDepth / (g.oh * g.ow)), 1,
                                       (g.n + blocks - 1) / blocks);
    // Few blocks are cut by channels too; that changes no bit.
    const int64_t wanted = 2 * num_threads();
    const int64_t cuts = num_threads() == 1 || blocks * groups >= wanted
                             ? 1
                             : std::min(g.group_c, wanted);
    const Tensor parts = empty(Shape{blocks * size}, dtype_of<T>);
    parallel_for(0, blocks * groups * cuts, 1, [&](int64_t begin, int64_t end) {
      Worker<T> worker(g, s, rows, (g.group_c + cuts - 1) / cuts, together);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t cut = i % cuts, group = i / cuts % groups, block = i / cuts / groups;
        const int64_t channel = g.group_c * cut / cuts;
        const int64_t channels = g.group_c * (cut + 1) / cuts - channel;
        T* sums = parts.data<T>() + block * size +
                  (group * g.patch + channel * kernel) * g.group_o;
        std::fill_n(sums, channels * kernel * g.group_o, T(0));
        const int64_t last = g.n * (block + 1) / blocks;
        for (int64_t sample = g.n * block / blocks; sample < last; sample += together) {
          const int64_t plane = sample * g.c + group * g.group_c + channel;
          const int64_t map = sample * g.o + group * g.group_o;
          for (int64_t row = 0; row < g.oh; row += rows) {
            worker.add(x_in.data() + plane * g.h * g.w, channels,
                       g_in.data() + map * g.oh * g.ow, std::min(together, last - sample),
                       row, std::min(rows, g.oh - row), sums);
            stop_point();
          }
        }
      }
    });
    T* sums = parts.data<T>();
    parallel_for(0, size, kGrain, [=](int64_t begin, int64_t end) {
      with_isa([=] {
        for (int64_t block = 1; block < blocks; ++block) {
          const T* part = sums + block * size;
          for (int64_t i = begin; i < end; ++i) sums[i] += part[i];
        }
      });
    });
    for (int64_t group = 0; group < groups; ++group) {  // and transposed
      const T* from = sums + group * g.patch * g.group_o;
      parallel_for(
          0, g.group_o, 1 + kGrain / g.patch, [=, &g, &to](int64_t begin, int64_t end) {
            gemm::pack(gemm::Strided<T>{from + begin, 1, g.group_o}, end - begin, g.patch,
                       g.patch, to.data() + (group * g.group_o + begin) * g.patch, g.patch);
          });
    }
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("_conv2d_weight_grad", weight_grad_kernel); }

}  // namespace
}  // namespace pkg

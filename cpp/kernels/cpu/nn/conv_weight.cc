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
// must not depend on the threads.
constexpr int64_t kBlocks = 8, kBlockElements = 1 << 22;

template <class T>
class Worker {
 public:
  Worker(const Geometry& g, const Source& s, int64_t most_rows, int64_t most_channels)
      : g_(g),
        s_(s),
        tile_(s, most_rows, most_channels),
        packed_(empty(Shape{gemm::kMostRows * gemm::kRowStep}, dtype_of<T>)),
        width_(gemm::strip_columns<T>()),
        strips_(size_t((g.group_o + width_ - 1) / width_)),
        columns_(
            empty(Shape{int64_t(strips_.size()) * width_ * gemm::kDepth}, dtype_of<T>)) {
    for (int64_t p = 0; p < gemm::kDepth; ++p) in_strip_[p] = p * width_;
  }

  // Adds the part of some rows of outputs of a sample, for some channels of a group: `image` are
  // their planes, `maps` those of the gradient.
  void add(const T* image, int64_t channels, const T* maps, int64_t row, int64_t rows,
           T* sums) {
    tile_.load(image, channels, row, rows);
    tile_.places(s_.taps, channels, places_);
    // As many rows as a panel is deep, or parts of one.
    const int64_t step = std::max<int64_t>(1, gemm::kDepth / s_.grid_w);
    const int64_t piece = std::min(s_.grid_w, gemm::kDepth);
    for (int64_t r = 0; r < rows; r += step) {
      for (int64_t x = 0; x < s_.grid_w; x += piece) {
        add_outputs(maps + (row + r) * s_.grid_w + x, r * s_.width() + x,
                    std::min(step, rows - r), std::min(piece, s_.grid_w - x), sums);
      }
    }
  }

 private:
  // Of `rows` x `columns` outputs; the first is `first` in the tile's planes.
  void add_outputs(const T* maps, int64_t first, int64_t rows, int64_t columns, T* sums) {
    const int64_t depth = rows * columns, o = g_.group_o;
    const int64_t panel = gemm::panel_rows(int64_t(places_.size()));
    T *packed = packed_.data<T>(), *strip = columns_.data<T>();
    if (o == 1) {  // a column of products
      for (int64_t i = 0; i < int64_t(places_.size()); i += panel) {
        const int64_t height = std::min(panel, int64_t(places_.size()) - i);
        take(i, height, first, rows, columns, packed);
        gemm::add_dots<T>(packed, height, depth, maps, sums + i);
      }
      return;
    }
    for (size_t s = 0; s < strips_.size(); ++s, strip += depth * width_) {
      const int64_t at = int64_t(s) * width_;
      gemm::pack(gemm::Strided<T>{maps + at * g_.oh * g_.ow, 1, g_.oh * g_.ow}, depth,
                 std::min(width_, o - at), width_, strip, width_);
      strips_[s] = {strip, in_strip_};
    }
    for (int64_t i = 0; i < int64_t(places_.size()); i += panel) {
      const int64_t height = std::min(panel, int64_t(places_.size()) - i);
      take(i, height, first, rows, columns, packed);
      gemm::multiply_panel<T>(packed, height, o, depth, strips_.data(), {sums + i * o, o},
                              sums + i * o, o);
    }
  }
  // Rows of patches: widths of small images are constants, so that a row is a vector or two.
  void take(int64_t i, int64_t height, int64_t first, int64_t rows, int64_t columns,
            T* packed) const {
    const auto run = [&](auto count) {
      with_isa([&] {
        for (int64_t k = 0; k < height; ++k) {
          const T* from = tile_.data() + places_[size_t(i + k)] + first;
          T* to = packed + k * gemm::kRowStep;
          for (int64_t r = 0; r < rows; ++r, from += s_.width(), to += count) {
            for (int64_t x = 0; x < count; ++x) to[x] = from[x];
          }
        }
      });
    };
    switch (columns) {
      case 4: return run(std::integral_constant<int64_t, 4>());
      case 7: return run(std::integral_constant<int64_t, 7>());
      case 8: return run(std::integral_constant<int64_t, 8>());
      case 14: return run(std::integral_constant<int64_t, 14>());
      case 16: return run(std::integral_constant<int64_t, 16>());
      case 28: return run(std::integral_constant<int64_t, 28>());
      case 32: return run(std::integral_constant<int64_t, 32>());
      default: return run(columns);
    }
  }

  const Geometry& g_;
  const Source& s_;
  Tile<T> tile_;
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
    const int64_t blocks = std::min(g.n,
                                    std::clamp<int64_t>(kBlockElements / size, 1, kBlocks));
    // Few blocks are cut by channels too; that changes no bit.
    const int64_t wanted = 2 * num_threads();
    const int64_t cuts = num_threads() == 1 || blocks * groups >= wanted
                             ? 1
                             : std::min(g.group_c, wanted);
    const Tensor parts = empty(Shape{blocks * size}, dtype_of<T>);
    parallel_for(0, blocks * groups * cuts, 1, [&](int64_t begin, int64_t end) {
      Worker<T> worker(g, s, rows, (g.group_c + cuts - 1) / cuts);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t cut = i % cuts, group = i / cuts % groups, block = i / cuts / groups;
        const int64_t channel = g.group_c * cut / cuts;
        const int64_t channels = g.group_c * (cut + 1) / cuts - channel;
        T* sums = parts.data<T>() + block * size +
                  (group * g.patch + channel * kernel) * g.group_o;
        std::fill_n(sums, channels * kernel * g.group_o, T(0));
        for (int64_t sample = g.n * block / blocks; sample < g.n * (block + 1) / blocks;
             ++sample) {
          const int64_t plane = sample * g.c + group * g.group_c + channel;
          const int64_t map = sample * g.o + group * g.group_o;
          for (int64_t row = 0; row < g.oh; row += rows) {
            worker.add(x_in.data() + plane * g.h * g.w, channels,
                       g_in.data() + map * g.oh * g.ow, row, std::min(rows, g.oh - row),
                       sums);
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

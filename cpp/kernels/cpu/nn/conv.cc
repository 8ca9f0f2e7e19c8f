// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv.cc: 2-D convolution and its two gradients as matrix products.
//
// The patches that a kernel sees become the columns of a matrix (im2col; Chellapilla et
// al. 2006), not for the whole batch but for one tile of output positions at a time,
// which stays in cache.  With W of shape (O, K), K = C / groups * kH * kW:
//   output = W @ patches,  dpatches = W.T @ grad,  dW = sum of grad @ patches.T.
#include "dispatcher/library.h"
#include "kernels/cpu/linalg/blas.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

constexpr int64_t kTilePositions = 256;   // several small images make one tile
constexpr int64_t kLargestTile = 2048;    // a large image makes several
// The weight's gradient is summed in blocks of samples, whose number depends on the
// shapes alone: the result must not depend on the threads.
constexpr int64_t kWeightGradBlocks = 8, kWeightGradElements = 1 << 22;

// Some rows of the maps of some consecutive samples.
struct Tile {
  int64_t sample, samples, row, rows;
};

// One convolution of images (N, C, H, W) to maps (N, O, OH, OW).
struct Geometry {
  int64_t n, c, h, w, o, oh, ow, kh, kw;
  int64_t sh, sw, ph, pw, dh, dw, groups;
  int64_t padded_h, padded_w;
  int64_t group_c, group_o;
  int64_t patch;  // K
  int64_t unit;   // samples worked on together
  int64_t units;

  Geometry(const Shape& image, const Shape& map, const Shape& weight, const Shape& stride,
           const Shape& padding, const Shape& dilation, int64_t groups_in)
      : n(image[0]), c(image[1]), h(image[2]), w(image[3]), o(map[1]), oh(map[2]),
        ow(map[3]), kh(weight[2]), kw(weight[3]), sh(stride[0]), sw(stride[1]),
        ph(padding[0]), pw(padding[1]), dh(dilation[0]), dw(dilation[1]),
        groups(groups_in), padded_h(h + 2 * ph), padded_w(w + 2 * pw),
        group_c(c / groups), group_o(o / groups), patch(group_c * kh * kw),
        unit(std::clamp<int64_t>(kTilePositions / std::max<int64_t>(1, oh * ow), 1,
                                 std::max<int64_t>(1, n))),
        units((n + unit - 1) / unit) {}

  bool empty() const { return n * o * oh * ow * patch == 0; }
  int64_t padded_size() const { return c * padded_h * padded_w; }
  int64_t most_positions() const {
    return unit > 1 ? unit * oh * ow : rows_per_tile() * ow;
  }
  int64_t rows_per_tile() const {
    return std::clamp<int64_t>(kLargestTile / std::max<int64_t>(1, ow), 1, oh);
  }
  // Runs f(tile) for the samples of unit number i.
  template <class F>
  void for_tiles(int64_t i, F f) const {
    const int64_t first = i * unit, count = std::min(unit, n - first);
    const int64_t step = count > 1 ? oh : rows_per_tile();
    for (int64_t row = 0; row < oh; row += step) {
      f(Tile{first, count, row, std::min(step, oh - row)});
      stop_point();
    }
  }
  int64_t positions(const Tile& t) const { return t.samples * t.rows * ow; }
};

// Working memory of one thread; its contents are garbage at first.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n) : memory_(pkg::empty(Shape{n}, dtype_of<T>)) {}
  T* data() const { return memory_.data<T>(); }

 private:
  Tensor memory_;
};

// The samples of a tile with zeros around each plane.
template <class T>
const T* padded(const Geometry& g, const Tile& t, const T* images, T* scratch) {
  const T* from = images + t.sample * g.c * g.h * g.w;
  if (g.ph == 0 && g.pw == 0) return from;
  const int64_t plane = g.padded_h * g.padded_w;
  std::fill_n(scratch, t.samples * g.c * plane, T(0));
  for (int64_t i = 0; i < t.samples * g.c; ++i) {
    T* to = scratch + i * plane + g.ph * g.padded_w + g.pw;
    for (int64_t y = 0; y < g.h; ++y) {
      std::copy_n(from + (i * g.h + y) * g.w, g.w, to + y * g.padded_w);
    }
  }
  return scratch;
}

// Runs f(row of the patch matrix, its memory in the image) for all patch elements of a
// group and all rows of the tile: OW elements each, sw apart in the image.
template <class T, class F>
inline void for_patch_rows(const Geometry& g, const Tile& t, int64_t group, T* image,
                           F f) {
  int64_t at = 0;
  for (int64_t c = 0; c < g.group_c; ++c) {
    for (int64_t i = 0; i < g.kh; ++i) {
      for (int64_t j = 0; j < g.kw; ++j) {
        for (int64_t s = 0; s < t.samples; ++s) {
          T* from = image +
                    ((s * g.c + group * g.group_c + c) * g.padded_h + t.row * g.sh +
                     i * g.dh) * g.padded_w + j * g.dw;
          for (int64_t r = 0; r < t.rows; ++r, at += g.ow) f(at, from + r * g.sh * g.padded_w);
        }
      }
    }
  }
}

// Calls f(width, step) with constants for the widths of small images: a row is then one
// vector move.
template <class F>
inline void with_row(const Geometry& g, F f) {
  const std::integral_constant<int64_t, 1> one;
  if (g.sw != 1) return f(g.ow, g.sw);
  switch (g.ow) {
    case 4: return f(std::integral_constant<int64_t, 4>(), one);
    case 7: return f(std::integral_constant<int64_t, 7>(), one);
    case 8: return f(std::integral_constant<int64_t, 8>(), one);
    case 14: return f(std::integral_constant<int64_t, 14>(), one);
    case 16: return f(std::integral_constant<int64_t, 16>(), one);
    default: return f(g.ow, one);
  }
}

template <class T>
void gather_patches(const Geometry& g, const Tile& t, int64_t group, const T* image,
                    T* patches) {
  with_row(g, [&](auto width, auto step) {
    with_isa([&] {
      for_patch_rows(g, t, group, image, [=](int64_t at, const T* from) {
        for (int64_t x = 0; x < width; ++x) patches[at + x] = from[x * step];
      });
    });
  });
}

template <class T>
void add_patches(const Geometry& g, const Tile& t, int64_t group, const T* patches,
                 T* image) {
  with_row(g, [&](auto width, auto step) {
    with_isa([&] {
      for_patch_rows(g, t, group, image, [=](int64_t at, T* to) {
        for (int64_t x = 0; x < width; ++x) to[x * step] += patches[at + x];
      });
    });
  });
}

// Runs f(place in the maps, place in the tile's matrix (O / groups, positions), count).
template <class F>
inline void for_map_rows(const Geometry& g, const Tile& t, int64_t group, F f) {
  const int64_t count = t.rows * g.ow;
  int64_t at = 0;
  for (int64_t o = 0; o < g.group_o; ++o) {
    for (int64_t s = 0; s < t.samples; ++s, at += count) {
      const int64_t channel = group * g.group_o + o;
      f(channel, (((t.sample + s) * g.o + channel) * g.oh + t.row) * g.ow, at, count);
    }
  }
}

template <class T>
void gather_maps(const Geometry& g, const Tile& t, int64_t group, const T* maps, T* tile) {
  for_map_rows(g, t, group, [=](int64_t, int64_t from, int64_t at, int64_t count) {
    std::copy_n(maps + from, count, tile + at);
  });
}

void forward_kernel(Tensor& out, const Tensor& input, const Tensor& weight,
                    const Tensor& bias, const Shape& stride, const Shape& padding,
                    const Shape& dilation, int64_t groups) {
  const Geometry g(input.sizes(), out.sizes(), weight.sizes(), stride, padding, dilation,
                   groups);
  with_compute_type("conv2d", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Rows<T> x_in(input), w_in(weight);
    const RowsOut<T> to(out);
    std::optional<Rows<T>> b_in;
    if (bias.defined()) b_in.emplace(bias);
    const T *xs = x_in.data(), *ws = w_in.data(), *b = b_in ? b_in->data() : nullptr;
    T* ys = to.data();
    if (g.empty()) {  // no patch: only the bias is left
      const int64_t plane = g.oh * g.ow;
      for (int64_t i = 0; i < g.n * g.o; ++i) {
        std::fill_n(ys + i * plane, plane, b ? b[i % g.o] : T(0));
      }
      return;
    }
    parallel_for(0, g.units, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> image(g.unit * g.padded_size());
      const Scratch<T> patches(g.patch * g.most_positions());
      const Scratch<T> maps(g.group_o * g.most_positions());
      const T* padded_at = nullptr;
      for (int64_t i = begin; i < end; ++i) {
        g.for_tiles(i, [&](const Tile& t) {
          if (t.row == 0) padded_at = padded(g, t, xs, image.data());
          const int64_t n = g.positions(t);
          for (int64_t group = 0; group < g.groups; ++group) {
            gather_patches(g, t, group, padded_at, patches.data());
            blas::gemm(false, false, g.group_o, n, g.patch,
                       ws + group * g.group_o * g.patch, g.patch, patches.data(), n,
                       maps.data(), n, T(0));
            for_map_rows(g, t, group, [=, from = maps.data()](int64_t channel, int64_t at,
                                                             int64_t i, int64_t count) {
              const T add = b ? b[channel] : T(0);
              for (int64_t k = 0; k < count; ++k) ys[at + k] = from[i + k] + add;
            });
          }
        });
      }
    });
  });
}

void input_grad_kernel(Tensor& out, const Tensor& grad, const Tensor& weight, const Shape&,
                       const Shape& stride, const Shape& padding, const Shape& dilation,
                       int64_t groups) {
  const Geometry g(out.sizes(), grad.sizes(), weight.sizes(), stride, padding, dilation,
                   groups);
  with_compute_type("conv2d", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Rows<T> g_in(grad), w_in(weight);
    const RowsOut<T> to(out);
    const T *gs = g_in.data(), *ws = w_in.data();
    T* xs = to.data();
    if (g.empty()) {
      std::fill_n(xs, out.numel(), T(0));
      return;
    }
    parallel_for(0, g.units, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> image(g.unit * g.padded_size());
      const Scratch<T> patches(g.patch * g.most_positions());
      const Scratch<T> maps(g.group_o * g.most_positions());
      for (int64_t i = begin; i < end; ++i) {
        std::fill_n(image.data(), g.unit * g.padded_size(), T(0));
        g.for_tiles(i, [&](const Tile& t) {
          const int64_t n = g.positions(t);
          for (int64_t group = 0; group < g.groups; ++group) {
            gather_maps(g, t, group, gs, maps.data());
            blas::gemm(true, false, g.patch, n, g.group_o,
                       ws + group * g.group_o * g.patch, g.patch, maps.data(), n,
                       patches.data(), n, T(0));
            add_patches(g, t, group, patches.data(), image.data());
          }
        });
        const int64_t first = i * g.unit, planes = std::min(g.unit, g.n - first) * g.c;
        const int64_t plane = g.padded_h * g.padded_w;
        for (int64_t p = 0; p < planes; ++p) {
          const T* from = image.data() + p * plane + g.ph * g.padded_w + g.pw;
          T* x = xs + (first * g.c + p) * g.h * g.w;
          for (int64_t y = 0; y < g.h; ++y) {
            std::copy_n(from + y * g.padded_w, g.w, x + y * g.w);
          }
        }
      }
    });
  });
}

void weight_grad_kernel(Tensor& out, const Tensor& grad, const Tensor& input, const Shape&,
                        const Shape& stride, const Shape& padding, const Shape& dilation,
                        int64_t groups) {
  const Geometry g(input.sizes(), grad.sizes(), out.sizes(), stride, padding, dilation,
                   groups);
  with_compute_type("conv2d", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Rows<T> g_in(grad), x_in(input);
    const RowsOut<T> to(out);
    const T *gs = g_in.data(), *xs = x_in.data();
    T* ws = to.data();
    const int64_t size = out.numel();
    std::fill_n(ws, size, T(0));
    if (g.empty()) return;
    const int64_t blocks = std::min(
        g.units, std::clamp<int64_t>(kWeightGradElements / size, 1, kWeightGradBlocks));
    const Scratch<T> parts(blocks * size);
    parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> image(g.unit * g.padded_size());
      const Scratch<T> patches(g.patch * g.most_positions());
      const Scratch<T> maps(g.group_o * g.most_positions());
      const T* padded_at = nullptr;
      for (int64_t block = begin; block < end; ++block) {
        T* part = parts.data() + block * size;
        std::fill_n(part, size, T(0));
        for (int64_t i = g.units * block / blocks; i < g.units * (block + 1) / blocks; ++i) {
          g.for_tiles(i, [&](const Tile& t) {
            if (t.row == 0) padded_at = padded(g, t, xs, image.data());
            const int64_t n = g.positions(t);
            for (int64_t group = 0; group < g.groups; ++group) {
              gather_patches(g, t, group, padded_at, patches.data());
              gather_maps(g, t, group, gs, maps.data());
              blas::gemm(false, true, g.group_o, g.patch, n, maps.data(), n,
                         patches.data(), n, part + group * g.group_o * g.patch, g.patch,
                         T(1));
            }
          });
        }
      }
    });
    for (int64_t block = 0; block < blocks; ++block) {
      const T* part = parts.data() + block * size;
      with_isa([=] {
        for (int64_t i = 0; i < size; ++i) ws[i] += part[i];
      });
    }
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_conv2d", forward_kernel);
  m.impl("_conv2d_input_grad", input_grad_kernel);
  m.impl("_conv2d_weight_grad", weight_grad_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv.cc: 2-D convolution, and its gradient for the images, which is a
// convolution of the maps: with a stride, one for each phase of the image.
#include "dispatcher/library.h"
#include "kernels/cpu/nn/conv_sums.h"
#include "kernels/cpu/nn/winograd.h"

namespace pkg {
namespace {

using conv::Correlation, conv::Geometry, conv::Source, conv::Tap;

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
    const T* b = b_in ? b_in->data() : nullptr;
    if (g.empty()) {  // no patch: only the bias is left
      const int64_t plane = g.oh * g.ow;
      for (int64_t i = 0; i < g.n * g.o; ++i) {
        std::fill_n(to.data() + i * plane, plane, b ? b[i % g.o] : T(0));
      }
      return;
    }
    if (g.three_by_three()) {
      const conv::Winograd<T> fast{g.n,
                                   groups,
                                   g.group_o,
                                   g.group_c,
                                   g.oh,
                                   g.ow,
                                   g.h,
                                   g.w,
                                   g.ph,
                                   g.pw,
                                   x_in.data(),
                                   w_in.data(),
                                   g.group_o * g.patch,
                                   g.patch,
                                   9,
                                   false,
                                   b,
                                   to.data()};
      if (fast.pays() && fast.run()) return;
    }
    Correlation<T> c{g.source(), {}, groups, g.group_o, g.oh, g.ow, 1, 1, b};
    c.parts.push_back({c.source.taps, w_in.data(), 0, 0, {}});
    conv::run(c, g.n, x_in.data(), to.data());
  });
}

// The taps by which the images' elements (t * sh + first_y, u * sw + first_x) were seen,
// relative to map element (t, u); their places in the kernel.
struct Seen {
  std::vector<Tap> taps;
  std::vector<int64_t> places;
  int64_t first_y, first_x;
};

// Where the places of a kernel's side first meet the images, each once.
std::vector<int64_t> first_seen(int64_t places, int64_t dilation, int64_t pad, int64_t step,
                                int64_t size) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < places; ++i) {
    const int64_t at = ((i * dilation - pad) % step + step) % step;
    if (at < size) all.push_back(at);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// For each phase of the images of which anything was seen: with a large stride few are.
std::vector<Seen> seen_by(const Geometry& g) {
  std::vector<Seen> all;
  const auto columns = first_seen(g.kw, g.dw, g.pw, g.sw, g.w);
  for (int64_t y : first_seen(g.kh, g.dh, g.ph, g.sh, g.h)) {
    for (int64_t x : columns) {
      Seen seen{{}, {}, y, x};
      for (int64_t i = 0; i < g.kh; ++i) {
        const int64_t dy = y + g.ph - i * g.dh;
        if (dy % g.sh != 0) continue;
        for (int64_t j = 0; j < g.kw; ++j) {
          const int64_t dx = x + g.pw - j * g.dw;
          if (dx % g.sw != 0) continue;
          seen.taps.push_back({0, 0, dy / g.sh, dx / g.sw});
          seen.places.push_back(i * g.kw + j);
        }
      }
      all.push_back(std::move(seen));
    }
  }
  return all;
}

void input_grad_kernel(Tensor& out, const Tensor& grad, const Tensor& weight, const Shape&,
                       const Shape& stride, const Shape& padding, const Shape& dilation,
                       int64_t groups) {
  const Geometry g(out.sizes(), grad.sizes(), weight.sizes(), stride, padding, dilation,
                   groups);
  with_compute_type("conv2d", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Rows<T> g_in(grad), w_in(weight);
    const RowsOut<T> to(out);
    if (g.empty() || out.numel() == 0) {
      std::fill_n(to.data(), out.numel(), T(0));
      return;
    }
    if (g.three_by_three()) {
      const conv::Winograd<T> fast{g.n,
                                   groups,
                                   g.group_c,
                                   g.group_o,
                                   g.h,
                                   g.w,
                                   g.oh,
                                   g.ow,
                                   2 - g.ph,
                                   2 - g.pw,
                                   g_in.data(),
                                   w_in.data(),
                                   g.group_o * g.patch,
                                   9,
                                   g.patch,
                                   true,
                                   nullptr,
                                   to.data()};
      if (fast.pays() && fast.run()) return;
    }
    std::vector<Seen> all = seen_by(g);
    if (int64_t(all.size()) < std::min(g.sh, g.h) * std::min(g.sw, g.w)) {
      T* zeros = to.data();
      parallel_for(0, out.numel(), kGrain, [=](int64_t begin, int64_t end) {
        std::fill(zeros + begin, zeros + end, T(0));
      });
    }
    Source s{
        g.group_o, g.oh, g.ow, 1, 1, 0, 0, (g.h + g.sh - 1) / g.sh, (g.w + g.sw - 1) / g.sw,
        {}};
    for (const Seen& seen : all) {
      for (const Tap& tap : seen.taps) {
        s.origin_y = std::min(s.origin_y, tap.y);
        s.origin_x = std::min(s.origin_x, tap.x);
      }
    }
    // The weights of each part: (C / groups, O / groups * taps) for each group.
    const Tensor turned = empty(weight.sizes(), dtype_of<T>);
    T* at = turned.data<T>();
    Correlation<T> c{s, {}, groups, g.group_c, g.h, g.w, g.sh, g.sw, nullptr};
    const int64_t kernel = g.kh * g.kw;
    for (Seen& seen : all) {
      for (Tap& tap : seen.taps) tap.y -= s.origin_y, tap.x -= s.origin_x;
      c.source.taps.insert(c.source.taps.end(), seen.taps.begin(), seen.taps.end());
      c.parts.push_back({seen.taps, at, seen.first_y, seen.first_x, {}});
      const int64_t row = g.group_o * int64_t(seen.taps.size());
      parallel_for(0, g.c, 1 + kGrain / 4 / (1 + row), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t group = i / g.group_c, channel = i % g.group_c;
          T* to = at + i * row;
          for (int64_t o = 0; o < g.group_o; ++o) {
            const T* from = w_in.data() +
                            ((group * g.group_o + o) * g.group_c + channel) * kernel;
            for (int64_t place : seen.places) *to++ = from[place];
          }
        }
      });
      at += g.c * row;
    }
    c.source.measure(g.group_c);
    conv::run(c, g.n, g_in.data(), to.data());
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_conv2d", forward_kernel);
  m.impl("_conv2d_input_grad", input_grad_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/batch_norm.cc: normalisation of channels and its gradient.
#include <cmath>
#include <vector>

#include "dispatcher/library.h"
#include "kernels/cpu/nn/moments.h"
#include "kernels/cpu/nn/planes.h"
#include "kernels/cpu/reduce/spread.h"
#include "kernels/cpu/sixteen_runs.h"

namespace pkg {
namespace {

constexpr int64_t kColumns = 1024, kFewColumns = 256;  // of a tile

template <class T>
std::optional<Rows<T>> optional_rows(const Tensor& tensor) {
  if (!tensor.defined()) return std::nullopt;
  return Rows<T>(tensor);
}

// Buffers of one thread: gradients, inputs and the result.
template <class T>
struct Buffers {
  RunBuffer<T> g, x, y;
};

// The same of dense 16-bit floats.
void affine_of_sixteens(const Planes& shape, const Tensor& self, const Tensor& out,
                        const float* ms, const float* as, const float* bs) {
  const auto run = [&](int64_t at, int64_t n, int64_t channel, int) {
    const float *m = ms + channel, *a = as + channel, *b = bs + channel;
    if (shape.side_by_side()) {
      const auto f = [=](int64_t i, float x) { return (x - m[i]) * a[i] + b[i]; };
      map_sixteens(out, at, n, f, self);
    } else {
      const auto f = [p = *m, q = *a, r = *b](int64_t, float x) { return (x - p) * q + r; };
      map_sixteens(out, at, n, f, self);
    }
  };
  for_planes(shape, [] { return 0; }, run);
}

// y = (x - centre) * scale + shift of the channel.
template <class T, class F, class G, class H>
void affine(const Planes& shape, const Tensor& self, Tensor& out, F centre, G scale,
            H shift) {
  const auto ms = spread_out<T>(shape, centre), as = spread_out<T>(shape, scale),
             bs = spread_out<T>(shape, shift);
  if constexpr (std::is_same_v<T, float>) {
    if (are_sixteens(self, out)) {
      return affine_of_sixteens(shape, self, out, ms.data(), as.data(), bs.data());
    }
  }
  const Runs<T> in(self);
  const RunsOut<T> to(out);
  const auto make = [&] {
    return Buffers<T>{{}, RunBuffer<T>(in.room(kRun)), RunBuffer<T>(to.room(kRun))};
  };
  for_planes(shape, make, [&](int64_t at, int64_t n, int64_t channel, Buffers<T>& buffers) {
    const T* x = in.run(at, n, buffers.x.data());
    T* y = to.run(at, buffers.y.data());
    const T *m = ms.data() + channel, *a = as.data() + channel, *b = bs.data() + channel;
    if (shape.side_by_side()) {
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - m[i]) * a[i] + b[i];
    } else {
      const T p = *m, q = *a, r = *b;
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - p) * q + r;
    }
    to.put(at, n, buffers.y.data());
  });
}

void channel_affine_kernel(Tensor& out, const Tensor& self, const Tensor& scale,
                           const Tensor& shift, const Tensor& centre) {
  with_compute_type("batch_norm", out.dtype(), [&]<class T>(TypeTag<T>) {
    const auto a = optional_rows<T>(scale), b = optional_rows<T>(shift),
               m = optional_rows<T>(centre);
    affine<T>(
        Planes(self), self, out, [&](int64_t c) { return m ? m->data()[c] : T(0); },
        [&](int64_t c) { return a ? a->data()[c] : T(1); },
        [&](int64_t c) { return b ? b->data()[c] : T(0); });
  });
}

void batch_norm_kernel(Tensor& out, Tensor& mean, Tensor& variance, const Tensor& self,
                       const Tensor& weight, const Tensor& bias, double eps) {
  Shape dims{0};
  for (int64_t d = 2; d < self.ndim(); ++d) dims.push_back(d);
  with_compute_type("batch_norm", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Planes shape(self);
    const auto w_in = optional_rows<T>(weight), b_in = optional_rows<T>(bias);
    const RowsOut<T> mean_to(mean), variance_to(variance);
    const int64_t channels = shape.channels;
    const Tensor stats = empty(Shape{2, channels}, DType::Float64);
    const Tensor means = alias(stats, Shape{channels}, Shape{1}, 0);
    const Tensor squares = alias(stats, Shape{channels}, Shape{1}, channels);
    run_fold(self, Dims(dims), spread_fold(self.dtype()), {&means, &squares},
             [](const void* states, void* const* into, int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 const auto& state = static_cast<const Moments*>(states)[i];
                 static_cast<double*>(into[0])[i] = state.mean;
                 static_cast<double*>(into[1])[i] = state.squares;
               }
             });
    const double *m = means.data<double>(), *s = squares.data<double>();
    const double n = double(shape.each());
    for (int64_t c = 0; c < channels; ++c) {
      mean_to.data()[c] = T(m[c]);
      variance_to.data()[c] = T(s[c] / n);
    }
    affine<T>(
        shape, self, out, [=](int64_t c) { return T(m[c]); },
        [&](int64_t c) {
          return T((w_in ? double(w_in->data()[c]) : 1.0) / std::sqrt(s[c] / n + eps));
        },
        [&](int64_t c) { return b_in ? b_in->data()[c] : T(0); });
  });
}

// Of each channel the sums of g and of g * (x - mean).
template <class T>
void gradient_sums(const Planes& shape, const Runs<T>& g, const Runs<T>& x, const T* mean,
                   double* sums, double* dots) {
  const int64_t row = shape.row(), places = shape.places;
  if (!shape.side_by_side()) {
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, shape.each()));
    parallel_for(0, shape.channels, grain, [&](int64_t begin, int64_t end) {
      RunBuffer<T> g_buffer(g.room(kRun)), x_buffer(x.room(kRun));
      with_isa([&] {
        for (int64_t c = begin; c < end; ++c) {
          double sum = 0, dot = 0;
          for (int64_t i = 0; i < shape.samples; ++i) {
            for (int64_t at = 0; at < places; at += kRun) {
              const int64_t from = i * row + c * places + at;
              const int64_t n = std::min(kRun, places - at);
              const T *u = g.run(from, n, g_buffer.data()),
                      *v = x.run(from, n, x_buffer.data());
              const T m = mean[c];
              T run_sum, run_dot;
              sums_of<T>(
                  n, [=](int64_t k) { return u[k]; },
                  [=](int64_t k) { return u[k] * (v[k] - m); }, run_sum, run_dot);
              sum += run_sum;
              dot += run_dot;
            }
          }
          sums[c] = sum;
          dots[c] = dot;
        }
      });
    });
    return;
  }
  const auto centre = spread_out<T>(shape, [=](int64_t c) { return mean[c]; });
  // Samples that are together are one row, of which there may be a part at the end.
  const int64_t all = shape.samples * row, wide = row * shape.together();
  Numbers<double> totals(size_t(2 * wide));
  double* total = totals.data();
  const T* middle = centre.data();
  // Wide ones, as memory is read in order, but two where they are worth it.
  const int64_t columns = std::clamp((wide + 1) / 2, kFewColumns, kColumns);
  const int64_t tiles = (wide + columns - 1) / columns;
  const int64_t each = std::max<int64_t>(1, columns * shape.samples);
  const int64_t grain = std::max<int64_t>(1, kGrain / each);
  parallel_for(0, tiles, grain, [&](int64_t begin, int64_t end) {
    RunBuffer<T> g_buffer(g.room(columns)), x_buffer(x.room(columns));
    with_isa([&] {
      for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t at = tile * columns, n = std::min(columns, wide - at);
        double *sum = total + at, *dot = total + wide + at;
        std::fill_n(sum, n, 0.0);
        std::fill_n(dot, n, 0.0);
        T s[kColumns], d[kColumns];
        for (int64_t from = at; from < all; from += 64 * wide) {
          std::fill_n(s, n, T(0));
          std::fill_n(d, n, T(0));
          for (int64_t i = from; i < std::min(from + 64 * wide, all); i += wide) {
            const int64_t some = std::min(n, all - i);
            const T *u = g.run(i, some, g_buffer.data()),
                    *v = x.run(i, some, x_buffer.data());
            for (int64_t k = 0; k < some; ++k) {
              s[k] += u[k];
              d[k] += u[k] * (v[k] - middle[at + k]);
            }
          }
          for (int64_t k = 0; k < n; ++k) {
            sum[k] += double(s[k]);
            dot[k] += double(d[k]);
          }
        }
      }
    });
  });
  for (int64_t i = row; i < wide; ++i) {
    total[i % row] += total[i];
    total[wide + i % row] += total[wide + i];
  }
  for (int64_t c = 0; c < shape.channels; ++c) {
    sums[c] = dots[c] = 0;
    for (int64_t k = c * places; k < (c + 1) * places; ++k) {
      sums[c] += total[k];
      dots[c] += total[wide + k];
    }
  }
}

void channel_sums_kernel(Tensor& dots, Tensor& sums, const Tensor& grad, const Tensor& self,
                         const Tensor& centre) {
  with_compute_type("batch_norm", dots.dtype(), [&]<class T>(TypeTag<T>) {
    const Planes shape(self);
    const Runs<T> g(grad), x(self);
    const auto m = optional_rows<T>(centre);
    const RowsOut<T> dots_to(dots), sums_to(sums);
    const Numbers<T> zeros(size_t(shape.channels), T(0));
    Numbers<double> both(size_t(2 * shape.channels));
    double *sum = both.data(), *dot = sum + shape.channels;
    gradient_sums<T>(shape, g, x, m ? m->data() : zeros.data(), sum, dot);
    for (int64_t c = 0; c < shape.channels; ++c) {
      sums_to.data()[c] = T(sum[c]);
      dots_to.data()[c] = T(dot[c]);
    }
  });
}

// With h = (x - mean) * s, s = 1 / sqrt(variance + eps):
// dx = w * s * (g - average(g) - h * average(g * h)); dw = sum(g * h), db = sum(g).
void batch_norm_backward_kernel(Tensor& grad_x, Tensor& grad_w, Tensor& grad_b,
                                const Tensor& grad, const Tensor& self, const Tensor& mean,
                                const Tensor& variance, const Tensor& weight, double eps) {
  with_compute_type("batch_norm", grad_x.dtype(), [&]<class T>(TypeTag<T>) {
    const Planes shape(self);
    const Runs<T> g_in(grad), x_in(self);
    const Rows<T> mean_in(mean), variance_in(variance);
    const auto w_in = optional_rows<T>(weight);
    const RunsOut<T> x_to(grad_x);
    const RowsOut<T> w_to(grad_w), b_to(grad_b);
    const int64_t channels = shape.channels;
    Numbers<double> sums(size_t(2 * channels));
    double *sum = sums.data(), *dot = sum + channels;
    const T* means = mean_in.data();
    gradient_sums<T>(shape, g_in, x_in, means, sum, dot);
    // dx = g * a + x * b + c
    Numbers<T> factors(size_t(3 * channels));
    T *a = factors.data(), *b = a + channels, *c = b + channels;
    const double n = double(shape.each());
    for (int64_t i = 0; i < channels; ++i) {
      const double s = 1 / std::sqrt(double(variance_in.data()[i]) + eps);
      const double outer = (w_in ? double(w_in->data()[i]) : 1.0) * s;
      w_to.data()[i] = T(n ? dot[i] * s : 0.0);  // there is no variance of nothing
      b_to.data()[i] = T(sum[i]);
      a[i] = T(outer);
      b[i] = T(-outer * s * s * dot[i] / n);
      c[i] = T(-outer * sum[i] / n);
    }
    const auto of = [&](const T* numbers) {
      return spread_out<T>(shape, [=](int64_t i) { return numbers[i]; });
    };
    const auto as = of(a), bs = of(b), cs = of(c), ms = of(means);
    if constexpr (std::is_same_v<T, float>) {
      if (are_sixteens(self, grad_x) && are_sixteens(grad, grad_x)) {
        const auto run = [&](int64_t at, int64_t count, int64_t channel, int) {
          const T *p = as.data() + channel, *q = bs.data() + channel,
                  *r = cs.data() + channel, *m = ms.data() + channel;
          if (shape.side_by_side()) {
            const auto f = [=](int64_t i, float u, float v) {
              return u * p[i] + (v - m[i]) * q[i] + r[i];
            };
            map_sixteens(grad_x, at, count, f, grad, self);
          } else {
            const auto f = [k = *p, l = *q, d = *r, middle = *m](int64_t, float u,
                                                                 float v) {
              return u * k + (v - middle) * l + d;
            };
            map_sixteens(grad_x, at, count, f, grad, self);
          }
        };
        return for_planes(shape, [] { return 0; }, run);
      }
    }
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(g_in.room(kRun)), RunBuffer<T>(x_in.room(kRun)),
                        RunBuffer<T>(x_to.room(kRun))};
    };
    for_planes(shape, make,
               [&](int64_t at, int64_t count, int64_t channel, Buffers<T>& buffers) {
                 const T *u = g_in.run(at, count, buffers.g.data()),
                         *v = x_in.run(at, count, buffers.x.data());
                 T* y = x_to.run(at, buffers.y.data());
                 const T *p = as.data() + channel, *q = bs.data() + channel,
                         *r = cs.data() + channel, *m = ms.data() + channel;
                 if (shape.side_by_side()) {
                   for (int64_t i = 0; i < count; ++i) {
                     y[i] = u[i] * p[i] + (v[i] - m[i]) * q[i] + r[i];
                   }
                 } else {
                   const T k = *p, l = *q, d = *r, middle = *m;
                   for (int64_t i = 0; i < count; ++i)
                     y[i] = u[i] * k + (v[i] - middle) * l + d;
                 }
                 x_to.put(at, count, buffers.y.data());
               });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_channel_affine", channel_affine_kernel);
  m.impl("_channel_sums", channel_sums_kernel);
  m.impl("_batch_norm", batch_norm_kernel);
  m.impl("_batch_norm_backward", batch_norm_backward_kernel);
}

}  // namespace
}  // namespace pkg

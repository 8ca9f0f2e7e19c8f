// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/layer_norm.cc: normalisation of rows (layer_norm, rms_norm, group_norm) and
// its gradient: a walk for the moments of a row, a walk to write it.
//
// Each element of a row has its weight, or, where the weight is (C, 1), each channel of
// (N, C, ...): then a row is a group of channels.
#include "dispatcher/library.h"
#include "kernels/cpu/nn/moments.h"
#include "kernels/cpu/nn/planes.h"
#include "kernels/cpu/nn/row_group.h"
#include "kernels/cpu/sixteen_runs.h"
#include "tensor/fill.h"

namespace pkg {
namespace {

// Which weight an element has: the rows repeat after `period` elements, and each weight
// counts for `places` of them, one after the other.
struct Weights {
  int64_t period, places, repeat = 1;
  Weights(const Tensor& self, const RowShape& rows, const Tensor& weight)
      : period(rows.length), places(1) {
    if (!weight.defined() || weight.ndim() != 2 || rows.count == 0) return;
    period = self.numel() / self.size(0);
    places = period / self.size(1);
    if (places < kFewPlaces) std::swap(repeat, places);
  }
  // The number of weights, of them one row has, and the first of a row.
  int64_t count() const { return period / places; }
  int64_t of_row(int64_t length) const { return length / places; }
  int64_t first(int64_t row, int64_t length) const {
    return row * length % period / places;
  }
  // Whether all rows have the same ones, an element each.
  bool same_for_all(int64_t length) const { return places == 1 && count() == length; }
};

// One number for each weight, as they are read: those given, or the same for all.
template <class T>
class Spread {
 public:
  Spread(const Weights& weights, const Tensor& given, T otherwise) {
    if (given.defined() && weights.repeat == 1) {
      rows_.emplace(given);
      return;
    }
    all_ = RunBuffer<T>(weights.count(), otherwise);
    if (!given.defined()) return;
    const Rows<T> in(given);
    for (int64_t i = 0, at = 0; at < weights.count(); ++i, at += weights.repeat) {
      std::fill_n(all_.data() + at, weights.repeat, in.data()[i]);
    }
  }
  const T* data() const { return rows_ ? rows_->data() : all_.data(); }

 private:
  std::optional<Rows<T>> rows_;
  RunBuffer<T> all_;
};

constexpr int64_t kWholeRow = 1 << 15;  // elements, so that two stay in the second cache

// A row that is one run, which is converted once however often it is walked; else null.
template <class T>
const T* whole_row(const Runs<T>& in, int64_t row, int64_t n, T* buffer) {
  return n <= kWholeRow ? in.run(row * n, n, buffer) : nullptr;
}

// Elements of the buffers for rows of n, or parts of them.
int64_t room_for(int64_t n) { return n <= kWholeRow ? std::max(n, kRun) : kRun; }

// In pieces, which are joined in double; `whole` is the row if it was converted before.
template <class T>
Moments moments_of_row(const T* whole, const Runs<T>& in, int64_t from, int64_t n,
                       bool centred, T* buffer) {
  Moments all;
  for (int64_t at = 0; at < n; at += kRun) {
    const int64_t some = std::min(kRun, n - at);
    all.add(moments(whole ? whole + at : in.run(from + at, some, buffer), some, centred));
  }
  return all;
}

void layer_norm_kernel(Tensor& out, Tensor& mean, Tensor& scale, const Tensor& self,
                       int64_t length, const Tensor& weight, const Tensor& bias, double eps,
                       bool centred) {
  if (self.numel() == 0) return;  // no row; and no sample that tells the count of weights
  with_compute_type("layer_norm", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self, length);
    const Weights weights(self, rows, weight);
    const Runs<T> in(self);
    const RunsOut<T> to(out);
    const RowsOut<T> mean_to(mean), scale_to(scale);
    const bool plain = !weight.defined() && !bias.defined();
    [[maybe_unused]] const bool sixteens = are_sixteens(self, out);
    const Spread<T> w_all(weights, weight, T(1)), b_all(weights, bias, T(0));
    const int64_t n = rows.length, places = weights.places;
    if (n <= kGroupedRow && weights.same_for_all(n)) {
      struct Mine {
        RowGroup<T> group;
        RunBuffer<T> x, y;
      };
      const auto make = [&] {
        return Mine{RowGroup<T>(n), RunBuffer<T>(in.room(kGroup)),
                    RunBuffer<T>(to.room(kGroup))};
      };
      return for_row_groups(rows, make, [&](int64_t row, int64_t count, Mine& mine) {
        T* y = to.run(row * n, mine.y.data());
        mine.group.normalise(in.run(row * n, count * n, mine.x.data()), count,
                             plain ? nullptr : w_all.data(), b_all.data(), eps, centred,
                             mean_to.data() + row, scale_to.data() + row, y);
        to.put(row * n, count * n, y);
      });
    }
    const int64_t grain = std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(1, n));
    parallel_for(0, rows.count, grain, [&](int64_t begin, int64_t end) {
      RunBuffer<T> x_buffer(in.room(room_for(n))), y_buffer(to.room(room_for(n)));
      StopCounter stop;
      for (int64_t row = begin; row < end; ++row) {
        stop(n);
        with_isa([&] {
          const T* whole = whole_row(in, row, n, x_buffer.data());
          const Moments of = moments_of_row(whole, in, row * n, n, centred,
                                            x_buffer.data());
          const T m = T(of.mean), s = T(1 / std::sqrt(of.squares / double(n) + eps));
          mean_to.data()[row] = m;
          scale_to.data()[row] = s;
          const int64_t first = weights.first(row, n);
          const T *ws = w_all.data() + first, *bs = b_all.data() + first;
          for (int64_t at = 0; at < n;) {
            // To the end of a channel at most.
            const int64_t left = places == 1 ? n - at : places - at % places;
            const int64_t some = std::min(kRun, left);
            if constexpr (std::is_same_v<T, float>) {
              if (sixteens && places > 1) {
                const T w = s * ws[at / places], b = bs[at / places];
                map_sixteens(
                    out, row * n + at, some,
                    [=](int64_t, float v) { return plain ? (v - m) * s : (v - m) * w + b; },
                    self);
                at += some;
                continue;
              }
            }
            const T* x = whole ? whole + at : in.run(row * n + at, some, x_buffer.data());
            T* y = to.run(row * n + at, y_buffer.data());
            if (plain) {
              for (int64_t i = 0; i < some; ++i) y[i] = (x[i] - m) * s;
            } else if (places == 1) {
              const T *w = ws + at, *b = bs + at;
              for (int64_t i = 0; i < some; ++i) y[i] = (x[i] - m) * s * w[i] + b[i];
            } else {
              const T w = s * ws[at / places], b = bs[at / places];
              for (int64_t i = 0; i < some; ++i) y[i] = (x[i] - m) * w + b;
            }
            to.put(row * n + at, some, y_buffer.data());
            at += some;
          }
        });
      }
    });
  });
}

// Buffers of one thread: gradients, inputs and the result.
template <class T>
struct GradBuffers {
  RunBuffer<T> g, x, y;
  GradBuffers(const Runs<T>& grad, const Runs<T>& in, const RunsOut<T>& to, int64_t room)
      : g(grad.room(room)), x(in.room(room)), y(to.room(room)) {}
};

// With h = (x - mean) * scale and d = grad * weight:
// dx = scale * (d - average(d) - h * average(d * h)); dw = sum(grad * h), db = sum(grad).
template <class T>
struct Backward {
  const Runs<T>&grad, &in;
  const RunsOut<T>& to;
  const Weights& weights;
  const T *w, *means, *scales;
  int64_t n;
  bool centred;

  // Where each element has its weight; dw and db of the elements grow, unless they are null.
  void elements(int64_t row, GradBuffers<T>& b, T* dw, T* db) const {
    const int64_t first = weights.first(row, n);
    const T m = means[row], s = scales[row], *ws = w + first;
    double sum = 0, dot = 0;
    const T *whole_g = whole_row(grad, row, n, b.g.data()),
            *whole_x = whole_row(in, row, n, b.x.data());
    const auto runs = [&](auto f) {
      for (int64_t at = 0; at < n; at += kRun) {
        const int64_t some = std::min(kRun, n - at);
        f(at, some, whole_g ? whole_g + at : grad.run(row * n + at, some, b.g.data()),
          whole_x ? whole_x + at : in.run(row * n + at, some, b.x.data()));
      }
    };
    runs([&](int64_t at, int64_t some, const T* g, const T* x) {
      T run_sum, run_dot;
      const T* v = ws + at;
      sums_of<T>(
          some, [=](int64_t i) { return g[i] * v[i]; },
          [=](int64_t i) { return g[i] * v[i] * (x[i] - m); }, run_sum, run_dot);
      sum += run_sum;
      dot += run_dot;
    });
    const T flat = centred ? T(sum / double(n)) : T(0), slope = T(dot * s / double(n));
    runs([&](int64_t at, int64_t some, const T* g, const T* x) {
      const T* v = ws + at;
      T* dx = to.run(row * n + at, b.y.data());
      T *p = dw ? dw + first + at : nullptr, *q = dw ? db + first + at : nullptr;
      if (!dw) {
        for (int64_t i = 0; i < some; ++i) {
          dx[i] = s * (g[i] * v[i] - flat - (x[i] - m) * s * slope);
        }
      } else {
#pragma omp simd
        for (int64_t i = 0; i < some; ++i) {
          const T h = (x[i] - m) * s;
          p[i] += g[i] * h;
          q[i] += g[i];
          dx[i] = s * (g[i] * v[i] - flat - h * slope);
        }
      }
      to.put(row * n + at, some, b.y.data());
    });
  }

  // The same of short rows that have the same weights.
  void group(int64_t row, int64_t rows, RowGroup<T>& group, GradBuffers<T>& b, T* dw,
             T* db) const {
    const int64_t at = row * n, some = rows * n;
    T* dx = to.run(at, b.y.data());
    group.differentiate(grad.run(at, some, b.g.data()), in.run(at, some, b.x.data()), rows,
                        w, centred, means + row, scales + row, dw, db, dx);
    to.put(at, some, dx);
  }

  // Where a channel has many places; its sums of this row are dw and db.
  void channels(int64_t row, GradBuffers<T>& b, double* dw, double* db) const {
    const int64_t first = weights.first(row, n), places = weights.places;
    const T m = means[row], s = scales[row], *ws = w + first;
    double sum = 0, dot = 0;
    const T *whole_g = whole_row(grad, row, n, b.g.data()),
            *whole_x = whole_row(in, row, n, b.x.data());
    const auto runs = [&](auto f) {
      for (int64_t at = 0; at < n;) {
        const int64_t some = std::min(kRun, places - at % places);
        f(at / places, at, some,
          whole_g ? whole_g + at : grad.run(row * n + at, some, b.g.data()),
          whole_x ? whole_x + at : in.run(row * n + at, some, b.x.data()));
        at += some;
      }
    };
    runs([&](int64_t c, int64_t, int64_t some, const T* g, const T* x) {
      T run_sum, run_dot;
      sums_of<T>(
          some, [=](int64_t i) { return g[i]; },
          [=](int64_t i) { return g[i] * (x[i] - m); }, run_sum, run_dot);
      db[c] += run_sum;
      dw[c] += double(run_dot) * s;
      sum += double(run_sum) * ws[c];
      dot += double(run_dot) * ws[c];
    });
    const T flat = centred ? T(sum / double(n)) : T(0), slope = T(dot * s / double(n));
    runs([&](int64_t c, int64_t at, int64_t some, const T* g, const T* x) {
      T* dx = to.run(row * n + at, b.y.data());
      const T p = s * ws[c], q = -s * s * slope, r = -s * flat;
      for (int64_t i = 0; i < some; ++i) dx[i] = g[i] * p + (x[i] - m) * q + r;
      to.put(row * n + at, some, b.y.data());
    });
  }
};

// totals[i]: the sum of part[i] of all parts, for i from begin to end.
template <class T>
void add_parts(const T* parts, int64_t number, int64_t count, int64_t begin, int64_t end,
               double* totals) {
  std::fill(totals + begin, totals + end, 0.0);
  for (int64_t part = 0; part < number; ++part) {
    const T* const of = parts + part * count;
    for (int64_t i = begin; i < end; ++i) totals[i] += double(of[i]);
  }
}

void layer_norm_backward_kernel(Tensor& grad_x, Tensor& grad_w, Tensor& grad_b,
                                const Tensor& grad, const Tensor& self, const Tensor& mean,
                                const Tensor& scale, const Tensor& weight, int64_t length,
                                bool centred, bool) {
  if (self.numel() == 0) {  // no element has a share in the weights' gradients
    fill(grad_w, Scalar(0));
    fill(grad_b, Scalar(0));
    return;
  }
  with_compute_type("layer_norm", grad_x.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self, length);
    const Weights weights(self, rows, weight);
    const Runs<T> g_in(grad), x_in(self);
    const Rows<T> mean_in(mean), scale_in(scale);
    const RunsOut<T> to(grad_x);
    const RowsOut<T> w_to(grad_w), b_to(grad_b);
    const Spread<T> w(weights, weight, T(1));
    const Backward<T> backward{
        g_in,   x_in,   to, weights, w.data(), mean_in.data(), scale_in.data(),
        length, centred};
    const int64_t count = weights.count(), row_weights = weights.of_row(length);
    const auto put = [&](const auto* dw, const auto* db, int64_t parts) {
      if (grad_w.numel() == 0) return;
      RunBuffer<double> totals(2 * count);
      double* const of_w = totals.data();
      double* const of_b = of_w + count;
      const int64_t grain = std::max<int64_t>(1, kGrain / parts);
      parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
        with_isa([&] {
          add_parts(dw, parts, count, begin, end, of_w);
          add_parts(db, parts, count, begin, end, of_b);
        });
      });
      for (int64_t i = 0, at = 0; i < grad_w.numel(); ++i) {
        double a = 0, b = 0;
        for (int64_t k = 0; k < weights.repeat; ++k, ++at) {
          a += of_w[at];
          b += of_b[at];
        }
        w_to.data()[i] = T(a);
        b_to.data()[i] = T(b);
      }
    };
    if (weights.places > 1) {
      RunBuffer<double> sums(2 * rows.count * row_weights, 0.0);
      double *dw = sums.data(), *db = dw + rows.count * row_weights;
      const int64_t grain = std::max<int64_t>(1, kGrain / 4 / length);
      parallel_for(0, rows.count, grain, [&](int64_t begin, int64_t end) {
        GradBuffers<T> buffers(g_in, x_in, to, room_for(length));
        StopCounter stop;
        for (int64_t row = begin; row < end; ++row) {
          stop(length);
          with_isa([&] {
            backward.channels(row, buffers, dw + row * row_weights, db + row * row_weights);
          });
        }
      });
      put(dw, db, rows.count * row_weights / count);
      return;
    }
    // Blocks of rows sum the weight's gradients apart; their number depends on the shape
    // alone, so that the result does not depend on the threads.
    const int64_t worth = std::max(rows.count / 16, self.numel() / kGrain);
    const int64_t blocks = std::clamp<int64_t>(worth, 1, std::min<int64_t>(rows.count, 16));
    const bool weighted = grad_w.numel() > 0;
    RunBuffer<T> sums(weighted ? blocks * 2 * count : 0, T(0));
    T *dw = sums.data(), *db = dw + blocks * count;
    parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      GradBuffers<T> buffers(g_in, x_in, to, room_for(length));
      RowGroup<T> group(length);
      const bool groups = length <= kGroupedRow && weights.same_for_all(length);
      StopCounter stop;
      for (int64_t block = begin; block < end; ++block) {
        const int64_t last = rows.count * (block + 1) / blocks;
        T* const to_w = weighted ? dw + block * count : nullptr;
        T* const to_b = db + block * count;
        for (int64_t row = rows.count * block / blocks; row < last;) {
          const int64_t some = groups ? std::min(group.most(), last - row) : 1;
          stop(some * length);
          with_isa([&] {
            if (groups) backward.group(row, some, group, buffers, to_w, to_b);
            else backward.elements(row, buffers, to_w, to_b);
          });
          row += some;
        }
      }
    });
    put(dw, db, blocks);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_layer_norm", layer_norm_kernel);
  m.impl("_layer_norm_backward", layer_norm_backward_kernel);
}

}  // namespace
}  // namespace pkg

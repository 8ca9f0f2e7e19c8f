// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/class_scores.cc: the scores of classes that targets name, negated and
// added up, and the way of gradients back.
#include "dispatcher/library.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

constexpr int64_t kPart = 1024;  // targets whose losses are added up in one go

// Input (N, C) or (N, C, K), which is (N, C, 1) or itself, and its targets (N, K).
struct Places {
  int64_t samples, classes, width;
  int64_t sample_step, class_step, width_step;  // of the input
  const int64_t* targets;
  int64_t target_step, target_width_step, ignore;

  Places(const Tensor& input, const Tensor& target, int64_t ignored)
      : samples(input.size(0)),
        classes(input.size(1)),
        width(input.ndim() == 3 ? input.size(2) : 1),
        sample_step(input.strides()[0]),
        class_step(input.strides()[1]),
        width_step(input.ndim() == 3 ? input.strides()[2] : 0),
        targets(target.data<int64_t>()),
        target_step(target.strides()[0]),
        target_width_step(target.ndim() == 2 ? target.strides()[1] : 0),
        ignore(ignored) {}

  int64_t count() const { return samples * width; }

  // f(i, where the score of target i lies), or -1 where it is ignored.
  template <class F>
  void each(int64_t begin, int64_t end, F f) const {
    if (begin == end) return;
    int64_t n = begin / width, k = begin % width;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = targets[n * target_step + k * target_width_step];
      if (c == ignore) {
        f(i, -1);
      } else {
        check(c, n);
        f(i, n * sample_step + c * class_step + k * width_step);
      }
      if (++k == width) {
        k = 0;
        ++n;
      }
    }
  }
  void check(int64_t c, int64_t n) const {
    PKG_CHECK(c >= 0 && c < classes, IndexError, "[nll_loss] Target ", c,
              " is out of bounds: expected 0 to ", classes - 1, " (sample ", n, ").");
  }
};

// Sum of at most kPart numbers, and how many were not ignored.
struct Part {
  double sum = 0;
  int64_t kept = 0;
};

void losses_kernel(Tensor& out, const Tensor& input, const Tensor& target, int64_t ignore,
                   const std::string& reduction) {
  const Places places(input, target, ignore);
  const int64_t count = places.count(), parts = (count + kPart - 1) / kPart;
  visit_dtype(out.dtype(), [&]<class H>(TypeTag<H>) {
    if constexpr (!kFloatDTypes.has(dtype_of<H>)) {
      detail::unsupported_dtype("nll_loss", out.dtype());
    } else {
      using T = std::conditional_t<std::is_same_v<H, double>, double, float>;
      const H* x = input.data<H>();
      H* y = out.data<H>();
      const bool reduced = reduction != "none";
      std::vector<Part, PoolAllocator<Part>> found(reduced ? size_t(parts) : 0);
      parallel_for(0, parts, 4, [&](int64_t begin, int64_t end) {
        StopCounter stop;
        T losses[kPart];
        for (int64_t p = begin; p < end; ++p) {
          stop(kPart);
          const int64_t first = p * kPart, last = std::min(count, first + kPart);
          if (!reduced) {
            places.each(first, last, [=](int64_t i, int64_t at) {
              y[i] = at < 0 ? H(0) : H(-T(x[at]));
            });
            continue;
          }
          int64_t kept = 0;
          places.each(first, last, [&](int64_t i, int64_t at) {
            losses[i - first] = at < 0 ? T(0) : -T(x[at]);
            kept += at >= 0;
          });
          const auto sum = row_sum<double>(last - first,
                                           [&](int64_t i) { return double(losses[i]); });
          found[size_t(p)] = {sum, kept};
        }
      });
      if (!reduced) return;
      Part all;
      for (const Part& part : found) {
        all.sum += part.sum;
        all.kept += part.kept;
      }
      *y = H(T(reduction == "mean" ? all.sum / double(all.kept) : all.sum));
    }
  });
}

void losses_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& target,
                            const Shape&, int64_t ignore, const std::string& reduction) {
  const Places places(out, target, ignore);
  const int64_t rows = places.classes * places.width;
  with_compute_type("nll_loss", out.dtype(), [&]<class T>(TypeTag<T>) {
    const Rows<T> g_in(grad);
    const T* gs = g_in.data();
    const int64_t step = reduction == "none" ? 1 : 0;
    int64_t kept = 1;
    if (reduction == "mean") {
      kept = 0;
      places.each(0, places.count(), [&](int64_t, int64_t at) { kept += at >= 0; });
    }
    const T divisor = T(std::max<int64_t>(kept, 1));
    visit_dtype(out.dtype(), [&]<class H>(TypeTag<H>) {
      if constexpr (kFloatDTypes.has(dtype_of<H>) &&
                    std::is_same_v<H, double> == std::is_same_v<T, double>) {
        H* y = out.data<H>();
        const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, rows));
        const int64_t group = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, rows));
        parallel_for(0, places.samples, grain, [&](int64_t begin, int64_t end) {
          StopCounter stop;
          for (int64_t n = begin; n < end; n += group) {  // which stay in the cache
            const int64_t last = std::min(end, n + group);
            stop((last - n) * rows);
            std::fill(y + n * rows, y + last * rows, H(0));
            places.each(n * places.width, last * places.width, [=](int64_t i, int64_t at) {
              if (at >= 0) y[at] = H(-gs[i * step] / divisor);
            });
          }
        });
      }
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_nll_loss", losses_kernel);
  m.impl("_nll_loss_backward", losses_backward_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/prod_backward.cc: the product of all others, for each element of a
// line.  Those before times those after, in double, and no division: zeros, infinities and
// NaN need no care.  Lines lie side by side in a block that stays in cache; of one that is
// longer than a block the products before each of its blocks come first.
#include <algorithm>
#include <cmath>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/fold_loops.h"
#include "kernels/cpu/reduce/line_part.h"
#include "kernels/cpu/rows.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

constexpr int64_t kLines = 256;  // of a block, at most
constexpr int64_t kFew = 64;     // that are longer than a block of so many is deep

// x[i * lines + j] is place i of line j.
struct Rectangle {
  const double* x;
  int64_t places, lines;

  void multiply(double* __restrict total) const {
    for (int64_t i = 0; i < places; ++i) {
      const double* row = x + i * lines;
#pragma omp simd
      for (int64_t j = 0; j < lines; ++j) total[j] *= row[j];
    }
  }
  // y is grad times what comes before and after each element.
  void others(double* __restrict y, double* __restrict before, double* __restrict after,
              const double* __restrict grad) const {
    if (lines == 1) return others_of_one(y, before, after, *grad);
    for (int64_t i = places; i-- > 0;) {
      const double* row = x + i * lines;
      double* to = y + i * lines;
#pragma omp simd
      for (int64_t j = 0; j < lines; ++j) {
        to[j] = after[j];
        after[j] *= row[j];
      }
    }
    for (int64_t i = 0; i < places; ++i) {
      const double* row = x + i * lines;
      double* to = y + i * lines;
#pragma omp simd
      for (int64_t j = 0; j < lines; ++j) {
        to[j] = before[j] * to[j] * grad[j];
        before[j] *= row[j];
      }
    }
  }

 private:
  // Each product waits for the one before it: those from both ends at once.
  void others_of_one(double* __restrict y, double* __restrict before,
                     double* __restrict after, double grad) const {
    alignas(64) double front[kLineRoom];
    double b = *before, a = *after;
    for (int64_t i = 0, k = places - 1; i < places; ++i, --k) {
      front[i] = b;
      y[k] = a;
      b *= x[i];
      a *= x[k];
    }
    for (int64_t i = 0; i < places; ++i) y[i] = front[i] * y[i] * grad;
    *before = b;
    *after = a;
  }
};

// A line of its own, in chunks: what comes before and after each of them is
// multiplied from their products, so that threads share them out, and in each the products
// of several chunks wait side by side.
class LongLine {
 public:
  static constexpr int64_t kChunk = 64, kAtOnce = 4;

  // Line j of place o.
  LongLine(const LinePart& in, const LinePart& to, int64_t n, int64_t o, int64_t j)
      : in_(in),
        to_(to),
        n_(n),
        o_(o),
        j_(j),
        chunks_((n + kChunk - 1) / kChunk),
        before_(chunks_ + 1),
        after_(chunks_ + 1),
        tame_(chunks_) {}

  void run(double grad) const {
    for_blocks([&](const double* x, int64_t at, int64_t places) {
      for (int64_t i = 0; i < places; i += kChunk) {
        const int64_t chunk = (at + i) / kChunk, n = std::min(kChunk, places - i);
        tame_[chunk] = tame(x + i, n);
        before_[chunk + 1] = after_[chunk] = product(x + i, n);
      }
    });
    accumulate();
    for_blocks([&](const double* x, int64_t at, int64_t places) {
      alignas(64) double front[kLineRoom], y[kLineRoom];
      int64_t i = 0;
      for (; i + kAtOnce * kChunk <= places; i += kAtOnce * kChunk) {
        walk<kAtOnce>(x + i, kChunk, (at + i) / kChunk, front + i, y + i);
      }
      for (; i < places; i += kChunk) {
        walk<1>(x + i, std::min(kChunk, places - i), (at + i) / kChunk, front + i, y + i);
      }
      for (int64_t k = 0; k < places; ++k) y[k] = front[k] * y[k] * grad;
      to_.send(reinterpret_cast<char*>(y), places, 1, false, to_.at(o_, at, j_));
    });
  }

 private:
  // f(x, first place, places) for all blocks.
  template <class F>
  void for_blocks(F f) const {
    const int64_t blocks = (n_ + kLineRoom - 1) / kLineRoom;
    parallel_for(0, blocks, kGrain / 4 / kLineRoom, [&](int64_t begin, int64_t end) {
      alignas(64) double buffer[kLineRoom];
      StopCounter stop;
      for (int64_t b = begin; b < end; ++b) {
        const int64_t at = b * kLineRoom, places = std::min(kLineRoom, n_ - at);
        in_.bring(in_.at(o_, at, j_), places, 1, false, reinterpret_cast<char*>(buffer));
        stop(places);
        with_isa([&] { f(buffer, at, places); });
      }
    });
  }

  // Whether no product of some of them, in any order, can leave the normal numbers.
  static bool tame(const double* x, int64_t n) {
    constexpr double most = 32768, least = 1 / most;  // 64 of them: 2^-960 to 2^960
    int wild = 0;                                     // NaN too
#pragma omp simd reduction(+ : wild)
    for (int64_t i = 0; i < n; ++i) {
      const double size = std::abs(x[i]);
      wild += !(size <= most && size >= least);
    }
    return wild == 0;
  }
  static double product(const double* x, int64_t n) {
    return product_of<double>(n, [=](int64_t i) { return x[i]; });
  }

  // From the products of chunks to those of all before, and of all after them.
  void accumulate() const {
    alignas(64) double x[kChunk];
    const auto times = [&](double total, int64_t chunk, double product, bool from_end) {
      if (tame_[chunk]) return total * product;
      const int64_t at = chunk * kChunk, n = std::min(kChunk, n_ - at);
      in_.bring(in_.at(o_, at, j_), n, 1, false, reinterpret_cast<char*>(x));
      for (int64_t i = 0; i < n; ++i) total *= x[from_end ? n - 1 - i : i];
      return total;
    };
    before_[0] = after_[chunks_] = 1;
    for (int64_t c = 0; c < chunks_; ++c) {
      before_[c + 1] = times(before_[c], c, before_[c + 1], false);
    }
    for (int64_t c = chunks_; c-- > 0;) {
      after_[c] = times(after_[c + 1], c, after_[c], true);
    }
  }

  // Of so many chunks of n places the products before and after each place.
  template <int64_t count>
  void walk(const double* __restrict x, int64_t n, int64_t chunk, double* __restrict front,
            double* __restrict back) const {
    double b[count], a[count];
    for (int64_t c = 0; c < count; ++c) {
      b[c] = before_[chunk + c];
      a[c] = after_[chunk + c + 1];
    }
    for (int64_t i = 0, k = n - 1; i < n; ++i, --k) {
#pragma GCC unroll 4
      for (int64_t c = 0; c < count; ++c) {
        front[c * kChunk + i] = b[c];
        back[c * kChunk + k] = a[c];
        b[c] *= x[c * kChunk + i];
        a[c] *= x[c * kChunk + k];
      }
    }
  }

  const LinePart &in_, &to_;
  const int64_t n_, o_, j_, chunks_;
  const RunBuffer<double> before_, after_;
  const RunBuffer<uint8_t> tame_;
};

// Whether each line is better walked alone: it is long, and no line lies between its
// elements, or there are hardly any.
constexpr int64_t kLongLine = 1024, kManyLines = 16;
bool are_long(const LineExtent& extent, const LinePart& in, const LinePart& to) {
  const bool alone = in.place == 1 && to.place == 1 && extent.n >= kLongLine;
  return alone || (extent.lines() <= 2 && extent.n > kLineRoom);
}

void prod_backward(LineExtent extent, LinePart in, LinePart to, const Tensor& grad) {
  const bool side_by_side = extent.inner > 1;
  if (!side_by_side) {
    extent.turn();
    in.turn();
    to.turn();
  }
  const Rows<double> grads(grad);
  if (are_long(extent, in, to)) {
    // Threads share out parts of each where there are few, else whole lines.
    const auto run = [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        LongLine(in, to, extent.n, line / extent.inner, line % extent.inner)
            .run(grads.data()[line]);
      }
    };
    const int64_t lines = extent.lines();
    if (lines < kManyLines) return run(0, lines);
    const int64_t grain = std::max<int64_t>(1, kGrain / 4 / extent.n);
    return parallel_for(0, lines, grain, run);
  }
  const int64_t deep = std::min(extent.n, kLineRoom / std::min(kFew, extent.inner));
  const int64_t blocks = (extent.n + deep - 1) / deep;
  const int64_t most = std::min(kLines, kLineRoom / deep);
  // Threads that write neighbouring lines would wait for each other's lines of cache.
  const int64_t least = side_by_side ? kFew : 4;
  const int64_t grain = std::max(least, kGrain / 4 / extent.n);
  parallel_for(0, extent.lines(), grain, [&](int64_t begin, int64_t end) {
    alignas(64) double x[kLineRoom], y[kLineRoom], after[kLines];
    const RunBuffer<double> before(blocks * std::min(most, end - begin));
    StopCounter stop;
    int64_t lines;
    for (; begin < end; begin += lines) {
      const int64_t o = begin / extent.inner, j = begin % extent.inner;
      lines = std::min({end - begin, extent.inner - j, most});
      const auto block = [&](int64_t b) {
        const int64_t at = b * deep, places = std::min(deep, extent.n - at);
        in.bring(in.at(o, at, j), places, lines, lines > 1, reinterpret_cast<char*>(x));
        stop(places * lines);
        return Rectangle{x, places, lines};
      };
      std::fill_n(before.data(), lines, 1.0);
      for (int64_t b = 0; b + 1 < blocks; ++b) {
        double* next = before.data() + (b + 1) * lines;
        std::copy_n(next - lines, lines, next);
        const Rectangle here = block(b);
        with_isa([&] { here.multiply(next); });
      }
      std::fill_n(after, lines, 1.0);
      for (int64_t b = blocks; b-- > 0;) {
        const Rectangle here = block(b);
        with_isa([&] {
          here.others(y, before.data() + b * lines, after, grads.data() + begin);
        });
        to.send(reinterpret_cast<char*>(y), here.places, lines, lines > 1,
                to.at(o, b * deep, j));
      }
    }
  });
}

void prod_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& self,
                          int64_t dim) {
  if (out.numel() == 0) return;
  dim = wrap_dim("_prod_backward", dim, self.ndim());
  const LinePart in(self, dim, self.dtype(), DType::Float64);
  const LinePart to(out, dim, DType::Float64, out.dtype());
  prod_backward(LineExtent(self, dim), in, to, grad);
  if (!to.tensor.is_same(out)) copy_into(out, to.tensor);  // its lines have no even steps
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("_prod_backward", prod_backward_kernel); }

}  // namespace
}  // namespace pkg

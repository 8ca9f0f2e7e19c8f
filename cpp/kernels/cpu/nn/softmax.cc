// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/softmax.cc: softmax, its logarithm and cross-entropy, each in one pass over
// a row that stays in cache, and their gradients.
#include "base/vecmath.h"
#include "dispatcher/library.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

// What softmax needs of a group of rows: for each its top, which is the maximum, and the
// total of exp(x - top).
//
// Short rows are laid out turned, element i of all rows side by side, and computed with a
// lane for each row: their own loops would leave most lanes empty.
template <class T>
class ExpGroup {
 public:
  // The exponentials are kept in y, or lost where y is null.
  ExpGroup(const T* x, T* y, int64_t count, int64_t n) : y_(y), count_(count), n_(n) {
    with_isa([this, x] {  // not a part of each kernel, as it takes long to compile
      if (n_ <= kShortRow) turned(x);
      else straight(x, y_ || n_ > kGroup ? y_ : scratch_);
    });
  }

  T top(int64_t row) const { return top_[row]; }

  // Makes the totals their logarithms.
  T* log_totals() {
    for (int64_t r = 0; r < count_; ++r) total_[r] = vec::log(total_[r]);
    return total_;
  }

  // y = exp(x - top) / total * weight(row).
  template <class F>
  void normalise(F weight) {
    for (int64_t r = 0; r < count_; ++r) total_[r] = weight(r) / total_[r];
    if (n_ <= kShortRow) {
      for (int64_t i = 0; i < n_; ++i) {
        T* column = scratch_ + i * count_;
        for (int64_t r = 0; r < count_; ++r) column[r] *= total_[r];
      }
      for (int64_t r = 0; r < count_; ++r) {
        for (int64_t i = 0; i < n_; ++i) y_[r * n_ + i] = scratch_[i * count_ + r];
      }
    } else {
      for (int64_t r = 0; r < count_; ++r) {
        const T scale = total_[r];
        for (int64_t i = 0; i < n_; ++i) y_[r * n_ + i] *= scale;
      }
    }
  }

 private:
  static constexpr int64_t kShortRow = 32;

  // A row of -inf alone has the total 0: its top must not make NaN of that.
  static T finite(T top) { return top == -std::numeric_limits<T>::infinity() ? T(0) : top; }

  void turned(const T* x) {
    for (int64_t r = 0; r < count_; ++r) {
      for (int64_t i = 0; i < n_; ++i) scratch_[i * count_ + r] = x[r * n_ + i];
    }
    std::copy(scratch_, scratch_ + count_, top_);
    for (int64_t i = 1; i < n_; ++i) {
      const T* column = scratch_ + i * count_;
      for (int64_t r = 0; r < count_; ++r) {
        const bool wins = (column[r] > top_[r]) | (column[r] != column[r]);
        top_[r] = wins ? column[r] : top_[r];  // NaN wins and stays
      }
    }
    for (int64_t r = 0; r < count_; ++r) {
      top_[r] = finite(top_[r]);
      total_[r] = 0;
    }
    for (int64_t i = 0; i < n_; ++i) {
      T* column = scratch_ + i * count_;
      for (int64_t r = 0; r < count_; ++r) {
        column[r] = vec::exp(column[r] - top_[r]);
        total_[r] += column[r];
      }
    }
  }

  // With the exponentials in e, or nowhere.
  void straight(const T* x, T* e) {
    for (int64_t r = 0; r < count_; ++r) {
      const T top = top_[r] = finite(row_max(x + r * n_, n_));
      if (!e) {
        const T* row = x + r * n_;
        total_[r] = row_sum<T>(n_, [=](int64_t i) { return vec::exp(row[i] - top); });
        continue;
      }
      for (int64_t i = 0; i < n_; ++i) e[r * n_ + i] = x[r * n_ + i] - top;
    }
    if (!e) return;
    for (int64_t i = 0; i < count_ * n_; ++i) e[i] = vec::exp(e[i]);
    for (int64_t r = 0; r < count_; ++r) {
      total_[r] = row_sum<T>(n_, [row = e + r * n_](int64_t i) { return row[i]; });
    }
  }

  T* const y_;
  const int64_t count_, n_;
  T top_[kGroup], total_[kGroup], scratch_[kGroup];
};

// Buffers of one thread for the runs of its operands and its result.
template <class T>
struct Buffers {
  RunBuffer<T> x, other, y;
};

void softmax_kernel(Tensor& out, const Tensor& self) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self);
    const Runs<T> in(self);
    const RunsOut<T> to(out);
    const int64_t n = rows.length, room = group_room(rows);
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(in.room(room)), {}, RunBuffer<T>(to.room(room))};
    };
    for_row_groups(rows, make, [&](int64_t first, int64_t count, Buffers<T>& b) {
      const T* x = in.run(first * n, count * n, b.x.data());
      ExpGroup<T> group(x, to.run(first * n, b.y.data()), count, n);
      group.normalise([](int64_t) { return T(1); });
      to.put(first * n, count * n, b.y.data());
    });
  });
}

// log(sum(exp(x))) of a row, in two parts: their sum would lose what is small beside a
// large maximum.
template <class T>
struct LogSumExp {
  T shift, rest;
  T of(T x) const { return x - shift - rest; }  // log-softmax
};

// Runs f(row, its elements, LogSumExp, mine) for all rows, then done(first, count, mine) for
// each group of them.
template <class T, class M, class F, class G>
void for_log_sum_exp(const RowShape& rows, const Runs<T>& in, M make, F f, G done) {
  const int64_t n = rows.length;
  for_row_groups(rows, make, [&](int64_t first, int64_t count, Buffers<T>& b) {
    const T* x = in.run(first * n, count * n, b.x.data());
    ExpGroup<T> group(x, nullptr, count, n);
    const T* logs = group.log_totals();
    for (int64_t r = 0; r < count; ++r) {
      f(first + r, x + r * n, LogSumExp<T>{group.top(r), logs[r]}, b.y.data() + r * n);
    }
    done(first, count, b);
  });
}

void log_softmax_kernel(Tensor& out, const Tensor& self) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(self);
    const Runs<T> in(self);
    const RunsOut<T> to(out);
    const int64_t n = rows.length, room = group_room(rows);
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(in.room(room)), {}, RunBuffer<T>(to.room(room))};
    };
    for_log_sum_exp<T>(
        rows, in, make,
        [&](int64_t row, const T* x, LogSumExp<T> total, T* buffer) {
          T* y = to.run(row * n, buffer);
          for (int64_t i = 0; i < n; ++i) y[i] = total.of(x[i]);
        },
        [&](int64_t first, int64_t count, Buffers<T>& b) {
          to.put(first * n, count * n, b.y.data());
        });
  });
}

void softmax_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& result,
                             bool logarithm) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(result);
    const Runs<T> g_in(grad), y_in(result);
    const RunsOut<T> to(out);
    const int64_t n = rows.length, room = group_room(rows);
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(y_in.room(room)), RunBuffer<T>(g_in.room(room)),
                        RunBuffer<T>(to.room(room))};
    };
    for_row_groups(rows, make, [&](int64_t first, int64_t count, Buffers<T>& b) {
      const T* ys = y_in.run(first * n, count * n, b.x.data());
      const T* gs = g_in.run(first * n, count * n, b.other.data());
      T* xs = to.run(first * n, b.y.data());
      for (int64_t r = 0; r < count; ++r) {
        const T *g = gs + r * n, *y = ys + r * n;
        T* x = xs + r * n;
        if (logarithm) {
          const T total = row_sum<T>(n, [g](int64_t i) { return g[i]; });
          for (int64_t i = 0; i < n; ++i) x[i] = g[i] - vec::exp(y[i]) * total;
        } else {
          const T total = row_sum<T>(n, [g, y](int64_t i) { return g[i] * y[i]; });
          for (int64_t i = 0; i < n; ++i) x[i] = y[i] * (g[i] - total);
        }
      }
      to.put(first * n, count * n, b.y.data());
    });
  });
}

int64_t class_at(const int64_t* target, int64_t row, int64_t classes) {
  const int64_t c = target[row];
  PKG_CHECK(c >= 0 && c < classes, IndexError, "[cross_entropy] Target ", c,
            " is out of bounds: expected 0 to ", classes - 1, " (row ", row, ").");
  return c;
}

void cross_entropy_kernel(Tensor& out, const Tensor& input, const Tensor& target,
                          int64_t ignore, const std::string& reduction) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(input);
    const Runs<T> in(input);
    const Rows<int64_t> classes(target);
    const RowsOut<T> to(out);
    const int64_t* ts = classes.data();
    const int64_t count = target.numel();
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (ts[i] == ignore) continue;
      class_at(ts, i, rows.length);
      ++kept;
    }
    const bool reduced = reduction != "none";
    std::vector<T, PoolAllocator<T>> parts(reduced ? size_t(count) : 0);
    T* losses = reduced ? parts.data() : to.data();
    if (rows.length == 0) std::fill_n(losses, count, T(0));  // all of them are ignored
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(in.room(group_room(rows))), {}, {}};
    };
    for_log_sum_exp<T>(
        rows, in, make,
        [=](int64_t row, const T* x, LogSumExp<T> sums, T*) {
          losses[row] = ts[row] == ignore ? T(0) : -sums.of(x[ts[row]]);
        },
        [](int64_t, int64_t, Buffers<T>&) {});
    if (!reduced) return;
    T total = 0;
    if (rows.length > 0) total = row_sum<T>(count, [=](int64_t i) { return losses[i]; });
    *to.data() = reduction == "mean" ? total / T(kept) : total;
  });
}

void cross_entropy_backward_kernel(Tensor& out, const Tensor& grad, const Tensor& input,
                                   const Tensor& target, int64_t ignore,
                                   const std::string& reduction) {
  with_compute_type("softmax", out.dtype(), [&]<class T>(TypeTag<T>) {
    const RowShape rows(input);
    const Runs<T> in(input);
    const Rows<T> g_in(grad);
    const Rows<int64_t> classes(target);
    const RunsOut<T> to(out);
    const T* gs = g_in.data();
    const int64_t* ts = classes.data();
    T share = 1;  // of each row in the reduced loss
    if (reduction == "mean") {
      const int64_t kept = rows.count - std::count(ts, ts + rows.count, ignore);
      share = 1 / T(std::max<int64_t>(kept, 1));
    }
    const int64_t step = grad.ndim() ? 1 : 0;
    const int64_t n = rows.length, room = group_room(rows);
    const auto make = [&] {
      return Buffers<T>{RunBuffer<T>(in.room(room)), {}, RunBuffer<T>(to.room(room))};
    };
    for_row_groups(rows, make, [&](int64_t first, int64_t count, Buffers<T>& b) {
      T* ys = to.run(first * n, b.y.data());
      const T* x = in.run(first * n, count * n, b.x.data());
      ExpGroup<T> group(x, ys, count, n);
      group.normalise([=](int64_t r) { return gs[(first + r) * step] * share; });
      for (int64_t row = first; row < first + count; ++row) {
        T* y = ys + (row - first) * n;
        if (ts[row] == ignore) {
          std::fill(y, y + n, T(0));
        } else {
          y[class_at(ts, row, n)] -= gs[row * step] * share;
        }
      }
      to.put(first * n, count * n, b.y.data());
    });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_softmax", softmax_kernel);
  m.impl("_log_softmax", log_softmax_kernel);
  m.impl("_softmax_backward", softmax_backward_kernel);
  m.impl("_cross_entropy", cross_entropy_kernel);
  m.impl("_cross_entropy_backward", cross_entropy_backward_kernel);
}

}  // namespace
}  // namespace pkg

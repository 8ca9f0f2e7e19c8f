// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/padding_backward.cc: gradient of borders that repeat elements: each of
// self is the sum of those that it became, added in float32 at least and rounded once.
#include "dispatcher/library.h"
#include "kernels/cpu/index/padding.h"
#include "kernels/cpu/index/runs.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

using Places = std::vector<int64_t, PoolAllocator<int64_t>>;

// For each element of self along a dimension, where it stands in the result, ascending.
struct Copies {
  Places first, places;  // those of element i are places[first[i]] to places[first[i + 1]]
  int64_t once_begin, once_end;  // elements between that stand in their own place alone

  explicit Copies(const PaddedDim& dim)
      : first(size_t(dim.size) + 1, 0), once_begin(0), once_end(0) {
    for (int64_t i = 0; i < dim.padded; ++i) ++first[size_t(dim.source(i)) + 1];
    for (size_t i = 0; i < size_t(dim.size); ++i) first[i + 1] += first[i];
    places.resize(size_t(dim.padded));
    Places next(first);
    for (int64_t i = 0; i < dim.padded; ++i) {
      places[size_t(next[size_t(dim.source(i))]++)] = i;
    }
    // The longest such stretch is in the middle: borders repeat what is near the ends.
    for (int64_t i = 0, begin = 0; i < dim.size; ++i) {
      const bool once = count(i) == 1 && at(i)[0] == i + dim.before;
      if (!once) begin = i + 1;
      else if (i + 1 - begin > once_end - once_begin) {
        once_begin = begin;
        once_end = i + 1;
      }
    }
  }
  int64_t count(int64_t i) const { return first[size_t(i) + 1] - first[size_t(i)]; }
  const int64_t* at(int64_t i) const { return places.data() + first[size_t(i)]; }
};

template <class T, class A>
class Fold {
 public:
  Fold(Tensor& out, const Tensor& grad, const PaddedDims& dims)
      : dims_(dims),
        to_(static_cast<T*>(out.data())),
        from_(static_cast<const T*>(grad.data())),
        width_(dims.back().size),
        row_(dims.back().padded),
        before_(dims.back().before) {
    for (const PaddedDim& dim : dims) copies_.emplace_back(dim);
  }

  void run(int64_t rows) const {
    const int64_t grain = std::max<int64_t>(1, kGrain / 4 / width_);
    parallel_for(0, rows, grain, [this](int64_t begin, int64_t end) {
      Places from;
      std::vector<A, PoolAllocator<A>> sums(static_cast<size_t>(width_));
      const bool planes = dims_.size() > 1;
      const int64_t lines = planes ? dims_[dims_.size() - 2].size : 1;
      for (int64_t i = begin; i < end;) {
        sources(i, from);
        // The rows behind it that are as plain lie one after the other in both.
        int64_t count = 1;
        if (planes && from.size() == 1) {
          const Copies& copies = copies_[dims_.size() - 2];
          const int64_t line = i % lines;
          if (line >= copies.once_begin && line < copies.once_end) {
            count = std::min(copies.once_end - line, end - i);
          }
        }
        if (from.size() == 1) fold_rows(to_ + i * width_, from_ + from[0], count);
        else add_rows(to_ + i * width_, from, sums.data());
        i += count;
      }
    });
  }

 private:
  // Where in grad the rows begin that row `number` became.
  void sources(int64_t number, Places& from) const {
    from.assign(1, 0);
    int64_t step = row_, rest = number;
    Places more;
    for (size_t d = dims_.size() - 1; d-- > 0;) {
      const int64_t i = rest % dims_[d].size, count = copies_[d].count(i);
      rest /= dims_[d].size;
      const int64_t* at = copies_[d].at(i);
      more.clear();
      for (int64_t k = 0; k < count; ++k) {
        for (const int64_t inner : from) more.push_back(inner + at[k] * step);
      }
      std::swap(from, more);
      step *= dims_[d].padded;
    }
  }

  // Rows that stand in one place, dense in both.
  void fold_rows(T* to, const T* from, int64_t count) const {
    with_isa([=, this] {
      const Copies& copies = copies_.back();
      const int64_t begin = copies.once_begin, n = copies.once_end - begin;
      const int64_t width = width_, row = row_, at = begin + before_;
      T* y = to;
      const T* x = from;
      for (int64_t r = 0; r < count; ++r, y += width, x += row) {
        copy_run(reinterpret_cast<char*>(y + begin), reinterpret_cast<const char*>(x + at),
                 n * int64_t(sizeof(T)));
        for (int64_t i = 0; i < begin; ++i) y[i] = T(sum_of(x, copies, i));
        for (int64_t i = begin + n; i < width; ++i) y[i] = T(sum_of(x, copies, i));
      }
    });
  }

  // The sum of rows, of none too.
  void add_rows(T* to, const Places& from, A* sums) const {
    const Copies& copies = copies_.back();
    const int64_t begin = copies.once_begin, end = copies.once_end;
    std::fill_n(sums, width_, A(0));
    for (const int64_t start : from) {
      const T* x = from_ + start;
      for (int64_t i = 0; i < begin; ++i) sums[i] += sum_of(x, copies, i);
      for (int64_t i = begin; i < end; ++i) sums[i] += A(x[i + before_]);
      for (int64_t i = end; i < width_; ++i) sums[i] += sum_of(x, copies, i);
    }
    for (int64_t i = 0; i < width_; ++i) to[i] = T(sums[i]);
  }

  // Of the elements of a row that element i became.
  [[gnu::always_inline]] static A sum_of(const T* x, const Copies& copies, int64_t i) {
    const int64_t* at = copies.places.data() + copies.first[size_t(i)];
    const int64_t* const past = copies.places.data() + copies.first[size_t(i) + 1];
    if (at == past) return A(0);
    A sum = A(x[*at]);
    while (++at < past) sum += A(x[*at]);
    return sum;
  }

  const PaddedDims& dims_;
  std::vector<Copies> copies_;
  T* const to_;
  const T* const from_;
  const int64_t width_, row_, before_;
};

void backward_kernel(Tensor& out, const Tensor& grad, const Shape& sizes, const Shape& pad,
                     const std::string& mode) {
  if (out.numel() == 0) return;
  if (grad.numel() == 0) return copy_into(out, Tensor(0));
  const Tensor from = as_contiguous(grad);
  const PaddedDims dims = padded_dims(sizes, pad, border_of(mode));
  const auto run = [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    Fold<T, A>(out, from, dims).run(out.numel() / dims.back().size);
  };
  switch (out.dtype()) {
    case DType::Float16: return run(TypeTag<Half>{}, TypeTag<float>{});
    case DType::BFloat16: return run(TypeTag<BFloat16>{}, TypeTag<float>{});
    case DType::Float32: return run(TypeTag<float>{}, TypeTag<float>{});
    default: return run(TypeTag<double>{}, TypeTag<double>{});
  }
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("_pad_backward", backward_kernel); }

}  // namespace
}  // namespace pkg

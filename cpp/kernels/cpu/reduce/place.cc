// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/place.cc: where the largest and smallest elements are: the first of
// equals, the first NaN if there is one.
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/extreme.h"
#include "kernels/cpu/reduce/numbers.h"
#include "tensor/fill.h"

namespace pkg {
namespace {

template <bool Max, class T>
struct PlaceLoops {
  struct State {
    T value;
    int64_t at;  // -1 where nothing was seen
  };
  // As wide as an element, so that both are compared and chosen in the same lanes.
  using Index = std::conditional_t<sizeof(T) == 1, int8_t,
                                   std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
  static constexpr int64_t kDepth = 64, kShort = 48;
  static constexpr int64_t kRun = 2048;

  static bool beats(T x, T best) {
    return (Max ? x > best : x < best) | ((x != x) & (best == best));
  }
  static void absorb(State& state, T value, int64_t at) {
    const bool same = value == state.value ||
                      (value != value && state.value != state.value);
    if (state.at < 0 || beats(value, state.value) || (same && at < state.at)) {
      state = {value, at};
    }
  }

  static void start(void* states, int64_t n) {
    std::fill_n(static_cast<State*>(states), n, State{T(), -1});
  }
  static void merge(void* states, const void* later, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const State& other = static_cast<const State*>(later)[i];
      if (other.at >= 0) absorb(static_cast<State*>(states)[i], other.value, other.at);
    }
  }

  // The first place of `value` or, where that is NaN, of NaN.  Within some elements without
  // a jump, which would be guessed wrong for each row.
  static int64_t find(const T* x, int64_t n, T value) {
    constexpr int64_t some = 64;
    const auto is_it = [value](T one) {
      return (one == value) | ((one != one) & (value != value));
    };
    int64_t at = 0;
    for (; n - at > some; at += some) {
      int found = 0;
      for (int64_t i = 0; i < some; ++i) found |= is_it(x[at + i]);
      if (found) return at + first_of<some>(x + at, is_it, some);
    }
    return at + first_of<0>(x + at, is_it, n - at);
  }
  template <int64_t constant, class F>
  static int64_t first_of(const T* x, F is_it, int64_t n) {
    const auto count = Index(constant ? constant : n);
    Index first = std::numeric_limits<Index>::max();
#pragma omp simd reduction(min : first)
    for (Index i = 0; i < count; ++i) {
      const Index here = is_it(x[i]) ? i : std::numeric_limits<Index>::max();
      first = here < first ? here : first;
    }
    return first;
  }

  static void rows(const Block& block, void* to) {
    auto* states = static_cast<State*>(to);
    auto* x = static_cast<const T*>(block.x);
    with_isa([=, b = block] {
      if (b.stride == 2 && b.n == 2) return short_rows<2>(b, states);
      if (b.stride == 3 && b.n == 3) return short_rows<3>(b, states);
      if (b.stride == 4 && b.n == 4) return short_rows<4>(b, states);
      if (b.n < kShort) return short_rows<0>(b, states);
      for (int64_t i = 0; i < b.rows; ++i) {
        const T* row = x + i * b.stride;
        for (int64_t at = 0; at < b.n; at += kRun) {
          const int64_t n = std::min(kRun, b.n - at);
          const T best = Extreme<Max, T>::run(row + at, n, 0);
          if (states[i].at < 0 || beats(best, states[i].value)) {
            states[i] = {best, b.first + at + find(row + at, n, best)};
          }
        }
      }
    });
  }

  static void columns(const Block& block, void* to) {
    columns_by<T, State>(block, to, [](auto&&... of) { strip(of...); });
  }

  static constexpr Fold fold() {
    return {dtype_of<T>, int64_t(sizeof(State)), start, rows, columns, merge, 0, true};
  }

 private:
  // n values and their places for n states, `copies` times side by side.
  [[gnu::always_inline]] static void absorb_here(State* states, const T* values,
                                                 const Index* places, int64_t n,
                                                 int64_t copies, int64_t first) {
    for (int64_t c = 0; c < copies; ++c) {
      for (int64_t j = 0; j < n; ++j) {
        const int64_t k = c * n + j;
        absorb(states[j], values[k], first + places[k] * copies + c);
      }
    }
  }
  [[gnu::noinline]] static void absorb_apart(State* states, const T* values,
                                             const Index* places, int64_t n, int64_t copies,
                                             int64_t first) {
    absorb_here(states, values, places, n, copies, first);
  }
  // Vectors make it faster for bytes alone, so for others it is compiled for no level.
  static void absorb_all(State* states, const T* values, const Index* places, int64_t n,
                         int64_t copies, int64_t first) {
    if constexpr (sizeof(T) == 1) absorb_here(states, values, places, n, copies, first);
    else absorb_apart(states, values, places, n, copies, first);
  }

  // The elements of a place of many rows are compared at once.  `dense`: rows of so many
  // elements without gaps, whose places are found in vectors; 0: rows of any length.
  template <int64_t dense>
  static void short_rows(const Block& b, State* states) {
    constexpr int64_t some = 64;
    T best[some];
    Index where[some];
    for (int64_t from = 0; from < b.rows; from += some) {
      const int64_t rows = std::min(some, b.rows - from), stride = dense ? dense : b.stride;
      const T* x = static_cast<const T*>(b.x) + from * stride;
      for (int64_t i = 0; i < rows; ++i) {
        best[i] = x[i * stride];
        where[i] = 0;
      }
      for (int64_t k = 1; k < (dense ? dense : b.n); ++k) {
        const T* place = x + k;
        for (int64_t i = 0; i < rows; ++i) {
          const T value = place[i * stride];
          const bool better = beats(value, best[i]);
          best[i] = better ? value : best[i];
          where[i] = better ? Index(k) : where[i];
        }
      }
      absorb_all(states + from, best, where, rows, 1, b.first);
    }
  }

  static void strip(const Block& b, int64_t rows, int64_t wide, State* states) {
    T best[kMostColumns];
    Index where[kMostColumns];
    const int64_t copies = wide / b.n, step = copies == 1 ? b.stride : wide;
    auto* x = static_cast<const T*>(b.x);
    for (int64_t row = 0; row < rows; row += kDepth) {
      const int64_t depth = std::min(kDepth, rows - row);
      std::copy_n(x + row * step, wide, best);
      std::fill_n(where, wide, Index(0));
      for (int64_t r = 1; r < depth; ++r) {
        const T* next = x + (row + r) * step;
        for (int64_t j = 0; j < wide; ++j) {
          const bool better = beats(next[j], best[j]);
          best[j] = better ? next[j] : best[j];
          where[j] = better ? Index(r) : where[j];
        }
      }
      absorb_all(states, best, where, b.n, copies, b.first + row * copies);
    }
  }
};

template <bool Max>
void arg_kernel(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool) {
  if (self.numel() == out.numel()) return fill(out, 0);  // each of one element
  // Places in the whole tensor count row by row.
  const Tensor in = dim ? self : as_contiguous(self);
  const auto run = [&]<class T>(TypeTag<T>) {
    using Loops = PlaceLoops<Max, T>;
    const Fold fold = Loops::fold();
    run_fold(in, dim ? Dims(Shape{*dim}) : Dims(), fold, {&out},
             [](const void* states, void* const* to, int64_t n) {
               for (int64_t i = 0; i < n; ++i) {
                 static_cast<int64_t*>(
                     to[0])[i] = static_cast<const typename Loops::State*>(states)[i].at;
               }
             });
  };
  visit_compute("argmax", is_reduced(self.dtype()) ? DType::Float32 : self.dtype(),
                [&]<class T>(TypeTag<T> tag) {
                  if constexpr (std::is_same_v<T, bool>) run(TypeTag<uint8_t>());
                  else run(tag);
                });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("argmax", arg_kernel<true>);
  m.impl("argmin", arg_kernel<false>);
}

}  // namespace
}  // namespace pkg

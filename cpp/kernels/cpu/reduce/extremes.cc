// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/extremes.cc: the largest and smallest over dimensions.
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/extreme.h"

namespace pkg {
namespace {

// Of elements of T, as they are.
template <class T>
struct Plain {
  using Element = T;
  template <bool Max>
  using Formula = Extreme<Max, T>;
  static T element(T x) { return x; }
};
// Of float16 and bfloat16, by their bits.
struct Keyed {
  using Element = int16_t;
  template <bool Max>
  using Formula = Extreme<Max, int16_t, AsKey<Max>>;
  static int16_t element(int16_t key) { return AsKey<true>::bits(key); }
};

// f(how, dtype to read, parameter).
template <class F>
void with_extremes(DType dtype, F f) {
  if (is_reduced(dtype)) {
    return f(TypeTag<Keyed>(), dtype, dtype == DType::Float16 ? 0x7c00 : 0x7f80);
  }
  visit_compute("amax", dtype, [&]<class T>(TypeTag<T>) {
    using Number = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;  // 0 and 1
    f(TypeTag<Plain<Number>>(), dtype_of<Number>, 0.0);
  });
}

template <bool Max>
void extreme_kernel(Tensor& out, const Tensor& self, const Dims& dim, bool) {
  with_extremes(self.dtype(), [&]<class How>(TypeTag<How>, DType type, double p) {
    using T = typename How::Element;
    const Fold fold = FoldLoops<typename How::template Formula<Max>>::fold(type, p);
    run_fold(self, dim, fold, {&out}, [](const void* states, void* const* to, int64_t n) {
      auto* from = static_cast<const T*>(states);
      auto* values = static_cast<T*>(to[0]);
      for (int64_t i = 0; i < n; ++i) values[i] = How::element(from[i]);
    });
  });
}

// Both in one walk.  What is read for the smallest is still in the first-level cache for
// the largest.
template <class How>
struct BothLoops {
  using T = typename How::Element;
  using Low = FoldLoops<typename How::template Formula<false>>;
  using High = FoldLoops<typename How::template Formula<true>>;
  struct State {
    T low, high;
  };
  static constexpr int64_t kSome = 16384 / sizeof(T);

  static void start(void* to, int64_t n) {
    std::fill_n(
        static_cast<State*>(to), n,
        State{How::template Formula<false>::start, How::template Formula<true>::start});
  }
  static void merge(void* to, const void* later, int64_t n) {
    auto* states = static_cast<State*>(to);
    for (int64_t i = 0; i < n; ++i) {
      const State& other = static_cast<const State*>(later)[i];
      Low::merge(&states[i].low, &other.low, 1);
      High::merge(&states[i].high, &other.high, 1);
    }
  }
  static void rows(const Block& b, void* to) {
    const int64_t length = std::min(b.n, kSome);
    const int64_t count = std::min(kSome / length, kMostColumns);
    for (int64_t row = 0; row < b.rows; row += count) {
      for (int64_t at = 0; at < b.n; at += length) {
        const int64_t rows = std::min(count, b.rows - row);
        part(Low::rows, High::rows,
             {element(b, row * b.stride + at), b.stride, rows, std::min(length, b.n - at),
              b.first, b.parameter},
             static_cast<State*>(to) + row, rows);
      }
    }
  }
  static void columns(const Block& b, void* to) {
    const int64_t count = std::max<int64_t>(1, kSome / b.n);
    for (int64_t row = 0; row < b.rows; row += count) {
      part(Low::columns, High::columns,
           {element(b, row * b.stride), b.stride, std::min(count, b.rows - row), b.n,
            b.first, b.parameter},
           static_cast<State*>(to), b.n);
    }
  }

 private:
  static const T* element(const Block& b, int64_t at) {
    return static_cast<const T*>(b.x) + at;
  }
  template <class F>
  static void part(F smallest, F largest, const Block& block, State* states, int64_t n) {
    T low[kMostColumns], high[kMostColumns];
    for (int64_t i = 0; i < n; ++i) {
      low[i] = states[i].low;
      high[i] = states[i].high;
    }
    smallest(block, low);
    largest(block, high);
    for (int64_t i = 0; i < n; ++i) states[i] = {low[i], high[i]};
  }
};

void aminmax_kernel(Tensor& low, Tensor& high, const Tensor& self,
                    std::optional<int64_t> dim, bool) {
  with_extremes(self.dtype(), [&]<class How>(TypeTag<How>, DType type, double p) {
    using Both = BothLoops<How>;
    using T = typename How::Element;
    const Fold fold{type,
                    sizeof(typename Both::State),
                    Both::start,
                    Both::rows,
                    Both::columns,
                    Both::merge,
                    p,
                    true};
    run_fold(self, dim ? Dims(Shape{*dim}) : Dims(), fold, {&low, &high},
             [](const void* states, void* const* to, int64_t n) {
               auto* from = static_cast<const typename Both::State*>(states);
               auto *lows = static_cast<T*>(to[0]), *highs = static_cast<T*>(to[1]);
               for (int64_t i = 0; i < n; ++i) {
                 lows[i] = How::element(from[i].low);
                 highs[i] = How::element(from[i].high);
               }
             });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("amax", extreme_kernel<true>);
  m.impl("amin", extreme_kernel<false>);
  m.impl("aminmax", aminmax_kernel);
}

}  // namespace
}  // namespace pkg

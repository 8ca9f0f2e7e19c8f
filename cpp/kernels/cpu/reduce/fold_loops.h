// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/fold_loops.h: the loops of reductions that combine elements in any
// order, made from a formula F:
//   In, Local, State       element, what a block is combined in, what lives longer
//   State start            of no elements
//   Local identity()       of combine
//   Local load(In, p)      of an element; p is the parameter of the reduction
//   Local combine(Local, Local)
//   absorb(State&, Local)  what a block came to
//   merge(State&, State)
//   run(In*, n, p)         at most kRun elements that lie side by side, to be absorbed
//   RepeatsOnce            a type, if combine(combine(a, b), b) is combine(a, b)
#pragma once

#include <algorithm>
#include <cstring>

#include "base/isa.h"
#include "kernels/cpu/reduce/fold.h"

namespace pkg {

inline constexpr int64_t kLaneBytes = 128;  // of what is combined side by side

/// What f(0) to f(n - 1) combine to in each of `lanes` lanes, which are no more than n: a
/// combination does not wait for the one before, and memory is read in order, which twice as
/// many bytes a second can be as from four places.  What is left over is in the last lanes;
/// those of them that were seen count as `identity`.
template <int64_t lanes, class T, class F, class Combine>
[[gnu::always_inline]] inline void in_lanes(T* all, int64_t n, T identity, F f,
                                            Combine combine) {
#pragma GCC unroll 32  // else it is a call of memset, or as slow as one
  for (int64_t i = 0; i < lanes; ++i) all[i] = identity;
  int64_t at = 0;
  for (; at + lanes <= n; at += lanes) {
#pragma omp simd
    for (int64_t i = 0; i < lanes; ++i) all[i] = combine(all[i], f(at + i));
  }
  if (at == n) return;
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;  // in the same lanes
  const int64_t last = n - lanes;
  const auto seen = Index(at - last);
#pragma omp simd
  for (Index i = 0; i < Index(lanes); ++i) {
    const T one = f(last + i);
    all[i] = combine(all[i], i < seen ? identity : one);
  }
}

/// What lanes come to, by halves, in registers: of a loop over so few the compiler makes a
/// chain.
template <bool product, int64_t lanes, class T>
[[gnu::always_inline]] inline T of_lanes(const T* all) {
  if constexpr (lanes == 2) {
    return T(product ? all[0] * all[1] : all[0] + all[1]);
  } else {
    typedef T Half [[gnu::vector_size(lanes / 2 * sizeof(T))]];
    Half low, high;
    std::memcpy(&low, all, sizeof(Half));
    std::memcpy(&high, all + lanes / 2, sizeof(Half));
    if constexpr (product) low *= high;
    else low += high;
    T half[lanes / 2];
    std::memcpy(half, &low, sizeof(Half));
    return of_lanes<product, lanes / 2>(half);
  }
}

/// Sum of f(i) for i below n.
template <class T, class F>
inline T sum_of(int64_t n, F f) {
  constexpr int64_t lanes = kLaneBytes / sizeof(T);
  T sum = 0;
  if (n >= lanes) {
    alignas(64) T sums[lanes];
    in_lanes<lanes>(sums, n, T(0), f, [](T a, T b) { return T(a + b); });
    return of_lanes<false, lanes>(sums);
  }
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += f(i);
  return sum;
}
template <class T, class F>
inline T product_of(int64_t n, F f) {
  constexpr int64_t lanes = kLaneBytes / sizeof(T);
  T product = 1;
  if (n >= lanes) {
    alignas(64) T products[lanes];
    in_lanes<lanes>(products, n, T(1), f, [](T a, T b) { return T(a * b); });
    return of_lanes<true, lanes>(products);
  }
#pragma omp simd reduction(* : product)
  for (int64_t i = 0; i < n; ++i) product *= f(i);
  return product;
}

inline constexpr int64_t kMostColumns = 1024;  // of a strip

/// strip(block, rows, wide) for all rows of a block.  A strip is `wide` columns, column j
/// being one of result j % n: where few columns lie behind each other, several rows side by
/// side are as good as more columns.
template <class In, class Strip>
inline void in_strips(Block b, Strip strip) {
  constexpr int64_t kFew = 64, kVector = 16, kRows = 16;
  const bool dense = b.stride == b.n && b.n < kFew;
  // Columns that fill vectors are read some rows at a time; 16-bit floats, which are
  // computed in sixteens, only if none is left over.
  const bool fill = b.n >= kVector && (sizeof(In) != 2 || b.n % kVector == 0);
  int64_t copies = dense ? std::min(b.rows, kMostColumns / 2 / b.n) : 1;
  if (fill || (b.n >= kVector && b.rows >= 2 * kRows)) {
    copies = std::min(copies, std::max<int64_t>(1, b.rows / kRows));
  }
  for (; b.rows; copies = 1) {  // twice at most: what is left of rows side by side
    const int64_t rows = b.rows / copies;
    strip(b, rows, b.n * copies);
    b.x = static_cast<const In*>(b.x) + rows * copies * b.n;
    b.first += rows * copies;
    b.rows -= rows * copies;
  }
}

/// Fold::columns by strip(block, rows, wide, states).
template <class In, class State, class Strip>
inline void columns_by(const Block& block, void* to, Strip strip) {
  auto* states = static_cast<State*>(to);
  with_isa([=, b = block] {
    in_strips<In>(b, [=](const Block& part, int64_t rows, int64_t wide) {
      strip(part, rows, wide, states);
    });
  });
}

template <class F>
struct FoldLoops {
  using In = typename F::In;
  using Local = typename F::Local;
  using State = typename F::State;

  static constexpr int64_t kDepth = 64;  // elements combined before they are absorbed
  static constexpr int64_t kShort = 33;  // a row that is not worth vectors

  static void start(void* states, int64_t n) {
    std::fill_n(static_cast<State*>(states), n, F::start);
  }
  static void merge(void* states, const void* later, int64_t n) {
    auto* to = static_cast<State*>(states);
    auto* from = static_cast<const State*>(later);
    with_isa([=] {
      for (int64_t i = 0; i < n; ++i) F::merge(to[i], from[i]);
    });
  }

  static void rows(const Block& block, void* to) {
    auto* states = static_cast<State*>(to);
    auto* x = static_cast<const In*>(block.x);
    with_isa([=, b = block] {
      if (b.n < kShort) {
        for (int64_t i = 0; i < b.rows; ++i) {
          const In* row = x + i * b.stride;
          Local total = F::load(row[0], b.parameter);
          for (int64_t k = 1; k < b.n; ++k) {
            total = F::combine(total, F::load(row[k], b.parameter));
          }
          F::absorb(states[i], total);
        }
        return;
      }
      for (int64_t i = 0; i < b.rows; ++i) {
        for (int64_t at = 0; at < b.n; at += F::kRun) {
          const int64_t n = std::min(F::kRun, b.n - at);
          F::absorb(states[i], F::run(x + i * b.stride + at, n, b.parameter));
        }
      }
    });
  }

  static void columns(const Block& block, void* to) {
    columns_by<In, State>(block, to, [](auto&&... of) { strip(of...); });
  }

  static constexpr Fold fold(DType type, double parameter = 0) {
    constexpr bool once = requires { typename F::RepeatsOnce; };
    return {type, int64_t(sizeof(State)), start, rows, columns, merge, parameter, once};
  }

 private:
  static constexpr int64_t kFewRows = 16;  // what they come to is not kept on the way

  static void take(Local& total, In x, double p) {
    total = F::combine(total, F::load(x, p));
  }
  /// Column j of so many rows: by a tree, so that no element waits for all before it.
  template <int64_t rows>
  static Local column(const In* x, int64_t step, double p) {
    if constexpr (rows == 1) return F::load(*x, p);
    else {
      return F::combine(column<rows / 2>(x, step, p),
                        column<rows / 2>(x + rows / 2 * step, step, p));
    }
  }
  /// take(j, what the column comes to) for all columns of some rows at a time.
  template <class Take>
  static void in_columns(const In* x, int64_t step, int64_t rows, int64_t wide, double p,
                         Take take) {
    const auto some = [&]<int64_t n>(std::integral_constant<int64_t, n>) {
      for (; rows >= n; rows -= n, x += n * step) {
        for (int64_t j = 0; j < wide; ++j) take(j, column<n>(x + j, step, p));
      }
    };
    some(std::integral_constant<int64_t, 8>());
    some(std::integral_constant<int64_t, 4>());
    some(std::integral_constant<int64_t, 1>());
  }

  static void strip(const Block& b, int64_t rows, int64_t wide, State* states) {
    const int64_t step = wide == b.n ? b.stride : wide;
    const double p = b.parameter;
    auto* x = static_cast<const In*>(b.x);
    if (rows <= kFewRows && wide == b.n) {
      return in_columns(x, step, rows, wide, p,
                        [states](int64_t j, Local total) { F::absorb(states[j], total); });
    }
    Local local[kMostColumns];
    for (int64_t row = 0; row < rows; row += kDepth) {
      for (int64_t j = 0; j < wide; ++j) local[j] = F::identity();
      in_columns(
          x + row * step, step, std::min(kDepth, rows - row), wide, p,
          [&local](int64_t j, Local total) { local[j] = F::combine(local[j], total); });
      for (int64_t at = 0; at < wide; at += b.n) {
        for (int64_t j = 0; j < b.n; ++j) F::absorb(states[j], local[at + j]);
      }
    }
  }
};

}  // namespace pkg

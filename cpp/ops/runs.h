// SPDX-License-Identifier: Apache-2.0
// ops/runs.h: a formula for one element, run over tensors.  For ops/loops.h.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/isa.h"
#include "ops/patches.h"
#include "ops/sixteens.h"
#include "tensor/repeats.h"
#include "tensor/staging.h"

namespace pkg::ops {

/// The loop of a formula.  An operand lies where the result does or apart from it, which the
/// compiler does not know, least of all of bytes.
template <class F, class Out, class... In>
inline void apply(const F f, Out* out, int64_t n, const In*... in) {
  if constexpr (Ranged<F, In...>) {
    constexpr int64_t kChunk = 256;
    // As wide as an operand: vectors of comparisons need not be narrowed.
    using Flag = std::conditional_t<((sizeof(In) == 8) || ...), int64_t, int>;
    for (int64_t begin = 0; begin < n; begin += kChunk) {
      const int64_t end = std::min(n, begin + kChunk);
      Flag all = 1;
      for (int64_t i = begin; i < end; ++i) all &= Flag(F::fits(in[i]...));
      if (all) {
#pragma GCC ivdep
        for (int64_t i = begin; i < end; ++i) out[i] = f(in[i]...);
      } else {
        for (int64_t i = begin; i < end; ++i) {
          out[i] = F::fits(in[i]...) ? f(in[i]...) : f.rest(in[i]...);
        }
      }
    }
  } else if constexpr (requires { typename F::IsLong; }) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]...);
  } else {
    // A line of cache at once: what is written in place takes a quarter less time.
#pragma GCC ivdep
#pragma GCC unroll 2
    for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]...);
  }
}

/// Bytes of an element where truths are made in vectors, or 0: see apply_truths.
template <class F, class Out, class... In>
constexpr int kTruthOf = [] {
  if constexpr (!std::is_same_v<Out, bool> || sizeof...(In) == 0 || Ranged<F, In...> ||
                requires { typename F::IsLong; }) {
    return 0;
  } else {
    constexpr int most = std::max({int(sizeof(In))...});
    return ((int(sizeof(In)) == most) && ...) && (most == 4 || most == 8) ? most : 0;
  }
}();

/// The same loop where the result is a byte for each `size` bytes.  A vector of tests is as
/// wide as what is tested, and compilers narrow one in as many steps as there are halves.
/// Here the k-th of `size` vectors gives byte k of each lane, so that one vector has them
/// all; then its bytes are put in order.
template <int size, class F, class... In>
[[gnu::always_inline]] inline void apply_truths(const F f, bool* out, int64_t n,
                                                const In*... in) {
  constexpr int kBytes = 32, kLanes = kBytes / size;
  using Lane = std::conditional_t<size == 8, uint64_t, uint32_t>;
  using Bytes [[gnu::vector_size(kBytes)]] = uint8_t;
  int64_t i = 0;
  for (; i + kBytes <= n; i += kBytes) {
    alignas(kBytes) Lane lanes[kLanes];
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
      Lane lane = 0;
#pragma GCC unroll 8
      for (int k = 0; k < size; ++k) {
        lane |= f(in[i + k * kLanes + l]...) ? Lane(Lane(1) << (8 * k)) : Lane(0);
      }
      lanes[l] = lane;
    }
    Bytes bytes;
    std::memcpy(&bytes, lanes, kBytes);
    Bytes ordered;
    [&]<size_t... j>(std::index_sequence<j...>) {
      ordered = __builtin_shufflevector(bytes, bytes,
                                        int((j % kLanes) * size + j / kLanes)...);
    }(std::make_index_sequence<kBytes>());
    std::memcpy(out + i, &ordered, kBytes);
  }
  for (; i < n; ++i) out[i] = f(in[i]...);
}

/// A formula as a block function: tensor/staging.h.  Out and In are what it gives and takes.
template <class F, class Out, class... In>
void block(const void* formula, char* const* data, int64_t n) {
  const auto run = [=](auto loop) {
    [=]<size_t... k>(std::index_sequence<k...>) {
      loop(*static_cast<const F*>(formula), reinterpret_cast<Out*>(data[0]), n,
           reinterpret_cast<const In*>(data[k + 1])...);
    }(std::index_sequence_for<In...>());
  };
  const auto plain = [=] { run([](auto... arguments) { apply(arguments...); }); };
  static constexpr int truth = kTruthOf<F, Out, In...>;
  if constexpr (truth > 0) {
    if (isa() == Isa::Baseline) return detail::run_baseline(plain);
    with_vectors(
        [=] { run([](auto... arguments) { apply_truths<truth>(arguments...); }); });
  } else {
    with_isa(plain);
  }
}

/// The loop of rows, which may be short: whole vectors alone, the last of which is placed so
/// that it ends with the row.  What it reads is read before anything is written.  (In long
/// rows of wide elements, to store some twice takes more time than single elements do.)
template <class F, class Out, class T>
inline void apply_row(const F f, Out* out, int64_t n, const T* in) {
  constexpr int64_t kLanes = 32 / sizeof(T);
  constexpr int64_t kMost = sizeof(T) <= 2 ? INT64_MAX : sizeof(T) == 4 ? 64 : 0;
  using Vector [[gnu::vector_size(kLanes * sizeof(Out))]] = uint8_t;
  if (n < kLanes || n > kMost) return apply(f, out, n, in);
  const bool whole = n % kLanes == 0;
  Vector last{};
  if (!whole) {
    alignas(Vector) Out results[kLanes];
#pragma omp simd
    for (int64_t k = 0; k < kLanes; ++k) results[k] = f(in[n - kLanes + k]);
    std::memcpy(&last, results, sizeof(last));
  }
  for (int64_t i = 0; i + kLanes <= n; i += kLanes) {
#pragma omp simd
    for (int64_t k = 0; k < kLanes; ++k) out[i + k] = f(in[i + k]);
  }
  if (!whole) std::memcpy(out + (n - kLanes), &last, sizeof(last));
}

/// The same of one operand and, for each row of it, numbers of its type.
template <class F, class Out, class T, size_t numbers>
void block_of_numbers(const void* formula, char* const* data, int64_t n, int64_t rows) {
  // A row of bytes is few vectors, and of the widest still fewer, which are slower.
  with_isa<sizeof(T) <= 2 ? Isa::V3 : Isa::V4>([=] {
    [=]<size_t... k>(std::index_sequence<k...>) {
      const F f = *static_cast<const F*>(formula);
      for (int64_t r = 0; r < rows; ++r) {
        const T number[] = {reinterpret_cast<const T*>(data[k + 2])[r]...};
        const auto g = [=](T x) { return f(x, number[k]...); };
        auto* const out = reinterpret_cast<Out*>(data[0]) + r * n;
        auto* const in = reinterpret_cast<const T*>(data[1]) + r * n;
        static constexpr int truth = kTruthOf<decltype(g), Out, T>;
        if constexpr (truth > 0) apply_truths<truth>(g, out, n, in);
        else apply_row(g, out, n, in);
      }
    }(std::make_index_sequence<numbers>());
  });
}
/// A formula whose loop is no faster where operands are numbers, or is none in vectors then.
template <class F>
struct OfTensors : F {
  using IsOfTensors = void;
};
template <class F>
OfTensors(F) -> OfTensors<F>;

/// That, unless a formula is so long that it does not matter where its operands are, or has
/// another one for some of them.
template <class F, class Out, class T, size_t numbers>
NumbersFunction if_short() {
  if constexpr (requires { typename F::IsLong; }) return nullptr;
  else if constexpr (requires { typename F::IsOfTensors; }) return nullptr;
  else if constexpr (Ranged<F, T, T> || Ranged<F, T, T, T>) return nullptr;
  else return isa() > Isa::Baseline ? block_of_numbers<F, Out, T, numbers> : nullptr;
}

/// Adds an operand of an op whose common dtype is `common`.
inline void add_operand(Pointwise& kernel, const Tensor& tensor, DType common, DType type,
                        Numbers numbers) {
  kernel.add(tensor, type, rounds(tensor, common, numbers) ? common : type);
}

/// Runs `f` on every element: result type C -> Out, where C is `dtype`.
template <class Visit, class F>
void run_unary(Tensor& out, const Tensor& self, DType dtype, Visit visit, F f) {
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    if constexpr (Short<F, T>) {
      if (run_sixteens(out, dtype, WithNumbers<F, 1>{f}, self)) return;
    } else if constexpr (WithHalf<F, T>) {
      const WithNumbers<decltype(F::of_half()), 1> call{F::of_half()};
      if (dtype == DType::Float16 && run_sixteen<Half>(out, dtype, call, self)) return;
      if constexpr (WithBFloat<F>) {
        const WithNumbers<decltype(F::of_bfloat()), 1> other{F::of_bfloat()};
        const bool bfloat = dtype == DType::BFloat16;
        if (bfloat && run_sixteen<BFloat16>(out, dtype, other, self)) return;
      }
    }
    using Out = decltype(f(T{}));
    Pointwise kernel{block<F, Out, T>, &f};
    if constexpr (Patched<F>) kernel.block = patched<F, T, block<F, T, T>>;
    kernel.add(out, dtype_of<Out>);
    kernel.add(self, dtype_of<T>);
    run_pointwise(kernel);
  });
}

template <class Visit, class F>
void run_binary(Tensor& out, const Tensor& self, const Tensor& other, DType dtype,
                Visit visit, F f, Numbers numbers = Numbers::Rounded) {
  const auto kept = [&](bool number) { return number ? numbers : Numbers::Rounded; };
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    if constexpr (Short<F, T, T>) {
      if (is_reduced(dtype)) {
        WithNumbers<F, 2> call{f};
        if (is_number(other, self, dtype)) call.give(1, number_of(other, dtype, numbers));
        Tensor few[2];
        if (run_sixteens(out, dtype, call, few_sixteens(self, out, dtype, few[0]),
                         few_sixteens(other, out, dtype, few[1]))) {
          return;
        }
      }
    }
    using Out = decltype(f(T{}, T{}));
    constexpr DType type = dtype_of<T>;
    Pointwise kernel{block<F, Out, T, T>, &f, if_short<F, Out, T, 1>()};
    kernel.add(out, dtype_of<Out>);
    add_operand(kernel, self, dtype, type, kept(self.impl()->wrapped_number));
    add_operand(kernel, other, dtype, type, kept(other.ndim() == 0));
    run_pointwise(kernel);
  });
}

template <class Visit, class F>
void run_ternary(Tensor& out, const Tensor& self, const Tensor& second, const Tensor& third,
                 DType dtype, Visit visit, F f, Numbers numbers = Numbers::Kept) {
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    if constexpr (Short<F, T, T, T>) {
      WithNumbers<F, 3> call{f};
      if (is_number(second, self, dtype)) call.give(1, number_of(second, dtype, numbers));
      if (is_number(third, self, dtype)) call.give(2, number_of(third, dtype, numbers));
      if (run_sixteens(out, dtype, call, self, second, third)) return;
    }
    constexpr DType type = dtype_of<T>;
    using Out = decltype(f(T{}, T{}, T{}));
    Pointwise kernel{block<F, Out, T, T, T>, &f, if_short<F, Out, T, 2>()};
    kernel.add(out, type);
    kernel.add(self, type);
    add_operand(kernel, second, dtype, type, numbers);
    add_operand(kernel, third, dtype, type, numbers);
    run_pointwise(kernel);
  });
}

}  // namespace pkg::ops

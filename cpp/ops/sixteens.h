// SPDX-License-Identifier: Apache-2.0
// ops/sixteens.h: formulas of float16 and bfloat16, which are computed in float32.  For
// ops/runs.h.
//
// Staging could convert them block by block.  A formula that takes no longer than that is
// compiled with the conversions: sixteen numbers are widened, computed and narrowed in
// registers, which takes half the time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <utility>

#include "ops/op.h"
#include "tensor/sixteen.h"
#include "tensor/staging.h"

namespace pkg::ops {

/// Whether numbers that meet 16-bit floats become such themselves before they are computed
/// with, so that 0.1 equals a tensor of 0.1.  As PyTorch does: factors do not.
enum class Numbers : bool { Rounded, Kept };

/// A formula with a range: f(x...) is right where F::fits(x...) says so, f.rest(x...), which
/// is slow, everywhere.
template <class F, class... In>
concept Ranged = requires(const F f, In... x) {
  { F::fits(x...) } -> std::same_as<bool>;
  f.rest(x...);
};

/// A formula that takes longer than conversions do.
template <class F>
struct Long : F {
  using IsLong = void;
};
/// One of float32 that is worth its own loops of 16-bit floats.  It must not throw: nothing
/// can be thrown out of such a loop.
template <class F, class... In>
concept Short = (std::same_as<In, float> && ...) && !Ranged<F, In...> &&
                !requires { typename F::IsLong; };

/// One with a shorter form for float16, F::of_half(), right for all its numbers; and with
/// one for bfloat16.
template <class F, class T>
concept WithHalf = std::same_as<T, float> && requires { F::of_half(); };
template <class F>
concept WithBFloat = requires { F::of_bfloat(); };
/// A formula for bfloat16 that is right for sizes up to F::kMost; f.rest(x) is slow.
template <class F>
concept Limited = requires(const F f, float x) {
  F::kMost;
  f.rest(x);
};

inline bool rounds(const Tensor& operand, DType common, Numbers numbers) {
  return numbers == Numbers::Rounded && is_reduced(common) && operand.dtype() != common;
}
/// Whether an operand of 16-bit floats is a number, which a formula is given.
inline bool is_number(const Tensor& operand, const Tensor& self, DType dtype) {
  return is_reduced(dtype) && operand.ndim() == 0 && self.ndim() > 0;
}
/// The only element of an operand of an op whose common dtype is `common`.
inline float number_of(const Tensor& tensor, DType common, Numbers numbers) {
  const DType type = DType::Float32, via = rounds(tensor, common, numbers) ? common : type;
  alignas(8) char spare[2][8];
  char* const scratch[] = {spare[0], spare[1]};
  const Conversion conversion(tensor.dtype(), type, via);
  float number = 0;
  auto* from = static_cast<const char*>(tensor.data());
  if (!conversion.count) return *tensor.data<float>();
  conversion.run(reinterpret_cast<char*>(&number), from, 1, scratch);
  return number;
}

/// A formula, and numbers that are given for some of its operands but the first.
template <class F, size_t count>
struct WithNumbers {
  F f;
  std::array<bool, count> given{};
  std::array<float, count> numbers{};
  void give(size_t k, float number) {
    given[k] = true;
    numbers[k] = number;
  }
};

/// Sixteen places of some tensors: out[i] = f(x[i]...), where x are widened but for numbers,
/// which are there already, if there are any.
template <Isa level, bool numbers, class F, class Out, class H, size_t... k>
inline void apply_sixteen(const WithNumbers<F, sizeof...(k)>& call, Out* out,
                          const std::array<const H*, sizeof...(k)>& in,
                          float (&x)[sizeof...(k)][kSixteen], std::index_sequence<k...>) {
  const auto bring = [&](auto operand) {
    constexpr size_t at = operand;
    if (!numbers || at == 0 || !call.given[at]) Sixteen<level>::widen(x[at], in[at]);
  };
  (bring(std::integral_constant<size_t, k>()), ...);
  if constexpr (std::is_same_v<Out, H>) {
    float y[kSixteen];
#pragma omp simd  // else it may be unrolled before it becomes a vector
    for (int i = 0; i < kSixteen; ++i) y[i] = call.f(x[k][i]...);
    Sixteen<level>::narrow(out, y);
  } else {
    int32_t y[kSixteen];  // one size for all until the end, or there are no vectors
#pragma omp simd
    for (int i = 0; i < kSixteen; ++i) y[i] = call.f(x[k][i]...) ? 1 : 0;
    auto* const bytes = reinterpret_cast<uint8_t*>(out);
    for (int i = 0; i < kSixteen; ++i) bytes[i] = uint8_t(y[i]);
  }
}

/// Such a formula as a block function of 16-bit floats, for `least` and levels above it.
/// What is left at the end is computed beside it.
template <Isa least, class F, class Out, class H, size_t count>
void sixteens(const void* formula, char* const* data, int64_t n) {
  with_sixteen<least>([=]<Isa level>(AtIsa<level>) {
    constexpr std::make_index_sequence<count> each;
    const auto call = *static_cast<const WithNumbers<F, count>*>(formula);
    auto* const out = reinterpret_cast<Out*>(data[0]);
    float x[count][kSixteen];
    std::array<const H*, count> in;
    for (size_t k = 0, operand = 1; k < count; ++k) {
      const bool given = k > 0 && call.given[k];
      if (given) std::fill_n(x[k], kSixteen, call.numbers[k]);
      in[k] = given ? in[0] : reinterpret_cast<const H*>(data[operand++]);
    }
    const auto loop = [&]<bool numbers>(std::bool_constant<numbers>) {
      const int64_t past = n;
      int64_t i = 0;
      for (; i + kSixteen <= past; i += kSixteen) {
        apply_sixteen<level, numbers>(call, out + i, in, x, each);
        for (size_t k = 0; k < count; ++k) in[k] += kSixteen;
      }
      if (i == past) return;
      H last[count][kSixteen] = {};
      Out results[kSixteen];
      for (size_t k = 0; k < count; ++k) {
        std::copy(in[k], in[k] + (past - i), last[k]);
        in[k] = last[k];
      }
      apply_sixteen<level, numbers>(call, results, in, x, each);
      std::copy(results, results + (past - i), out + i);
    };
    // Of two operands it costs nothing to ask each time, of three a quarter.
    if constexpr (count == 1) loop(std::false_type());
    else if constexpr (count == 2) loop(std::true_type());
    else if (call.given[1] || call.given[2]) loop(std::true_type());
    else loop(std::false_type());
  });
}

inline bool all_within(const BFloat16* in, int64_t n, float most) {
  int all = 1;
  with_isa(
      [&all, n, bits = reinterpret_cast<const uint16_t*>(in), limit = BFloat16(most).bits] {
        int within = 1;
        for (int64_t i = 0; i < n; ++i) within &= int((bits[i] & 0x7fff) <= limit);
        all = within;
      });
  return all;
}

/// The same of a limited formula.  Numbers beyond do not change what those beside them give.
template <Isa least, class F>
void limited_sixteens(const void* formula, char* const* data, int64_t n) {
  constexpr int64_t kChunk = 1024;
  auto* out = reinterpret_cast<BFloat16*>(data[0]);
  const auto* in = reinterpret_cast<const BFloat16*>(data[1]);
  for (; n > 0; n -= kChunk, out += kChunk, in += kChunk) {
    const int64_t size = std::min(n, kChunk);
    const bool within = all_within(in, size, F::kMost);
    uint16_t given[kChunk];
    if (!within) std::memcpy(given, in, size_t(size) * sizeof(BFloat16));
    char* const at[] = {reinterpret_cast<char*>(out),
                        const_cast<char*>(reinterpret_cast<const char*>(in))};
    sixteens<least, F, BFloat16, BFloat16, 1>(formula, at, size);
    if (within) continue;
    const F& f = static_cast<const WithNumbers<F, 1>*>(formula)->f;
    for (int64_t i = 0; i < size; ++i) {
      const float x = std::bit_cast<float>(uint32_t(given[i]) << 16);
      if (!(std::abs(x) <= F::kMost)) out[i] = BFloat16(f.rest(x));
    }
  }
}

/// Runs it over tensors that are all of `dtype`, whose numbers are H; false if they are not,
/// or below the level that it is worth its compiling for.  Of truths that is v4: below it
/// blocks that staging converts take 0.4 of the time.
template <class H, Isa least = Isa::V3, class F, class... In>
bool run_sixteen(Tensor& out, DType dtype, const WithNumbers<F, sizeof...(In)>& call,
                 const In&... in) {
  using Result = decltype(call.f((static_cast<void>(in), 0.0f)...));
  constexpr size_t count = sizeof...(In);
  constexpr bool truth = std::is_same_v<Result, bool>;
  static_assert(truth || std::is_same_v<Result, float>);
  constexpr Isa lowest = truth ? Isa::V4 : least;
  if (isa() < lowest || out.dtype() != (truth ? DType::Bool : dtype)) return false;
  Pointwise kernel{sixteens<lowest, F, std::conditional_t<truth, bool, H>, H, count>,
                   &call};
  if constexpr (Limited<F>) kernel.block = limited_sixteens<lowest, F>;
  kernel.add(out, out.dtype());
  const Tensor* const operands[] = {&in...};
  for (size_t k = 0; k < count; ++k) {
    if (call.given[k]) continue;
    if (operands[k]->dtype() != dtype) return false;
    kernel.add(*operands[k], dtype);
  }
  run_pointwise(kernel);
  return true;
}
/// The same of either 16-bit type; false of others.
template <Isa least = Isa::V3, class F, class... In>
bool run_sixteens(Tensor& out, DType dtype, const WithNumbers<F, sizeof...(In)>& call,
                  const In&... in) {
  if (dtype == DType::Float16) return run_sixteen<Half, least>(out, dtype, call, in...);
  return dtype == DType::BFloat16 && run_sixteen<BFloat16, least>(out, dtype, call, in...);
}

}  // namespace pkg::ops

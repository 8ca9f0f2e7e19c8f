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
#include <concepts>
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

/// One with a shorter form for float16, F::of_half(), right for all its numbers.
template <class F, class T>
concept WithHalf = std::same_as<T, float> && requires { F::of_half(); };

inline bool rounds(const Tensor& operand, DType common, Numbers numbers) {
  return numbers == Numbers::Rounded && is_reduced(common) && operand.dtype() != common;
}
/// Whether an operand of 16-bit floats is a number that a formula can be bound to.
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

/// The same sixteen places of some tensors: out[i] = f(in[i]...) for the first n of them.
template <Isa level, class F, class Out, class H, size_t... k>
inline void apply_sixteen(const F& f, Out* out, std::array<const H*, sizeof...(k)> in,
                          std::index_sequence<k...>) {
  float x[sizeof...(k)][kSixteen];
  (Sixteen<level>::widen(x[k], in[k]), ...);
  if constexpr (std::is_same_v<Out, H>) {
    float y[kSixteen];
#pragma omp simd  // else it may be unrolled before it becomes a vector
    for (int i = 0; i < kSixteen; ++i) y[i] = f(x[k][i]...);
    Sixteen<level>::narrow(out, y);
  } else {
    int32_t y[kSixteen];  // one size for all until the end, or there are no vectors
#pragma omp simd
    for (int i = 0; i < kSixteen; ++i) y[i] = f(x[k][i]...) ? 1 : 0;
    auto* const bytes = reinterpret_cast<uint8_t*>(out);
    for (int i = 0; i < kSixteen; ++i) bytes[i] = uint8_t(y[i]);
  }
}

/// A formula as a block function of 16-bit floats, for `least` and levels above it.  What is
/// left at the end is computed beside it.
template <Isa least, class F, class Out, class H, size_t count>
void sixteens(const void* formula, char* const* data, int64_t n) {
  with_sixteen<least>([=]<Isa level>(AtIsa<level>) {
    constexpr std::make_index_sequence<count> each;
    const F f = *static_cast<const F*>(formula);
    auto* const out = reinterpret_cast<Out*>(data[0]);
    std::array<const H*, count> in;
    for (size_t k = 0; k < count; ++k) in[k] = reinterpret_cast<const H*>(data[k + 1]);
    const int64_t past = n;
    int64_t i = 0;
    for (; i + kSixteen <= past; i += kSixteen) {
      apply_sixteen<level>(f, out + i, in, each);
      for (size_t k = 0; k < count; ++k) in[k] += kSixteen;
    }
    if (i == past) return;
    H last[count][kSixteen] = {};
    Out results[kSixteen];
    for (size_t k = 0; k < count; ++k) {
      std::copy(in[k], in[k] + (past - i), last[k]);
      in[k] = last[k];
    }
    apply_sixteen<level>(f, results, in, each);
    std::copy(results, results + (past - i), out + i);
  });
}

/// Runs it over tensors that are all of `dtype`, whose numbers are H; false if they are not,
/// or below the level that it is worth its compiling for.  Of truths that is v4: below it
/// blocks that staging converts take 0.4 of the time.
template <class H, Isa least = Isa::V3, class F, class... In>
bool run_sixteen(Tensor& out, DType dtype, const F& f, const In&... in) {
  using Result = decltype(f((static_cast<void>(in), 0.0f)...));
  constexpr size_t count = sizeof...(In);
  constexpr bool truth = std::is_same_v<Result, bool>;
  static_assert(truth || std::is_same_v<Result, float>);
  constexpr Isa lowest = truth ? Isa::V4 : least;
  if (isa() < lowest) return false;
  if (out.dtype() != (truth ? DType::Bool : dtype) || !((in.dtype() == dtype) && ...)) {
    return false;
  }
  Pointwise kernel{sixteens<lowest, F, std::conditional_t<truth, bool, H>, H, count>, &f};
  kernel.add(out, out.dtype());
  (kernel.add(in, dtype), ...);
  run_pointwise(kernel);
  return true;
}
/// The same of either 16-bit type; false of others.
template <Isa least = Isa::V3, class F, class... In>
bool run_sixteens(Tensor& out, DType dtype, const F& f, const In&... in) {
  if (dtype == DType::Float16) return run_sixteen<Half, least>(out, dtype, f, in...);
  return dtype == DType::BFloat16 && run_sixteen<BFloat16, least>(out, dtype, f, in...);
}

}  // namespace pkg::ops

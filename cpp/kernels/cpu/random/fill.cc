// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/random/fill.cc: uniform and normal numbers, integers, coins and dropout.
//
// One rounding for each operation, so that every instruction set draws the same numbers.
#pragma GCC optimize("fp-contract=off")
#include <algorithm>
#include <atomic>

#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/random/transforms.h"
#include "kernels/cpu/rows.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"
#include "tensor/generator.h"

namespace pkg {
namespace {

template <class T>
inline constexpr bool kIsNarrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
/// What numbers of a dtype are computed in.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Calls f for a floating type of storage.
template <class F>
void visit_stored(DType dtype, F f) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (kIsNarrow<T> || std::is_floating_point_v<T>) f(tag);
  });
}

/// Fills `out` with the next numbers of the stream; make(words, numbers) gives N of them.
template <class T, int N, class Make>
void fill(Tensor& out, Draw draw, const Make& make) {
  const RowsOut<T> dense(out);
  T* numbers = dense.data();
  const RandomStream stream = reserve_random(uint64_t(out.numel()));
  parallel_for(0, out.numel(), kGrain, [=](int64_t begin, int64_t end) {
    with_isa([=] {
      fill_groups<N>(stream.seed, draw, stream.first, begin, end, numbers, make);
    });
  });
}

/// [0, 1): from a word, or from 64 bits.
template <class T>
inline void units(const Words& words, Computed<T>* out) {
  if constexpr (std::is_same_v<T, double>) {
    for (int k = 0; k < 2; ++k) {
      for (int i = 0; i < kLanes; ++i) {
        out[k * kLanes + i] = unit53(words.word[2 * k][i], words.word[2 * k + 1][i]);
      }
    }
  } else {
    for (int k = 0; k < 4; ++k) {
      for (int i = 0; i < kLanes; ++i) {
        out[k * kLanes + i] = unit<kDigits<T>>(words.word[k][i]);
      }
    }
  }
}
template <class T>
inline constexpr int kUnits = std::is_same_v<T, double> ? 2 * kLanes : 4 * kLanes;

// The largest number of T below `end`, or `low` where that is larger.
template <class T, class C>
T last_below(C end, C low) {
  if constexpr (std::is_same_v<T, C>) return low;
  else {
    T last(end);
    if (C(last) >= end) {
      if ((last.bits & 0x7fff) == 0) last.bits = 0x8001;
      else last.bits = uint16_t(last.bits + (last.bits & 0x8000 ? 1 : -1));
    }
    return C(last) > low ? last : T(low);
  }
}

// A multiple of 2^-digits in [0, 1) in 16 bits: a part of those of the float.
template <class T>
inline T exactly(float unit) {
  const uint32_t bits = std::bit_cast<uint32_t>(unit);
  T narrow;
  if constexpr (std::is_same_v<T, BFloat16>) narrow.bits = uint16_t(bits >> 16);
  else narrow.bits = bits ? uint16_t((bits >> 13) - (112u << 10)) : uint16_t(0);
  return narrow;
}

void uniform_kernel(Tensor& out, const Tensor&, double from, double to) {
  visit_stored(out.dtype(), [&]<class T>(TypeTag<T>) {
    using C = Computed<T>;
    const C low = C(from), high = C(to), span = C(to - from);
    const T last = last_below<T>(high, low);
    if constexpr (kIsNarrow<T>) {
      if (low == C(0) && !std::signbit(low) && high == C(1)) {
        return fill<T, kUnits<T>>(out, Draw::Uniform, [](const Words& words, T* numbers) {
          C u[kUnits<T>];
          units<T>(words, u);
          for (int i = 0; i < kUnits<T>; ++i) numbers[i] = exactly<T>(u[i]);
        });
      }
    }
    fill<T, kUnits<T>>(out, std::is_same_v<T, double> ? Draw::Wide : Draw::Uniform,
                       [=](const Words& words, T* numbers) {
                         C u[kUnits<T>];
                         units<T>(words, u);
                         for (int i = 0; i < kUnits<T>; ++i) {
                           const T x = T(low + span * u[i]);
                           numbers[i] = C(x) < high ? x : last;  // rounded up to the end
                         }
                       });
  });
}

// Box & Muller 1958: two numbers from a radius and an angle.
void normal_kernel(Tensor& out, const Tensor&, double mean, double std) {
  visit_stored(out.dtype(), [&]<class T>(TypeTag<T>) {
    using C = Computed<T>;
    const C middle = C(mean), spread = C(std);
    if constexpr (std::is_same_v<T, double>) {
      fill<T, 2 * kLanes>(out, Draw::Normal64, [=](const Words& words, double* numbers) {
        for (int i = 0; i < kLanes; ++i) {
          const double r = radius(open_unit<double>(words.word[0][i], words.word[1][i]));
          double cosine, sine;
          turn(words.word[2][i], words.word[3][i], cosine, sine);
          numbers[i] = middle + spread * (r * cosine);
          numbers[kLanes + i] = middle + spread * (r * sine);
        }
      });
    } else {
      fill<T, 4 * kLanes>(out, Draw::Normal, [=](const Words& words, T* numbers) {
        float made[4 * kLanes];
        for (int k = 0; k < 4; k += 2) {
          for (int i = 0; i < kLanes; ++i) {
            const float r = radius(open_unit<float>(words.word[k][i], 0));
            float cosine, sine;
            turn(words.word[k + 1][i], 0, cosine, sine);
            made[k * kLanes + i] = middle + spread * (r * cosine);
            made[(k + 1) * kLanes + i] = middle + spread * (r * sine);
          }
        }
        for (int i = 0; i < 4 * kLanes; ++i) numbers[i] = T(made[i]);
      });
    }
  });
}

// Made as T, which other dtypes are converted from, block by block.  N holds all numbers:
// int32_t becomes a float in one instruction.
template <class T, class N>
void fill_integers(Tensor& out, int64_t low, uint64_t range) {
  constexpr int64_t kGroup = 2 * kLanes, kBlock = 1024;
  const RunsOut<T> to(out);
  const RandomStream stream = reserve_random(uint64_t(out.numel()));
  parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) T buffer[kBlock];
    alignas(64) uint64_t bits[kBlock];
    for (int64_t at = begin; at < end;) {
      // Blocks end where groups do.
      const uint64_t first = stream.first + uint64_t(at);
      const int64_t n = std::min(kBlock - int64_t(first % kGroup), end - at);
      random_bits(stream.seed, Draw::Wide, first, n, bits);
      draw_below(bits, n, range);
      T* const made = to.run(at, buffer);
      with_isa([=, from = static_cast<const uint64_t*>(bits)] {
        const int64_t count = n;
#pragma GCC ivdep
        for (int64_t i = 0; i < count; ++i) made[i] = T(N(uint64_t(low) + from[i]));
      });
      to.put(at, n, buffer);
      at += n;
    }
  });
}
void integers_kernel(Tensor& out, const Tensor&, int64_t low, int64_t high) {
  const uint64_t range = uint64_t(high) - uint64_t(low);  // up to 2**64 - 1
  const bool small = low >= INT32_MIN && high - 1 <= INT32_MAX;
  if (is_reduced(out.dtype())) {
    if (small) fill_integers<float, int32_t>(out, low, range);
    else fill_integers<float, int64_t>(out, low, range);
  } else if (small && out.dtype() != DType::Int64) {
    fill_integers<int32_t, int32_t>(out, low, range);
  } else {
    fill_integers<int64_t, int64_t>(out, low, range);
  }
}

// One with the probability that `chances` says, else zero.
void bernoulli_kernel(Tensor& out, const Tensor& chances) {
  const Tensor given = as_contiguous(chances);
  visit_stored(out.dtype(), [&]<class T>(TypeTag<T>) {
    using C = Computed<T>;
    constexpr int kBlock = 1024;
    const RowsOut<T> dense(out);
    const T* p = given.data<T>();
    T* to = dense.data();
    const RandomStream stream = reserve_random(uint64_t(out.numel()));
    std::atomic<bool> wrong{false};
    parallel_for(0, out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      with_isa([&] {
        C u[kBlock];
        for (int64_t at = begin; at < end; at += kBlock) {
          const int64_t n = std::min<int64_t>(kBlock, end - at);
          fill_groups<kUnits<C>>(
              stream.seed, Draw::Keep, stream.first + uint64_t(at), 0, n, u,
              [](const Words& words, C* numbers) { units<C>(words, numbers); });
          int bad = 0;
          for (int64_t i = 0; i < n; ++i) {
            const C chance = C(p[at + i]);
            bad |= !(chance >= C(0) && chance <= C(1));
            to[at + i] = T(u[i] < chance ? 1.0f : 0.0f);
          }
          if (bad) wrong = true;
        }
      });
    });
    PKG_CHECK(!wrong, RuntimeError, "[bernoulli] expected 0 <= p <= 1 for every element.");
  });
}

// The mask is drawn again for the gradient: nothing is kept.
void dropout_kernel(Tensor& out, const Tensor& self, double p, int64_t seed,
                    int64_t first) {
  const Tensor given = as_contiguous(self);
  visit_stored(out.dtype(), [&]<class T>(TypeTag<T>) {
    using C = Computed<T>;
    constexpr int kBlock = 1024;
    const RowsOut<T> dense(out);
    const T* x = given.data<T>();
    T* to = dense.data();
    const auto dropped = uint32_t(std::min(p * 0x1p32, 0x1p32 - 1));
    const C scale = C(1 / (1 - p));
    parallel_for(0, out.numel(), kGrain, [=](int64_t begin, int64_t end) {
      with_isa([=] {
        C factor[kBlock];
        for (int64_t at = begin; at < end; at += kBlock) {
          const int64_t n = std::min<int64_t>(kBlock, end - at);
          fill_groups<4 * kLanes>(
              uint64_t(seed), Draw::Keep, uint64_t(first) + uint64_t(at), 0, n, factor,
              [=](const Words& words, C* numbers) {
                for (int k = 0; k < 4; ++k) {
                  for (int i = 0; i < kLanes; ++i) {
                    numbers[k * kLanes + i] = words.word[k][i] < dropped ? C(0) : scale;
                  }
                }
              });
          for (int64_t i = 0; i < n; ++i) to[at + i] = T(C(x[at + i]) * factor[i]);
        }
      });
    });
  });
}

void reserve_kernel(Tensor& out, const Tensor& self) {
  const RandomStream stream = reserve_random(uint64_t(self.numel()));
  out.data<int64_t>()[0] = int64_t(stream.seed);
  out.data<int64_t>()[1] = int64_t(stream.first);
}
void dropout_from_kernel(Tensor& out, const Tensor& self, const Tensor& place, double p) {
  const Tensor numbers = as_contiguous(place);
  const int64_t* at = numbers.data<int64_t>();
  dropout_kernel(out, self, p, at[0], at[1]);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("uniform", uniform_kernel);
  m.impl("normal", normal_kernel);
  m.impl("_integers", integers_kernel);
  m.impl("bernoulli", bernoulli_kernel);
  m.impl("_dropout", dropout_kernel);
  m.impl("_reserve_numbers", reserve_kernel);
  m.impl("_dropout_from", dropout_from_kernel);
}

}  // namespace
}  // namespace pkg

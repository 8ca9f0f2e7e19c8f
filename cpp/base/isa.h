// SPDX-License-Identifier: Apache-2.0
// base/isa.h: run-time choice of the instruction set for plain loops.
//
// with_isa([&] { loops }) compiles its body three times, for the baseline, for
// x86-64-v3 (AVX2, FMA) and for x86-64-v4 (AVX-512), and runs the best one this CPU
// has.  `flatten` pulls everything the body calls into the copy, so ordinary inline
// functions and lambdas are vectorised for the chosen set.  PKG_ISA=baseline|v3|v4
// forces a lower level, for tests.  Where there are levels above it, the baseline is for
// processors of before 2013.  Its copy is optimised less, so GCC leaves most of what it
// calls outside of it, as functions that are compiled like all others.
#pragma once

#include <utility>

namespace pkg {

enum class Isa : int { Baseline = 0, V3 = 1, V4 = 2 };

namespace detail {
extern int g_isa;  // set once before main by isa.cc
}

/// The level in use.
inline Isa isa() { return Isa(detail::g_isa); }
const char* name_of(Isa isa);
/// Forces a level for the whole process (tests); ValueError above what the CPU has.
void set_isa(Isa isa);

#if defined(__x86_64__) && defined(__GNUC__)
#define PKG_TARGET_V3 gnu::target("avx,avx2,fma,bmi,bmi2,f16c,lzcnt,popcnt,sse4.2")
#define PKG_TARGET_V4                                                                     \
  gnu::target("avx,avx2,fma,bmi,bmi2,f16c,lzcnt,popcnt,sse4.2,avx512f,avx512bw,avx512cd," \
              "avx512dq,avx512vl,prefer-vector-width=512")
#endif

namespace detail {

#ifdef PKG_TARGET_V3
template <class F>
[[PKG_TARGET_V3, gnu::flatten, gnu::noinline]] void run_v3(F& f) {
  f();
}
template <class F>
[[PKG_TARGET_V4, gnu::flatten, gnu::noinline]] void run_v4(F& f) {
  f();
}
#endif
#if defined(PKG_TARGET_V3) && !defined(__clang__)
#define PKG_QUICK_TO_COMPILE \
  gnu::optimize("O2", "no-tree-loop-vectorize", "no-tree-slp-vectorize")
#else
#define PKG_QUICK_TO_COMPILE gnu::noinline
#endif
template <class F>
[[PKG_QUICK_TO_COMPILE, gnu::flatten, gnu::noinline]] void run_baseline(F& f) {
  f();
}
#undef PKG_QUICK_TO_COMPILE

}  // namespace detail

/// Runs `f()` compiled for the instruction set in use, or the level `most` below it.
template <Isa most = Isa::V4, class F>
inline void with_isa(F&& f) {
#ifdef PKG_TARGET_V3
  if constexpr (most == Isa::V4) {
    if (detail::g_isa == int(Isa::V4)) return detail::run_v4(f);
  }
  if (detail::g_isa >= int(Isa::V3)) return detail::run_v3(f);
#endif
  detail::run_baseline(f);
}
/// The same for the levels above the baseline, of which one must be in use.
template <class F>
inline void with_vectors([[maybe_unused]] F&& f) {
#ifdef PKG_TARGET_V3
  if (detail::g_isa == int(Isa::V4)) return detail::run_v4(f);
  detail::run_v3(f);
#endif
}

}  // namespace pkg

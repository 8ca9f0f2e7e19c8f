// SPDX-License-Identifier: Apache-2.0
// ops/patches.h: formulas of ordinary numbers, which are shorter than those of all, and what
// becomes of the others.  For ops/runs.h.
//
// All numbers go through the same loop, so that none depends on those beside it: others are
// replaced by ones that do no harm, and get their results afterwards.
#pragma once

#include <algorithm>

#include "base/isa.h"

namespace pkg::ops {

/// F::Others says which fits(x), and what is special(x), which is cheap; for those that are
/// is_slow(x) it is F::rest(x).
template <class F>
concept Patched = requires { typename F::Others; };

/// A chunk of numbers of which some do not fit.  Its loops are the same for many formulas.
template <class Others, class T>
class Patch {
 public:
  static constexpr int64_t kSize = 1024;

  /// `in` if all fit, else numbers that do.
  const T* tamed(const T* in, int64_t n) {
    int all = 1;
    with_isa([&] {
      int fitting = 1;
      for (int64_t i = 0; i < n; ++i) fitting &= int(Others::fits(in[i]));
      all = fitting;
    });
    used_ = !all;
    if (all) return in;
    with_isa([&] {
      int slow = 0;
      for (int64_t i = 0; i < n; ++i) {
        slow |= int(Others::is_slow(in[i]));
        given_[i] = in[i];
        tame_[i] = Others::fits(in[i]) ? in[i] : T(1);
      }
      slow_ = slow;
    });
    return tame_;
  }
  /// Puts in the results of the others.
  template <class Rest>
  void mend(T* out, int64_t n, Rest rest) const {
    if (!used_) return;
    put_specials(out, n);
    for (int64_t i = 0; slow_ && i < n; ++i) {
      if (Others::is_slow(given_[i])) out[i] = rest(given_[i]);
    }
  }

 private:
  void put_specials(T* out, int64_t n) const {
    with_isa([&] {
      for (int64_t i = 0; i < n; ++i) {
        const T special = Others::special(given_[i]);
        out[i] = Others::fits(given_[i]) ? out[i] : special;
      }
    });
  }

  bool used_ = false, slow_ = false;
  T given_[kSize], tame_[kSize];
};

/// The block function of such a formula, from that of its loop.
template <class F, class T, auto loop>
void patched(const void* formula, char* const* data, int64_t n) {
  using Chunk = Patch<typename F::Others, T>;
  Chunk patch;
  auto* out = reinterpret_cast<T*>(data[0]);
  const auto* in = reinterpret_cast<const T*>(data[1]);
  for (; n > 0; n -= Chunk::kSize, out += Chunk::kSize, in += Chunk::kSize) {
    const int64_t size = std::min(n, Chunk::kSize);
    const T* const from = patch.tamed(in, size);
    char* const at[] = {reinterpret_cast<char*>(out),
                        const_cast<char*>(reinterpret_cast<const char*>(from))};
    loop(formula, at, size);
    patch.mend(out, size, [](T x) { return F::rest(x); });
  }
}

}  // namespace pkg::ops

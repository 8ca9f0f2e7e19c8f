// SPDX-License-Identifier: Apache-2.0
// base/isa.cc: finds the instruction set level of this CPU.
#include "base/isa.h"

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace pkg {
namespace {

int best_isa() {
#ifdef PKG_TARGET_V3
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    return int(Isa::V4);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return int(Isa::V3);
  }
#endif
  return int(Isa::Baseline);
}

int initial_isa() {
  const int best = best_isa();
  const char* forced = std::getenv("PKG_ISA");
  if (!forced) return best;
  for (int level = 0; level <= best; ++level) {
    if (std::string_view(forced) == name_of(Isa(level))) return level;
  }
  // An unknown or unavailable level does not stop a C++ program while it is loaded: it
  // runs with the best.  Python asks which that is and refuses (pkg/_binding.py).
  return best;
}

}  // namespace

int detail::g_isa = initial_isa();

const char* name_of(Isa isa) {
  constexpr const char* names[] = {"baseline", "v3", "v4"};
  return names[int(isa)];
}

void set_isa(Isa isa) {
  PKG_CHECK(int(isa) >= 0 && int(isa) <= best_isa(), ValueError,
            "[set_isa] this CPU offers up to ", name_of(Isa(best_isa())), ", got level ",
            int(isa), ".");
  detail::g_isa = int(isa);
}

}  // namespace pkg

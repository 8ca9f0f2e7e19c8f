// SPDX-License-Identifier: Apache-2.0
// tensor/copy_run.h: bytes that lie side by side, moved without a call.
#pragma once

#include <cstdint>
#include <cstring>

namespace pkg {

/// memcpy for the inside of with_isa(): a few dozen bytes to a few thousand, where a call
/// would cost as much as the bytes.
[[gnu::always_inline]] inline void copy_run(char* to, const char* from, int64_t bytes) {
  if (bytes >= 64) {
    for (int64_t i = 0; i + 64 < bytes; i += 64) std::memcpy(to + i, from + i, 64);
    std::memcpy(to + bytes - 64, from + bytes - 64, 64);  // may write some of them again
  } else if (bytes >= 16) {
    for (int64_t i = 0; i + 16 < bytes; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 4) {
    for (int64_t i = 0; i + 4 < bytes; i += 4) std::memcpy(to + i, from + i, 4);
    std::memcpy(to + bytes - 4, from + bytes - 4, 4);
  } else {
    for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

/// Runs longer than this are memcpy's, which knows what to do beyond the caches.
inline constexpr int64_t kLongRun = 4096;

}  // namespace pkg

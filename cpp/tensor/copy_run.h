// SPDX-License-Identifier: Apache-2.0
// tensor/copy_run.h: bytes that lie side by side: few moved without a call, many by memmove.
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

/// memmove, for what may be long.  Where `to` lies 1 to 31 bytes behind `from`, whole pages
/// aside, `rep movsb` takes twenty times as long on AMD's Zen 3, and the C library takes it for
/// what is longer than 2 KB and fits into the second cache.
inline void move_bytes(void* to, const void* from, int64_t bytes) {
  constexpr int64_t kPiece = 2048, kMost = 1 << 20;
  const uint64_t behind = reinterpret_cast<uintptr_t>(to) -
                          reinterpret_cast<uintptr_t>(from);
  if (bytes > kPiece && bytes <= kMost && (behind - 1) % 4096 < 31 &&
      behind >= uint64_t(bytes)) {
    auto* at = static_cast<char*>(to);
    auto* next = static_cast<const char*>(from);
    for (; bytes > kPiece; at += kPiece, next += kPiece, bytes -= kPiece) {
      std::memmove(at, next, kPiece);
    }
    to = at;
    from = next;
  }
  std::memmove(to, from, size_t(bytes));
}

/// Runs longer than this are the C library's, which knows what to do beyond the caches.
inline constexpr int64_t kLongRun = 4096;

}  // namespace pkg

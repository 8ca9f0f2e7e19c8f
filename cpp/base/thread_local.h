// SPDX-License-Identifier: Apache-2.0
// base/thread_local.h: thread-local variables for the hottest paths, and counters that
// threads raise without touching shared memory.
#pragma once

#include <atomic>
#include <cstdint>

/// For a few words per thread only: the loader reserves little space for libraries that
/// are opened late.  Access is one instruction instead of a call.
#define PKG_FAST_TLS [[gnu::tls_model("initial-exec")]]

namespace pkg {

/// What is counted while it lives.
enum class Live : uint8_t { Tensors, Nodes, Events, Streams };
inline constexpr int kLiveKinds = 4;

namespace detail {

/// One thread's counts; only that thread writes them.
struct LiveCounts {
  std::atomic<int64_t> values[kLiveKinds] = {};
  LiveCounts* next = nullptr;
  std::atomic<bool> in_use{true};
};
PKG_FAST_TLS extern thread_local constinit LiveCounts* t_live_counts;
LiveCounts& make_live_counts() noexcept;

}  // namespace detail

inline void count_live(Live kind, int64_t by) {
  detail::LiveCounts* mine = detail::t_live_counts;
  if (!mine) mine = &detail::make_live_counts();
  auto& value = mine->values[int(kind)];
  value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

/// Objects alive in the process; exact when no other thread makes or frees any.
int64_t live_count(Live kind);

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// base/thread_local.cc: the list of all threads' counters.
#include "base/thread_local.h"

#include <new>

namespace pkg {
namespace detail {
namespace {

// Counters stay in the list when their thread ends, so that no count is lost; the next
// new thread goes on with them.  The last in the list are of threads for which there is no
// memory; two of them at once may lose a count.
constinit LiveCounts g_without_memory;
std::atomic<LiveCounts*> g_all{&g_without_memory};

struct Owner {
  LiveCounts* counts = nullptr;
  ~Owner() {
    t_live_counts = nullptr;
    if (counts) counts->in_use.store(false, std::memory_order_release);
  }
};
thread_local Owner t_owner;

}  // namespace

PKG_FAST_TLS thread_local constinit LiveCounts* t_live_counts = nullptr;

LiveCounts& make_live_counts() noexcept {
  LiveCounts* counts = g_all.load(std::memory_order_acquire);
  bool free = false;
  while (counts && !counts->in_use.compare_exchange_strong(free, true)) {
    free = false;
    counts = counts->next;
  }
  if (!counts) {
    counts = new (std::nothrow) LiveCounts;
    if (!counts) return g_without_memory;
    counts->next = g_all.load(std::memory_order_relaxed);
    while (!g_all.compare_exchange_weak(counts->next, counts)) {}
  }
  t_owner.counts = counts;
  t_live_counts = counts;
  return *counts;
}

}  // namespace detail

int64_t live_count(Live kind) {
  int64_t total = 0;
  const auto* counts = detail::g_all.load(std::memory_order_acquire);
  for (; counts; counts = counts->next) {
    total += counts->values[int(kind)].load(std::memory_order_relaxed);
  }
  return total;
}

}  // namespace pkg

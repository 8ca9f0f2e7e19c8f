// SPDX-License-Identifier: Apache-2.0
// tensor/allocator.cc: what each thread keeps before the shared pool.
#include "tensor/allocator.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/thread_local.h"
#include "scheduler/event.h"
#include "scheduler/fork_locks.h"
#include "scheduler/pool.h"
#include "scheduler/scheduler.h"
#include "tensor/block_pool.h"
#include "tensor/size_class.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace pkg {
namespace {

using detail::batch_of;
using detail::class_bytes;
using detail::class_of;
using detail::FreeBlock;
using detail::give_shared;
using detail::kClasses;
using detail::kThreadMaxBlock;
using detail::link;
using detail::SizeClass;
using detail::unlink;

// The free blocks of one thread.  Only its thread writes; anybody may read the counts,
// from which the bytes in use follow without a write of their own per allocation.
struct ThreadClass {
  FreeBlock* head = nullptr;
  FreeBlock* spare = nullptr;  // a whole batch
  std::atomic<uint32_t> count{0}, spare_count{0};

  void push(FreeBlock* block) {
    link(head, block);
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  FreeBlock* pop() {
    count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return unlink(head);
  }
  void set(FreeBlock* list, uint32_t n) {
    head = list;
    count.store(n, std::memory_order_relaxed);
  }
  void set_spare(FreeBlock* list, uint32_t n) {
    spare = list;
    spare_count.store(n, std::memory_order_relaxed);
  }
};
struct ThreadCache {
  ThreadClass classes[kClasses];
  ThreadCache* next = nullptr;
  bool in_use = true;      // by a living thread; guarded by g_caches_lock
  int64_t worker_of = -1;  // the process (its fork generation) whose pool it works for
  std::atomic<bool> wanted{false};  // its thread should give it to the system
};

// Every cache ever made, in use or not.  Leaked on purpose: tensors may die during static
// destruction.
constinit ThreadCache* g_first = nullptr;
constinit std::mutex g_caches_lock;
const detail::HeldOverFork g_caches_held{detail::ForkLock::ThreadCaches, g_caches_lock};

int64_t cached_by_threads() {
  std::lock_guard lock(g_caches_lock);
  int64_t bytes = 0;
  for (const ThreadCache* cache = g_first; cache; cache = cache->next) {
    for (int i = 0; i < kClasses; ++i) {
      const ThreadClass& cls = cache->classes[i];
      bytes += class_bytes(i) * int64_t(cls.count.load(std::memory_order_relaxed) +
                                        cls.spare_count.load(std::memory_order_relaxed));
    }
  }
  return bytes;
}

int64_t bytes_in_use() {
  return detail::pool_totals().system_bytes - detail::pool_totals().bytes_cached -
         cached_by_threads();
}

// Gives all that a thread has of a class to the shared pool.
void give_all(int index, ThreadClass& cls) noexcept {
  if (cls.spare) give_shared(index, cls.spare, cls.spare_count.load());
  if (cls.head) give_shared(index, cls.head, cls.count.load());
  cls.set_spare(nullptr, 0);
  cls.set(nullptr, 0);
}

// The running thread's cache; null before its first allocation and after its end.
PKG_FAST_TLS thread_local constinit ThreadCache* t_cache = nullptr;
thread_local constinit bool t_gone = false;

// Takes the cache of the thread at its end; a later thread goes on with it.
struct CacheOwner {
  ThreadCache* cache;
  CacheOwner() {
    std::lock_guard lock(g_caches_lock);
    cache = g_first;
    while (cache && cache->in_use) cache = cache->next;
    if (!cache) {
      cache = new ThreadCache;
      cache->next = g_first;
      g_first = cache;
    }
    cache->in_use = true;
    cache->worker_of = on_worker() ? int64_t{detail::fork_generation()} : -1;
    t_cache = cache;
  }
  ~CacheOwner() {
    t_cache = nullptr;
    t_gone = true;
    for (int index = 0; index < kClasses; ++index) {
      give_all(index, cache->classes[index]);
    }
    std::lock_guard lock(g_caches_lock);
    cache->in_use = false;
  }
};

// Called where a delay does not matter, and before a worker sleeps.
void give_if_wanted() noexcept {
  ThreadCache* cache = t_cache;
  if (!cache || !cache->wanted.load(std::memory_order_relaxed)) return;
  for (int index = 0; index < kClasses; ++index) {
    give_all(index, cache->classes[index]);
    if (!detail::is_cut(index)) detail::empty_class(index);
  }
  cache->wanted.store(false, std::memory_order_release);
}

ThreadCache* make_cache() {
  if (t_gone) return nullptr;
  detail::Pool::before_sleep(give_if_wanted);
  static thread_local CacheOwner owner;
  return owner.cache;
}

// Everything but the thread's own free blocks.
[[gnu::noinline]] void* allocate_slowly(const SizeClass& cls, size_t nbytes) {
  if (!t_cache) make_cache();
  give_if_wanted();
  if (!t_cache || cls.bytes > kThreadMaxBlock) {
    return detail::take_shared(cls, 1, nbytes);
  }
  ThreadClass& local = t_cache->classes[cls.index];
  if (local.spare) {
    local.set(local.spare, local.spare_count.load(std::memory_order_relaxed));
    local.set_spare(nullptr, 0);
  } else {
    FreeBlock* list = detail::take_shared(cls, batch_of(cls.index), nbytes);
    ASAN_UNPOISON_MEMORY_REGION(list, sizeof(FreeBlock));
    local.set(list, list->count);
  }
  return local.pop();
}

[[gnu::noinline]] void deallocate_slowly(int index, ThreadClass& local) noexcept {
  give_if_wanted();
  if (local.spare) {
    give_shared(index, local.spare, local.spare_count.load(std::memory_order_relaxed));
  }
  local.set_spare(local.head, local.count.load(std::memory_order_relaxed));
  local.set(nullptr, 0);
}

}  // namespace

void* allocate(size_t nbytes) {
  PKG_CHECK(nbytes <= (size_t{1} << 46), OutOfMemoryError, "[allocate] cannot hold ",
            nbytes, " bytes.");
  const SizeClass cls = class_of(nbytes);
  ThreadCache* cache = t_cache;
  void* ptr = cache && cache->classes[cls.index].head ? cache->classes[cls.index].pop()
                                                      : allocate_slowly(cls, nbytes);
  ASAN_UNPOISON_MEMORY_REGION(ptr, nbytes);  // not the rest of the block
  return ptr;
}

void deallocate(void* ptr, size_t nbytes) noexcept {
  if (!ptr) return;
  const SizeClass cls = class_of(nbytes);
  ASAN_POISON_MEMORY_REGION(ptr, cls.bytes);
  auto* block = static_cast<FreeBlock*>(ptr);
  ThreadCache* cache = t_cache;
  if (cache && cls.bytes <= kThreadMaxBlock) {
    ThreadClass& local = cache->classes[cls.index];
    if (local.count.load(std::memory_order_relaxed) >= batch_of(cls.index)) {
      deallocate_slowly(cls.index, local);
    }
    return local.push(block);
  }
  FreeBlock* alone = nullptr;
  link(alone, block);
  give_shared(cls.index, alone, 1);
}

AllocatorStats allocator_stats() {
  const detail::PoolTotals& s = detail::pool_totals();
  AllocatorStats stats;
  stats.system_allocations = s.system_allocations;
  stats.bytes_in_use = bytes_in_use();
  stats.peak_bytes = std::max<int64_t>(s.peak, stats.bytes_in_use);
  stats.bytes_cached = s.bytes_cached;
  return stats;
}

namespace {

// Asks for the caches of all threads; the workers that rest give theirs at once.
void want_thread_caches() {
  const auto mark = [](bool only_look) {
    bool workers = false;
    std::lock_guard lock(g_caches_lock);
    for (ThreadCache* cache = g_first; cache; cache = cache->next) {
      if (!cache->in_use) continue;
      if (!only_look) cache->wanted.store(true, std::memory_order_relaxed);
      workers |= cache->worker_of == int64_t{detail::fork_generation()} &&
                 cache->wanted.load(std::memory_order_acquire);
    }
    return workers;
  };
  bool workers = mark(false);
  give_if_wanted();  // our own
  if (!workers || on_worker()) return;
  detail::Pool::rouse();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (workers && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    workers = mark(true);
  }
}

}  // namespace

void empty_cache() {
  want_thread_caches();
  for (int index = 0; index < kClasses; ++index) detail::empty_class(index);
#ifdef __GLIBC__
  malloc_trim(0);  // or it keeps small blocks for itself while one behind them is in use
#endif
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// tensor/allocator.cc: size classes, thread caches, shared pool.
#include "tensor/allocator.h"

#include <sys/mman.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

#include "base/error.h"
#include "base/thread_local.h"
#include "scheduler/parallel.h"
#include "scheduler/pool.h"
#include "scheduler/scheduler.h"
#include "tensor/size_class.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#endif

namespace pkg {
namespace {

using detail::class_bytes;
using detail::class_of;
using detail::kClasses;
using detail::SizeClass;

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kThreadClassBytes = 256 << 10;  // what one thread keeps per class
constexpr size_t kThreadMaxBlock = 64 << 10;     // larger blocks go to the shared pool
// How long one who finds no memory waits for pending work, which may hold some, and how
// often he looks meanwhile.
constexpr auto kWait = std::chrono::seconds(10);
constexpr double kStepSeconds = 0.1;

struct ThreadCache;
struct FreeBlock {
  FreeBlock* next;
};

// Under AddressSanitizer a free block may not be touched, except here.
void link(FreeBlock*& head, FreeBlock* block) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));
  block->next = head;
  head = block;
  ASAN_POISON_MEMORY_REGION(block, sizeof(FreeBlock));
}
FreeBlock* unlink(FreeBlock*& head) noexcept {
  FreeBlock* block = head;
  ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));
  head = block->next;
  return block;
}

struct SharedClass {
  std::mutex mutex;
  FreeBlock* head = nullptr;
};

struct Shared {
  SharedClass classes[kClasses];
  std::atomic<int64_t> system_allocations{0};
  std::atomic<int64_t> system_bytes{0};
  std::atomic<int64_t> bytes_cached{0};
  std::atomic<int64_t> peak{0};
  std::mutex threads_mutex;
  ThreadCache* threads = nullptr;  // every cache ever made, in use or not
};

// Leaked on purpose: tensors may die during static destruction.
Shared& shared() {
  static Shared* instance = new Shared;
  return *instance;
}

// The free blocks of one thread.  Only its thread writes; anybody may read the counts,
// from which the bytes in use follow without a write of their own per allocation.
struct ThreadClass {
  FreeBlock* head = nullptr;
  std::atomic<uint32_t> count{0};

  void push(FreeBlock* block) {
    link(head, block);
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  FreeBlock* pop() {
    count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return unlink(head);
  }
};
struct ThreadCache {
  ThreadClass classes[kClasses];
  ThreadCache* next = nullptr;
  bool in_use = true;  // by a living thread; guarded by threads_mutex
  int64_t worker_of = -1;  // the process (its fork generation) whose pool it works for
  std::atomic<bool> wanted{false};  // its thread shall give it to the system
};

int64_t cached_by_threads() {
  std::lock_guard lock(shared().threads_mutex);
  int64_t bytes = 0;
  for (const ThreadCache* cache = shared().threads; cache; cache = cache->next) {
    for (int i = 0; i < kClasses; ++i) {
      bytes += class_bytes(i) * cache->classes[i].count.load(std::memory_order_relaxed);
    }
  }
  return bytes;
}

int64_t bytes_in_use() {
  return shared().system_bytes - shared().bytes_cached - cached_by_threads();
}

// Called where memory moves in bulk, so the peak is exact for large blocks and late by
// at most the threads' caches for small ones.
void note_peak() {
  const int64_t now = shared().system_bytes.load(std::memory_order_relaxed) -
                      shared().bytes_cached.load(std::memory_order_relaxed);
  int64_t peak = shared().peak.load(std::memory_order_relaxed);
  while (now > peak && !shared().peak.compare_exchange_weak(peak, now)) {
  }
}

void give_shared(int index, FreeBlock* block) noexcept {
  SharedClass& cls = shared().classes[index];
  std::lock_guard lock(cls.mutex);
  link(cls.head, block);
  shared().bytes_cached.fetch_add(class_bytes(index), std::memory_order_relaxed);
}

void give_system(int index, FreeBlock* block) noexcept {
  const int64_t bytes = class_bytes(index);
  ASAN_UNPOISON_MEMORY_REGION(block, size_t(bytes));
  std::free(block);
  shared().system_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

// The running thread's cache; null before its first allocation and after its end.
PKG_FAST_TLS thread_local constinit ThreadCache* t_cache = nullptr;
thread_local constinit bool t_gone = false;

// Takes the cache of the thread at its end; a later thread goes on with it.
struct CacheOwner {
  ThreadCache* cache;
  CacheOwner() {
    std::lock_guard lock(shared().threads_mutex);
    cache = shared().threads;
    while (cache && cache->in_use) cache = cache->next;
    if (!cache) {
      cache = new ThreadCache;
      cache->next = shared().threads;
      shared().threads = cache;
    }
    cache->in_use = true;
    cache->worker_of = on_worker() ? int64_t{detail::fork_generation()} : -1;
    t_cache = cache;
  }
  ~CacheOwner() {
    t_cache = nullptr;
    t_gone = true;
    for (int index = 0; index < kClasses; ++index) {
      while (cache->classes[index].head) give_shared(index, cache->classes[index].pop());
    }
    std::lock_guard lock(shared().threads_mutex);
    cache->in_use = false;
  }
};

// Called where this thread is not in a hurry, and before a worker sleeps.
void give_if_wanted() noexcept {
  ThreadCache* cache = t_cache;
  if (!cache || !cache->wanted.load(std::memory_order_relaxed)) return;
  for (int index = 0; index < kClasses; ++index) {
    ThreadClass& cls = cache->classes[index];
    while (cls.head) give_system(index, cls.pop());
  }
  cache->wanted.store(false, std::memory_order_release);
}

ThreadCache* make_cache() {
  if (t_gone) return nullptr;
  detail::Pool::before_sleep(give_if_wanted);
  static thread_local CacheOwner owner;
  return owner.cache;
}

// Whether the system had `bytes` if it were given all that `held` says.  In doubt, yes.
bool could_fit(size_t bytes, int64_t held) {
#ifdef __linux__
  struct sysinfo machine;
  if (sysinfo(&machine) == 0) {
    const double most = (double(machine.totalram) + double(machine.totalswap)) *
                        machine.mem_unit;
    if (double(bytes) > most) return false;
  }
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  const double others = double(pages) * double(sysconf(_SC_PAGESIZE)) - double(held);
  return std::max(others, 0.0) + double(bytes) <= double(limit.rlim_cur);
#else
  return bytes != 0 && held >= 0;
#endif
}

void* from_system(size_t bytes, size_t asked) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment - 1) & ~(alignment - 1);
  void* ptr = std::aligned_alloc(alignment, rounded);
  if (!ptr) {
    empty_cache();
    ptr = std::aligned_alloc(alignment, rounded);
  }
  // Who allocates little may hold a lock that pending work wants.
  const bool may_wait = bytes > kThreadMaxBlock && !on_worker() && !in_parallel_region();
  if (!ptr && may_wait && pending_tasks() > 0) {
    const auto deadline = std::chrono::steady_clock::now() + kWait;
    bool idle = false;
    while (!ptr && !idle && could_fit(rounded, shared().system_bytes) &&
           std::chrono::steady_clock::now() < deadline) {
      idle = wait_idle(kStepSeconds);
      empty_cache();
      ptr = std::aligned_alloc(alignment, rounded);
    }
  }
  PKG_CHECK(ptr, OutOfMemoryError, "[allocate] the system has no ", asked,
            " bytes for a tensor, even without the cache. Free tensors.");
#ifdef MADV_HUGEPAGE
  if (bytes >= kHugePage) madvise(ptr, bytes, MADV_HUGEPAGE);
#endif
  shared().system_allocations.fetch_add(1, std::memory_order_relaxed);
  shared().system_bytes.fetch_add(int64_t(bytes), std::memory_order_relaxed);
  note_peak();
  ASAN_POISON_MEMORY_REGION(ptr, bytes);
  return ptr;
}

}  // namespace

namespace {

// Everything but the thread's own free blocks.
[[gnu::noinline]] void* allocate_slowly(const SizeClass& cls, size_t nbytes) {
  if (!t_cache) make_cache();
  give_if_wanted();
  SharedClass& pool = shared().classes[cls.index];
  {
    std::lock_guard lock(pool.mutex);
    if (pool.head) {
      FreeBlock* block = unlink(pool.head);
      shared().bytes_cached.fetch_sub(int64_t(cls.bytes), std::memory_order_relaxed);
      note_peak();
      return block;
    }
  }
  return from_system(cls.bytes, nbytes);
}

}  // namespace

void* allocate(size_t nbytes) {
  PKG_CHECK(nbytes <= (size_t{1} << 46), OutOfMemoryError, "[allocate] cannot hold ",
            nbytes, " bytes.");
  const SizeClass cls = class_of(nbytes);
  ThreadCache* cache = t_cache;
  void* ptr = cache && cache->classes[cls.index].head
                  ? cache->classes[cls.index].pop()
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
    const size_t kept = local.count.load(std::memory_order_relaxed);
    if ((kept + 1) * cls.bytes <= kThreadClassBytes) return local.push(block);
    give_if_wanted();
  }
  give_shared(cls.index, block);
}

AllocatorStats allocator_stats() {
  Shared& s = shared();
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
    std::lock_guard lock(shared().threads_mutex);
    for (ThreadCache* cache = shared().threads; cache; cache = cache->next) {
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
  Shared& s = shared();
  for (int index = 0; index < kClasses; ++index) {
    std::lock_guard lock(s.classes[index].mutex);
    while (s.classes[index].head) {
      s.bytes_cached.fetch_sub(class_bytes(index), std::memory_order_relaxed);
      give_system(index, unlink(s.classes[index].head));
    }
  }
#ifdef __GLIBC__
  malloc_trim(0);  // or it keeps small blocks for itself while one behind them is in use
#endif
}

}  // namespace pkg

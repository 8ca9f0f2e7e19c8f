// SPDX-License-Identifier: Apache-2.0
// tensor/allocator.cc: size classes, thread caches, shared pool.
#include "tensor/allocator.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/error.h"
#include "base/thread_local.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#endif

namespace pkg {
namespace {

// Classes: multiples of 64 up to 1 KiB, then four steps per power of two.
constexpr size_t kSmallLimit = 1024;
constexpr int kSmallClasses = kSmallLimit / 64;
constexpr int kClasses = kSmallClasses + 4 * 38;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kThreadClassBytes = 256 << 10;  // what one thread keeps per class
constexpr size_t kThreadMaxBlock = 64 << 10;     // larger blocks go to the shared pool

struct SizeClass {
  int index;
  size_t bytes;
};

SizeClass class_of(size_t nbytes) {
  if (nbytes <= kSmallLimit) {
    const size_t units = nbytes == 0 ? 1 : (nbytes + 63) / 64;
    return {int(units) - 1, units * 64};
  }
  const int top = std::bit_width(nbytes - 1) - 1;  // 2^top < nbytes <= 2^(top+1)
  const size_t step = size_t{1} << (top - 2);
  const size_t part = (nbytes - (size_t{1} << top) + step - 1) / step;  // 1..4
  return {kSmallClasses + 4 * (top - 10) + int(part) - 1,
          (size_t{1} << top) + part * step};
}

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

int64_t class_bytes(int index) {
  if (index < kSmallClasses) return (index + 1) * 64;
  const int rest = index - kSmallClasses;
  return (int64_t{1} << (rest / 4 + 10)) +
         (rest % 4 + 1) * (int64_t{1} << (rest / 4 + 8));
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

ThreadCache* make_cache() {
  if (t_gone) return nullptr;
  static thread_local CacheOwner owner;
  return owner.cache;
}

void* from_system(size_t bytes, size_t asked) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  // A size beyond the address space must be an error, not an overflowed request.
  void* ptr = asked > (size_t{1} << 46)
                  ? nullptr
                  : std::aligned_alloc(alignment, (bytes + alignment - 1) &
                                                      ~(alignment - 1));
  PKG_CHECK(ptr, OutOfMemoryError, "[allocate] the system has no ", asked,
            " bytes for a tensor. Free tensors or call pkg.empty_cache().");
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

void empty_cache() {
  Shared& s = shared();
  for (int index = 0; index < kClasses; ++index) {
    std::lock_guard lock(s.classes[index].mutex);
    while (s.classes[index].head) {
      FreeBlock* block = unlink(s.classes[index].head);
      s.bytes_cached.fetch_sub(class_bytes(index), std::memory_order_relaxed);
      s.system_bytes.fetch_sub(class_bytes(index), std::memory_order_relaxed);
      ASAN_UNPOISON_MEMORY_REGION(block, size_t(class_bytes(index)));
      std::free(block);
    }
  }
}

}  // namespace pkg

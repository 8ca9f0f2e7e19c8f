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

struct FreeBlock {
  FreeBlock* next;
};

struct SharedClass {
  std::mutex mutex;
  FreeBlock* head = nullptr;
};

struct Shared {
  SharedClass classes[kClasses];
  std::atomic<int64_t> system_allocations{0};
  std::atomic<int64_t> bytes_cached{0};
  std::atomic<int64_t> large_in_use{0};
  std::atomic<int64_t> peak{0};
};

// Leaked on purpose: tensors may die during static destruction.
Shared& shared() {
  static Shared* instance = new Shared;
  return *instance;
}

struct ThreadClass {
  FreeBlock* head = nullptr;
  uint32_t count = 0;
};

int64_t class_bytes(int index) {
  if (index < kSmallClasses) return (index + 1) * 64;
  const int rest = index - kSmallClasses;
  return (int64_t{1} << (rest / 4 + 10)) +
         (rest % 4 + 1) * (int64_t{1} << (rest / 4 + 8));
}

// Small blocks are counted per thread and folded into the total now and then, so the
// fast path has no shared write.
struct ThreadCache {
  ThreadClass classes[kClasses];
  int64_t in_use = 0;

  ~ThreadCache();
};

thread_local bool t_gone = false;  // the cache below was destroyed: bypass it
thread_local ThreadCache t_cache;

void give_shared(int index, FreeBlock* block) noexcept {
  SharedClass& cls = shared().classes[index];
  std::lock_guard lock(cls.mutex);
  block->next = cls.head;
  cls.head = block;
  shared().bytes_cached.fetch_add(class_bytes(index), std::memory_order_relaxed);
}

ThreadCache::~ThreadCache() {
  t_gone = true;
  for (int index = 0; index < kClasses; ++index) {
    while (FreeBlock* block = classes[index].head) {
      classes[index].head = block->next;
      give_shared(index, block);
    }
  }
  shared().large_in_use.fetch_add(in_use, std::memory_order_relaxed);
}

void count(int64_t bytes) {
  constexpr int64_t kFold = 64 << 10;
  Shared& s = shared();
  if (t_gone) {
    s.large_in_use.fetch_add(bytes, std::memory_order_relaxed);
    return;
  }
  t_cache.in_use += bytes;
  if (t_cache.in_use < kFold && t_cache.in_use > -kFold) return;
  const int64_t now =
      s.large_in_use.fetch_add(t_cache.in_use, std::memory_order_relaxed) +
      t_cache.in_use;
  t_cache.in_use = 0;
  int64_t peak = s.peak.load(std::memory_order_relaxed);
  while (now > peak && !s.peak.compare_exchange_weak(peak, now)) {
  }
}

void* from_system(size_t bytes, size_t asked) {
  shared().system_allocations.fetch_add(1, std::memory_order_relaxed);
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
  return ptr;
}

}  // namespace

void* allocate(size_t nbytes) {
  PKG_CHECK(nbytes <= (size_t{1} << 46), OutOfMemoryError, "[allocate] cannot hold ",
            nbytes, " bytes.");
  const SizeClass cls = class_of(nbytes);
  count(int64_t(cls.bytes));
  if (!t_gone) {
    ThreadClass& local = t_cache.classes[cls.index];
    if (FreeBlock* block = local.head) {
      local.head = block->next;
      --local.count;
      return block;
    }
  }
  SharedClass& pool = shared().classes[cls.index];
  {
    std::lock_guard lock(pool.mutex);
    if (FreeBlock* block = pool.head) {
      pool.head = block->next;
      shared().bytes_cached.fetch_sub(int64_t(cls.bytes), std::memory_order_relaxed);
      return block;
    }
  }
  try {
    return from_system(cls.bytes, nbytes);
  } catch (...) {
    count(-int64_t(cls.bytes));
    throw;
  }
}

void deallocate(void* ptr, size_t nbytes) noexcept {
  if (!ptr) return;
  const SizeClass cls = class_of(nbytes);
  count(-int64_t(cls.bytes));
  auto* block = static_cast<FreeBlock*>(ptr);
  if (!t_gone && cls.bytes <= kThreadMaxBlock) {
    ThreadClass& local = t_cache.classes[cls.index];
    if ((local.count + 1) * cls.bytes <= kThreadClassBytes) {
      block->next = local.head;
      local.head = block;
      ++local.count;
      return;
    }
  }
  give_shared(cls.index, block);
}

AllocatorStats allocator_stats() {
  Shared& s = shared();
  AllocatorStats stats;
  stats.system_allocations = s.system_allocations;
  stats.bytes_in_use = s.large_in_use + (t_gone ? 0 : t_cache.in_use);
  stats.peak_bytes = std::max<int64_t>(s.peak, stats.bytes_in_use);
  stats.bytes_cached = s.bytes_cached;
  return stats;
}

void empty_cache() {
  Shared& s = shared();
  for (int index = 0; index < kClasses; ++index) {
    std::lock_guard lock(s.classes[index].mutex);
    while (FreeBlock* block = s.classes[index].head) {
      s.classes[index].head = block->next;
      s.bytes_cached.fetch_sub(class_bytes(index), std::memory_order_relaxed);
      std::free(block);
    }
  }
}

}  // namespace pkg

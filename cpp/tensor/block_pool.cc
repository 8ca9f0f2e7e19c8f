// SPDX-License-Identifier: Apache-2.0
// tensor/block_pool.cc: see Note [Slabs and batches] in block_pool.h.
#include "tensor/block_pool.h"

#include <sys/mman.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "scheduler/fork_locks.h"
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#include "tensor/allocator.h"

namespace pkg::detail {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kBatchBytes = 128 << 10, kMostInBatch = 512;
// One block in use keeps a slab, so they are not larger; they lie in the system's heap
// side by side.
constexpr size_t kMaxCut = 4096, kSlabBytes = (64 << 10) - kAlignment;
#ifdef __SANITIZE_ADDRESS__
constexpr bool kCuts = false;  // each block is the system's, for the sanitizer
#else
constexpr bool kCuts = true;
#endif
// How long an allocation that fails waits for pending work, which may free memory, and how
// often it tries meanwhile.
constexpr auto kWait = std::chrono::seconds(10);
constexpr double kStepSeconds = 0.1;

struct Slab {
  char* base;
  size_t bytes;   // that blocks can have
  size_t unused;  // counted when the cache is emptied
};

struct SharedClass {
  FreeBlock* batches = nullptr;
  std::vector<Slab> slabs;  // the last one is being cut
  char *fresh = nullptr, *fresh_end = nullptr;
};

struct Shared : PoolTotals {
  SharedClass classes[kClasses];
};

// There before any code runs, and never destroyed: tensors may die during static
// destruction.
union Lasting {
  constexpr Lasting() : value() {}
  ~Lasting() {}
  Shared value;
};
constinit Lasting g_shared;
Shared& shared() { return g_shared.value; }

constinit std::array<std::mutex, kClasses> g_locks;  // of the classes
const HeldOverFork g_pool_held{ForkLock::BlockPool, g_locks};

// Called where memory moves in bulk, so the peak is exact for large blocks and late by
// at most the threads' caches for small ones.
void note_peak() {
  const int64_t now = shared().system_bytes.load(std::memory_order_relaxed) -
                      shared().bytes_cached.load(std::memory_order_relaxed);
  int64_t peak = shared().peak.load(std::memory_order_relaxed);
  while (now > peak && !shared().peak.compare_exchange_weak(peak, now)) {}
}

void give_system(int index, FreeBlock* block) noexcept {
  const int64_t bytes = class_bytes(index);
  ASAN_UNPOISON_MEMORY_REGION(block, size_t(bytes));
  std::free(block);
  shared().system_bytes.fetch_sub(bytes, std::memory_order_relaxed);
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
  // A small allocation may hold a lock that pending work wants.
  const bool may_wait = asked > kThreadMaxBlock && !on_worker() && !in_parallel_region();
  if (!ptr && may_wait) {
    // Once at least: what was pending a moment ago may have freed its memory since.
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

// A batch of the shared pool, or null.  With the lock of the class.
FreeBlock* take_batch(SharedClass& cls, int index) {
  FreeBlock* list = cls.batches;
  if (!list) return nullptr;
  ASAN_UNPOISON_MEMORY_REGION(list, sizeof(FreeBlock));
  cls.batches = list->next_batch;
  shared().bytes_cached.fetch_sub(list->count * class_bytes(index),
                                  std::memory_order_relaxed);
  note_peak();
  return list;
}

// Cuts at most `n` blocks of what is left of the class's last slab, if anything is: a list
// in the order of addresses.  With the lock of the class.
FreeBlock* cut(SharedClass& cls, size_t bytes, uint32_t n) {
  n = uint32_t(std::min<size_t>(n, size_t(cls.fresh_end - cls.fresh) / bytes));
  if (n == 0) return nullptr;
  auto* first = reinterpret_cast<FreeBlock*>(cls.fresh);
  for (uint32_t i = 0; i < n; ++i) {
    auto* block = reinterpret_cast<FreeBlock*>(cls.fresh);
    cls.fresh += bytes;
    block->next = i + 1 < n ? reinterpret_cast<FreeBlock*>(cls.fresh) : nullptr;
  }
  first->count = n;
  shared().bytes_cached.fetch_sub(int64_t(n * bytes), std::memory_order_relaxed);
  note_peak();
  return first;
}

void add_slab(SharedClass& cls, int index) {
  // Without the lock: where memory is short this empties the cache.
  const auto block = size_t(class_bytes(index));
  auto* base = static_cast<char*>(from_system(kSlabBytes, block));
  const size_t used = kSlabBytes / block * block;
  shared().system_bytes.fetch_sub(int64_t(kSlabBytes - used), std::memory_order_relaxed);
  std::lock_guard lock(g_locks[size_t(index)]);
  // Another thread may have come with one meanwhile: what is left of it is a batch.
  while (FreeBlock* rest = cut(cls, block, kMostInBatch)) {
    shared().bytes_cached.fetch_add(int64_t(rest->count * block));
    rest->next_batch = cls.batches;
    cls.batches = rest;
  }
  cls.slabs.push_back({base, used, 0});
  cls.fresh = base;
  cls.fresh_end = base + used;
  shared().bytes_cached.fetch_add(int64_t(used), std::memory_order_relaxed);
}

// The slabs of which nothing is in use: back to the system.  With the lock of the class.
void give_slabs(SharedClass& cls, int index) noexcept {
  const auto bytes = size_t(class_bytes(index));
  std::sort(cls.slabs.begin(), cls.slabs.end(),
            [](const Slab& a, const Slab& b) { return a.base < b.base; });
  for (Slab& slab : cls.slabs) {
    const bool is_fresh = cls.fresh >= slab.base && cls.fresh_end == slab.base + slab.bytes;
    slab.unused = is_fresh ? size_t(cls.fresh_end - cls.fresh) : 0;
  }
  const auto slab_of = [&cls](FreeBlock* block) -> Slab& {
    return *(std::upper_bound(cls.slabs.begin(), cls.slabs.end(),
                              reinterpret_cast<char*>(block),
                              [](char* at, const Slab& slab) { return at < slab.base; }) -
             1);
  };
  for (FreeBlock* batch = cls.batches; batch; batch = batch->next_batch) {
    for (FreeBlock* block = batch; block; block = block->next) {
      slab_of(block).unused += bytes;
    }
  }
  FreeBlock *batch = std::exchange(cls.batches, nullptr), *kept = nullptr;
  uint32_t n = 0;
  const auto finish_batch = [&] {
    if (!kept) return;
    kept->count = std::exchange(n, 0);
    kept->next_batch = cls.batches;
    cls.batches = std::exchange(kept, nullptr);
  };
  while (batch) {
    FreeBlock* block = batch;
    batch = batch->next_batch;
    while (block) {
      FreeBlock* next = block->next;
      const Slab& slab = slab_of(block);
      if (slab.unused != slab.bytes) {
        link(kept, block);
        if (++n == batch_of(index)) finish_batch();
      }
      block = next;
    }
  }
  finish_batch();
  std::erase_if(cls.slabs, [&](const Slab& slab) {
    if (slab.unused != slab.bytes) return false;
    if (cls.fresh_end == slab.base + slab.bytes) cls.fresh = cls.fresh_end = nullptr;
    std::free(slab.base);
    shared().system_bytes.fetch_sub(int64_t(slab.bytes), std::memory_order_relaxed);
    shared().bytes_cached.fetch_sub(int64_t(slab.bytes), std::memory_order_relaxed);
    return true;
  });
}

// Half a slab at a time, or pages would be touched that nobody needs.
constexpr uint32_t kMostCut = 32;

}  // namespace

PoolTotals& pool_totals() { return shared(); }

bool is_cut(int index) { return kCuts && class_bytes(index) <= int64_t(kMaxCut); }

uint32_t batch_of(int index) {
  static constexpr auto sizes = [] {
    std::array<uint32_t, kClasses> sizes{};
    for (int i = 0; i < kClasses; ++i) {
      const size_t blocks = kBatchBytes / size_t(class_bytes(i));
      sizes[size_t(i)] = uint32_t(std::clamp<size_t>(blocks, 1, kMostInBatch));
    }
    return sizes;
  }();
  return sizes[size_t(index)];
}

void give_shared(int index, FreeBlock* list, uint32_t count) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(list, sizeof(FreeBlock));
  list->count = count;
  SharedClass& cls = shared().classes[index];
  std::lock_guard lock(g_locks[size_t(index)]);
  list->next_batch = cls.batches;
  cls.batches = list;
  ASAN_POISON_MEMORY_REGION(list, sizeof(FreeBlock));
  shared().bytes_cached.fetch_add(count * class_bytes(index), std::memory_order_relaxed);
}

FreeBlock* take_shared(const SizeClass& cls, uint32_t most, size_t asked) {
  SharedClass& pool = shared().classes[cls.index];
  for (;;) {
    {
      std::lock_guard lock(g_locks[size_t(cls.index)]);
      FreeBlock* list = take_batch(pool, cls.index);
      if (!list && is_cut(cls.index)) list = cut(pool, cls.bytes, std::min(kMostCut, most));
      if (list && most == 1 && list->count > 1) {
        FreeBlock* rest = list->next;
        ASAN_UNPOISON_MEMORY_REGION(rest, sizeof(FreeBlock));
        rest->count = list->count - 1;
        rest->next_batch = pool.batches;
        pool.batches = rest;
        shared().bytes_cached.fetch_add(int64_t(rest->count * cls.bytes));
        list->next = nullptr;
        list->count = 1;
      }
      if (list) return list;
    }
    if (is_cut(cls.index)) {
      add_slab(pool, cls.index);
      continue;
    }
    FreeBlock* alone = nullptr;
    link(alone, static_cast<FreeBlock*>(from_system(cls.bytes, asked)));
    ASAN_UNPOISON_MEMORY_REGION(alone, sizeof(FreeBlock));
    alone->count = 1;
    return alone;
  }
}

void empty_class(int index) noexcept {
  SharedClass& cls = shared().classes[index];
  std::lock_guard lock(g_locks[size_t(index)]);
  if (is_cut(index)) return give_slabs(cls, index);
  while (FreeBlock* block = take_batch(cls, index)) {
    while (block) give_system(index, unlink(block));
  }
}

}  // namespace pkg::detail

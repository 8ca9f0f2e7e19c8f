// SPDX-License-Identifier: Apache-2.0
// tensor/block_pool.h: the free blocks that all threads share, by size class, and where
// they come from.  Internal to the allocator.
//
// Note [Slabs and batches]
// Small blocks are cut from slabs, as the system would put 64 bytes before each.  Threads
// take and give them in batches, lists whose first block says how many there are, so that
// a graph of a million nodes asks for a lock some thousand times.  When the cache is
// emptied, a slab goes back to the system if no block of it is in use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tensor/size_class.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
#endif

namespace pkg::detail {

inline constexpr size_t kThreadMaxBlock = 64 << 10;  // no thread keeps larger ones

struct FreeBlock {
  FreeBlock* next;
  // Of the first block of a batch in the shared pool.
  FreeBlock* next_batch;
  uint32_t count;
};

// Under AddressSanitizer a free block may not be touched, except here.
inline void link(FreeBlock*& head, FreeBlock* block) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));
  block->next = head;
  head = block;
  ASAN_POISON_MEMORY_REGION(block, sizeof(FreeBlock));
}
inline FreeBlock* unlink(FreeBlock*& head) noexcept {
  FreeBlock* block = head;
  ASAN_UNPOISON_MEMORY_REGION(block, sizeof(FreeBlock));
  head = block->next;
  return block;
}

/// How many blocks threads and the pool exchange.
uint32_t batch_of(int index);

/// A list of blocks, at most `most` or one batch; the first block's `count` says how many.
/// `asked` is what an error tells.
FreeBlock* take_shared(const SizeClass& cls, uint32_t most, size_t asked);
void give_shared(int index, FreeBlock* list, uint32_t count) noexcept;
/// What the pool has of a class goes back to the system, but for blocks in slabs of which
/// others are in use.
void empty_class(int index) noexcept;
/// Whether blocks of this class lie in slabs.
bool is_cut(int index);

struct PoolTotals {
  std::atomic<int64_t> system_allocations{0};
  std::atomic<int64_t> system_bytes{0};
  std::atomic<int64_t> bytes_cached{0};
  std::atomic<int64_t> peak{0};
};
PoolTotals& pool_totals();

}  // namespace pkg::detail

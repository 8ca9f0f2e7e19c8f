// SPDX-License-Identifier: Apache-2.0
// tensor/allocator.h: the caching allocator behind every tensor and graph node.
//
// Freed blocks are kept by size class, first in the freeing thread, then in a shared
// pool, so a steady training step asks the system for nothing.  Large blocks are
// aligned to huge pages: first-touch page faults cost more than the arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pkg {

inline constexpr size_t kAlignment = 64;  // one cache line, one AVX-512 register

/// Memory of at least `nbytes`, aligned to kAlignment.  When the system has none, the cache
/// goes back to it and pending work is waited for, then OutOfMemoryError.
void* allocate(size_t nbytes);
/// Gives back a block; `nbytes` is what allocate() was asked for.
void deallocate(void* ptr, size_t nbytes) noexcept;

struct AllocatorStats {
  int64_t system_allocations = 0;  ///< calls to the system since start
  int64_t bytes_in_use = 0;        ///< handed out now
  int64_t peak_bytes = 0;          ///< highest bytes_in_use so far
  int64_t bytes_cached = 0;        ///< kept for reuse in the shared pool
};
AllocatorStats allocator_stats();

/// Returns the cached blocks to the system: those of the shared pool, of this thread and of
/// workers that rest.  Other threads give theirs (256 KiB for each size below 64 KiB at
/// most) when they next ask the shared pool.
void empty_cache();

/// Mixin: new and delete of the class go through the allocator.
struct PoolAllocated {
  static void* operator new(size_t size) { return allocate(size); }
  static void* operator new(size_t, void* place) { return place; }
  static void operator delete(void* ptr, size_t size) noexcept { deallocate(ptr, size); }
};

}  // namespace pkg

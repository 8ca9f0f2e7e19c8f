// SPDX-License-Identifier: Apache-2.0
// scheduler/block_cache.h: memory for tasks and loops.  One thread submits and another finishes,
// so blocks travel in batches between thread-local lists and a shared one.  Internal.
#pragma once

#include <cstddef>
#include <new>

#include "base/thread_local.h"
#include "scheduler/spin.h"

namespace pkg::detail {

/// `kBatch`: how many travel at once.
template <std::size_t kSize, std::size_t kAlign, int kBatch = 64>
class BlockCache {
 public:
  static void* take() {
    if (kBypass) return ::operator new(kSize, kAlignment);
    List& local = t_local;
    if (!local.head) refill(local);
    if (Block* block = local.head) {
      local.head = block->next;
      --local.count;
      return block;
    }
    return ::operator new(kSize, kAlignment);
  }

  static void give(void* memory) noexcept {
    if (kBypass || t_gone) return ::operator delete(memory, kAlignment);
    List& local = t_local;
    if (!local.head) note_thread();
    local.head = ::new (memory) Block{local.head};
    if (++local.count >= 2 * kBatch) spill(local, kBatch);
  }

  static SpinLock& shared_lock() { return shared_.lock; }

 private:
  // A checker of memory errors must see each block come and go.
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kBypass = true;
#else
  static constexpr bool kBypass = false;
#endif
  static constexpr std::align_val_t kAlignment{kAlign};
  static constexpr int kSharedBatches = 256;  // what is beyond goes back to the system

  struct Block {
    Block* next;
  };
  struct List {
    Block* head = nullptr;
    int count = 0;
  };
  struct AtEnd {
    ~AtEnd() {
      t_gone = true;
      while (t_local.count > 0)
        spill(t_local, t_local.count < kBatch ? t_local.count : kBatch);
    }
  };
  struct Shared {
    SpinLock lock;
    int size = 0;
    List batches[kSharedBatches];
  };

  [[gnu::noinline]] static void note_thread() {
    static thread_local AtEnd at_end;
    (void)at_end;
  }

  [[gnu::noinline]] static void refill(List& local) {
    note_thread();
    shared_.lock.lock();
    if (shared_.size > 0) { local = shared_.batches[--shared_.size]; }
    shared_.lock.unlock();
  }

  [[gnu::noinline]] static void spill(List& local, int n) noexcept {
    Block* first = local.head;
    Block* last = first;
    for (int i = 1; i < n; ++i) last = last->next;
    local.head = last->next;
    local.count -= n;
    last->next = nullptr;
    shared_.lock.lock();
    const bool kept = shared_.size < kSharedBatches;
    if (kept) shared_.batches[shared_.size++] = {first, n};
    shared_.lock.unlock();
    while (!kept && first) {
      Block* next = first->next;
      ::operator delete(first, kAlignment);
      first = next;
    }
  }

  static inline constinit Shared shared_{};
  PKG_FAST_TLS static inline thread_local constinit List t_local{};
  // The thread is past its destructors.
  PKG_FAST_TLS static inline thread_local constinit bool t_gone = false;
};

}  // namespace pkg::detail

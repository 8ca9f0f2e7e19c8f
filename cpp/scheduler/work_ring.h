// SPDX-License-Identifier: Apache-2.0
// scheduler/work_ring.h: queued work: what a worker has queued itself, or what others have.
// Internal.
//
// One thread at a time pushes and any thread takes, oldest first, one or several with one
// atomic instruction.
// The ring grows.  A thief may still read the smaller one that was replaced, so those are
// kept; together they are smaller than the present one.  What a thief reads there is right
// if `head_` is what it was, since its owner writes over nothing that is not taken.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace pkg::detail {

struct Runnable;

class alignas(64) WorkRing {
 public:
  WorkRing() = default;
  WorkRing(const WorkRing&) = delete;
  ~WorkRing() {
    for (Slots* slots = slots_.load(); slots;) {
      delete std::exchange(slots, slots->smaller);
    }
  }

  /// By the owner only, or with a lock.  With `fence`, what it reads afterwards is not older
  /// than the push.  False when there is no memory to grow.
  bool push(Runnable* item, bool fence) noexcept {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    Slots* slots = slots_.load(std::memory_order_relaxed);
    if (!slots || tail - known_head_ > slots->mask) {
      known_head_ = head_.load(std::memory_order_acquire);
      if (!slots || tail - known_head_ > slots->mask) slots = grow(slots, tail);
      if (!slots) return false;
    }
    slots->at(tail).store(item, std::memory_order_relaxed);
    if (fence) tail_.store(tail + 1);
    else tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  /// By any thread; null when there is nothing.
  Runnable* pop() {
    uint64_t head = head_.load(std::memory_order_acquire);
    for (;;) {
      if (head == tail_.load(std::memory_order_acquire)) return nullptr;
      Slots* slots = slots_.load(std::memory_order_acquire);
      Runnable* item = slots->at(head).load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(head, head + 1)) return item;
    }
  }

  /// At most `n`, from `to` on; how many.
  int64_t pop(Runnable** to, int64_t n) {
    uint64_t head = head_.load(std::memory_order_acquire);
    for (;;) {
      const auto queued = int64_t(tail_.load(std::memory_order_acquire) - head);
      if (queued < n) n = queued;
      if (n == 0) return 0;
      Slots* slots = slots_.load(std::memory_order_acquire);
      for (int64_t i = 0; i < n; ++i) {
        to[i] = slots->at(head + i).load(std::memory_order_relaxed);
      }
      if (head_.compare_exchange_weak(head, head + n)) return n;
    }
  }

  bool empty() const { return head_.load() == tail_.load(); }
  int64_t size() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    return int64_t(tail_.load(std::memory_order_relaxed) - head);
  }

 private:
  struct Slots {
    uint64_t mask;
    Slots* smaller;
    std::unique_ptr<std::atomic<Runnable*>[]> items;
    std::atomic<Runnable*>& at(uint64_t place) { return items[place & mask]; }
  };
  static constexpr uint64_t kFirstSize = 64;

  [[gnu::noinline]] Slots* grow(Slots* before, uint64_t tail) noexcept {
    const uint64_t size = before ? 2 * (before->mask + 1) : kFirstSize;
    auto* slots = new (std::nothrow) Slots{size - 1, before, {}};
    if (!slots) return nullptr;
    slots->items.reset(new (std::nothrow) std::atomic<Runnable*>[size]);
    if (!slots->items) return delete slots, nullptr;
    for (uint64_t at = head_.load(); before && at != tail; ++at) {
      slots->at(at).store(before->at(at).load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
    }
    slots_.store(slots, std::memory_order_release);
    return slots;
  }

  std::atomic<uint64_t> head_{0};
  char own_line_[56];
  std::atomic<uint64_t> tail_{0};
  std::atomic<Slots*> slots_{nullptr};
  uint64_t known_head_ = 0;  // of who pushes: head_ is not less
};

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
// scheduler/pool.h: the one set of worker threads of the process.  Internal: tasks and
// parallel_for push Runnables, nobody else includes it.
//
// Note [Waking workers]
// A worker is running, searching (spinning over the queues) or asleep.  A push wakes
// nobody while some worker searches: it will find the work.  The last searcher to find
// work wakes (or starts) another one if more is left.  No wakeup is lost because a push
// first writes to a queue, then reads `searching_`, while a worker first stops searching,
// then looks at the queues (all sequentially consistent): one of the two sees the other.
//
// Note [Blocked workers]
// A worker may wait for an event (a custom kernel that reads a pending value).  While
// it does, it does not count towards the size, so another one takes its place and the
// pool never starves; there is a limit, beyond which the wait is an error.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "scheduler/spin.h"
#include "scheduler/work_ring.h"

namespace pkg::detail {

/// Something to run once.  The queue owns one reference to it, in whatever sense.
struct Runnable {
  Runnable* next = nullptr;
  virtual void run(bool on_pool_stack) noexcept = 0;  // true: called by a worker's loop
  virtual void drop() noexcept = 0;                   // instead of run, after the end

 protected:
  ~Runnable() = default;
};

/// First in, first out, intrusive; not synchronised.
struct RunList {
  Runnable* head = nullptr;
  Runnable* tail = nullptr;

  bool empty() const { return head == nullptr; }
  void push(Runnable* item) {
    item->next = nullptr;
    (head ? tail->next : head) = item;
    tail = item;
  }
  Runnable* pop() {
    Runnable* item = head;
    if (item) head = item->next;
    return item;
  }
};

/// What threads that are no workers have queued.  Those who push have a lock among
/// themselves; who takes something waits for nobody, unless memory has ended.  What finds
/// nothing before it goes from hand to hand: one line of memory that travels.  First in, first
/// out, but what is pushed while somebody looks may be overtaken.
class RunQueue {
 public:
  void push(Runnable* item) {
    std::lock_guard lock(mutex_);
    // With a fence, all three: Note [Waking workers].
    if (empty()) {
      hand_.store(item);
    } else if (!beyond_.empty() || !ring_.push(item, true)) {
      beyond_.push(item);
      is_beyond_.store(true);
    }
  }
  Runnable* pop() {
    Runnable* item;
    return pop(&item, 1) ? item : nullptr;
  }
  /// At most `n`, from `to` on; how many.
  int64_t pop(Runnable** to, int64_t n) {
    if (hand_.load() && (*to = hand_.exchange(nullptr))) return 1;
    const int64_t taken = ring_.pop(to, n);
    return taken == 0 && is_beyond_.load() ? pop_beyond(to) : taken;
  }
  int64_t size() const { return ring_.size(); }  // about; one or none is 0
  bool empty() const { return !hand_.load() && ring_.empty() && !is_beyond_.load(); }

 private:
  int64_t pop_beyond(Runnable** to) {
    std::lock_guard lock(mutex_);
    *to = beyond_.pop();
    if (beyond_.empty()) is_beyond_.store(false);
    return *to != nullptr;
  }

  alignas(64) std::atomic<Runnable*> hand_{nullptr};
  WorkRing ring_;
  // In a line of its own: who looks for work shall not fetch what each push writes.
  alignas(64) SpinLock mutex_;
  alignas(64) RunList beyond_;  // when there was no memory for a larger ring
  std::atomic<bool> is_beyond_{false};
};

class Pool {
 public:
  static constexpr int kMaxThreads = 256;
  static constexpr int kMaxBlocked = 256;
  using Clock = std::chrono::steady_clock;

  explicit Pool(int size) : target_(size) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Queues work; starts or wakes a worker if need be.
  void push(Runnable* item) noexcept;
  /// Queues all; `at_end`: the calling worker returns to its loop at once and takes the
  /// first itself.
  void push_all(RunList list, bool at_end) noexcept;
  /// Takes all that no worker has begun yet.
  RunList take_queued();

  int size() const { return target_.load(std::memory_order_relaxed); }
  int live() const { return live_.load(std::memory_order_relaxed); }
  void resize(int n);

  /// Ends the workers after their present task and waits for them until `deadline`.
  /// `kRunRest`: later pushes run on the pusher.  `kDropRest`: queued and later work is
  /// dropped.  `kFreeze`: it is left alone (at exit, when running code is not safe).
  enum class Stop { kNo, kRunRest, kDropRest, kFreeze };
  void stop(Stop how, Clock::time_point deadline);
  bool stopped() const { return stop_.load() != Stop::kNo; }

  /// Whether a worker is awake and looks for work, and whether one would have to be woken.
  bool anybody_searches() const { return searching_.load(std::memory_order_relaxed) > 0; }
  bool anybody_sleeps() const { return asleep_.load(std::memory_order_relaxed) > 0; }

  static bool on_worker() noexcept;

  /// What workers call before they sleep: one function of the process.
  static void before_sleep(void (*fn)() noexcept) noexcept;
  /// Has those who sleep call it now.
  static void rouse();

  /// Around a wait inside a worker; see Note [Blocked workers].
  class Blocked {
   public:
    explicit Blocked(Pool* pool);
    ~Blocked();
    Blocked(const Blocked&) = delete;

   private:
    Pool* pool_;
  };

 private:
  struct Worker;
  static constexpr int kSlots = kMaxThreads + kMaxBlocked;

  void loop(int slot);
  Runnable* find(Worker& self);
  Runnable* take_several();
  Runnable* search(Worker& self);
  void stop_searching();
  void sleep();
  bool leave(Worker& self);

  bool has_work() const;
  bool crowded() const;  // more running workers than wanted
  bool too_many_search() const;
  bool queue(Runnable* item);     // whether others may have to hear of it
  void announce(int n) noexcept;  // work was pushed
  void notify(int n) noexcept;    // wake or start up to n workers
  bool start_worker() noexcept;   // under mutex_
  void sweep() noexcept;          // take the queues empty on this thread

  RunQueue global_;
  std::array<WorkRing, kSlots> local_;  // of the workers; others may steal
  alignas(64) std::atomic<int> searching_{0};
  std::atomic<int> asleep_{0};
  std::atomic<int> live_{0};
  std::atomic<int> blocked_{0};
  std::atomic<int> target_;
  std::atomic<int> slots_used_{0};  // upper bound of the slots ever taken
  std::atomic<Stop> stop_{Stop::kNo};

  std::mutex mutex_;  // sleeping, starting, leaving
  std::condition_variable wake_;
  std::condition_variable left_;
  int tokens_ = 0;  // wakeups granted and not yet taken
  std::atomic<uint32_t> roused_{0};
  std::array<bool, kSlots> taken_{};
};

}  // namespace pkg::detail

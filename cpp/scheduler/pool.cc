// SPDX-License-Identifier: Apache-2.0
// scheduler/pool.cc: the worker loop and how workers are started, woken and ended.
#include "scheduler/pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "base/error.h"
#include "base/thread_local.h"
#include "scheduler/cpu_count.h"
#include "scheduler/event.h"
#include "scheduler/hooks.h"
#include "scheduler/runtime.h"

namespace pkg::detail {

struct Pool::Worker {
  Pool* pool;
  int slot;
  Runnable* first = nullptr;  // freed by the task just run: next, seen by nobody else
  unsigned turn = 0;
};

namespace {

constexpr int kSearchMicroseconds = 100;
constexpr unsigned kGlobalEvery = 8;  // or a chain of tasks would starve the others

PKG_FAST_TLS thread_local constinit void* t_worker = nullptr;  // a Pool::Worker
thread_local bool t_sweeping = false;
std::atomic<void (*)() noexcept> g_before_sleep{nullptr};

// Workers handle no signals: Ctrl-C belongs to the main thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

bool Pool::on_worker() noexcept { return t_worker != nullptr; }

bool Pool::queue(Runnable* item) {
  auto* worker = static_cast<Worker*>(t_worker);
  // The only worker takes it itself; when it waits or there shall be more, they look again.
  const bool alone = size() == 1 && !stopped();
  if (!worker || worker->pool != this || !local_[worker->slot].push(item, !alone)) {
    global_.push(item);
    return true;
  }
  return !alone || size() != 1;  // mostly seen if resize() looked before the push
}

void Pool::push(Runnable* item) noexcept {
  if (queue(item)) announce(1);
}

void Pool::push_all(RunList list, bool at_end) noexcept {
  auto* worker = static_cast<Worker*>(t_worker);
  if (worker && worker->pool != this) worker = nullptr;
  if (at_end && worker && !worker->first) worker->first = list.pop();
  int pushed = 0;
  while (Runnable* item = list.pop()) pushed += queue(item);
  if (pushed) announce(pushed);
}

RunList Pool::take_queued() {
  RunList taken;
  while (Runnable* item = global_.pop()) taken.push(item);
  const int slots = slots_used_.load();
  for (int i = 0; i < slots; ++i) {
    while (Runnable* item = local_[i].pop()) taken.push(item);
  }
  return taken;
}

void Pool::announce(int n) noexcept {
  if (stopped()) {
    sweep();
  } else {
    notify(n);
  }
}

void Pool::resize(int n) {
  target_.store(n);
  {
    std::lock_guard lock(mutex_);
    wake_.notify_all();  // those who are too many leave
  }
  if (has_work()) notify(n);
}

void Pool::notify(int n) noexcept {
  n -= searching_.load();
  if (n <= 0) return;
  if (asleep_.load() == 0 && live_.load() - blocked_.load() >= target_.load()) return;
  bool nobody = false;
  {
    std::lock_guard lock(mutex_);
    for (; n > 0; --n) {
      if (asleep_.load() > 0) {
        asleep_.fetch_sub(1);
        searching_.fetch_add(1);
        ++tokens_;
        wake_.notify_one();
      } else if (stopped()) {
        nobody = true;
        break;
      } else if (live_.load() - blocked_.load() >= target_.load()) {
        break;
      } else if (!start_worker()) {
        nobody = live_.load() <= blocked_.load();
        break;
      }
    }
  }
  if (nobody) sweep();  // nor will there be: do the work here
}

bool Pool::start_worker() noexcept {
  const auto slot = std::find(taken_.begin(), taken_.end(), false);
  if (slot == taken_.end()) return false;
  const int index = static_cast<int>(slot - taken_.begin());
  live_.fetch_add(1);
  searching_.fetch_add(1);
  if (index >= slots_used_.load()) slots_used_.store(index + 1);
  *slot = true;
  try {
    SignalsBlocked no_signals;
    std::thread([this, index] {
      loop(index);
      worker_ends();
    }).detach();
    return true;
  } catch (const std::exception&) {  // the system gives us no thread, or no memory
    live_.fetch_sub(1);
    searching_.fetch_sub(1);
    *slot = false;
    return false;
  }
}

void Pool::loop(int slot) {
#if defined(__linux__)
  pthread_setname_np(pthread_self(), "pkg-worker");
#endif
  const uint32_t generation = fork_generation();
  Worker self{this, slot};
  t_worker = &self;
  bool searching = true;
  for (;;) {
    if (stopped() || crowded()) {
      if (searching) searching_.fetch_sub(1);
      searching = false;
      if (leave(self)) return;
    }
    Runnable* item = find(self);
    if (!item) {
      if (!searching) searching_.fetch_add(1);
      searching = true;
      if (!too_many_search()) item = search(self);
    }
    if (item) {
      if (searching) stop_searching();
      searching = false;
      item->run(true);
      if (generation != fork_generation()) {  // it forked: this pool is not ours
        t_worker = nullptr;
        return;
      }
    } else {
      searching_.fetch_sub(1);
      sleep();
      searching = true;
    }
  }
}

Runnable* Pool::find(Worker& self) {
  if (++self.turn % kGlobalEvery == 0) {
    if (self.first) queue(std::exchange(self.first, nullptr));
    if (Runnable* item = global_.pop()) return item;
  }
  if (self.first) return std::exchange(self.first, nullptr);
  if (Runnable* item = local_[self.slot].pop()) return item;
  if (Runnable* item = take_several()) return item;
  const int slots = slots_used_.load(std::memory_order_relaxed);
  for (int i = 1; i < slots; ++i) {
    if (Runnable* item = local_[(self.slot + i) % slots].pop()) return item;
  }
  return nullptr;
}

// Its part of what waits with one atomic instruction; what it does not begin with others may
// steal.
Runnable* Pool::take_several() {
  constexpr int64_t kMost = 32;
  if (global_.empty()) return nullptr;
  const int64_t part = global_.size() / std::max(1, size());
  Runnable* items[kMost];
  const int64_t taken = global_.pop(items, std::clamp<int64_t>(part, 1, kMost));
  bool others = false;
  for (int64_t i = 1; i < taken; ++i) others |= queue(items[i]);
  if (others) notify(1);  // who looked meanwhile saw it nowhere
  return taken > 0 ? items[0] : nullptr;
}

Runnable* Pool::search(Worker& self) {
  if (!g_several_cpus) return find(self);
  Runnable* item = nullptr;
  spin_until([&] { return (item = find(self)) || stopped(); }, kSearchMicroseconds);
  return item;
}

bool Pool::has_work() const {
  if (!global_.empty()) return true;
  const int slots = slots_used_.load();
  for (int i = 0; i < slots; ++i) {
    if (!local_[i].empty()) return true;
  }
  return false;
}

void Pool::stop_searching() {
  if (searching_.fetch_sub(1) == 1 && has_work()) notify(1);
}

void Pool::before_sleep(void (*fn)() noexcept) noexcept { g_before_sleep.store(fn); }

void Pool::rouse() {
  Runtime* rt = runtime_if_made();
  if (!rt) return;
  rt->pool.roused_.fetch_add(1);
  std::lock_guard lock(rt->pool.mutex_);
  rt->pool.wake_.notify_all();
}

// Returns as a searching worker; the caller has just stopped searching.
void Pool::sleep() {
  const uint32_t roused = roused_.load();
  if (auto before = g_before_sleep.load()) before();
  std::unique_lock lock(mutex_);
  asleep_.fetch_add(1);
  if (!has_work()) {  // after counting ourselves asleep: Note [Waking workers]
    wake_.wait(lock, [&] {
      return tokens_ > 0 || stopped() || crowded() || roused_.load() != roused;
    });
    if (tokens_ > 0) {  // who granted it has done our accounts
      --tokens_;
      return;
    }
  }
  asleep_.fetch_sub(1);
  searching_.fetch_add(1);
}

// One processor is left to whoever submits the work.
bool Pool::too_many_search() const {
  return searching_.load(std::memory_order_relaxed) > std::max(1, size() - 1);
}

bool Pool::crowded() const { return live_.load() - blocked_.load() > target_.load(); }

bool Pool::leave(Worker& self) {
  {
    std::lock_guard lock(mutex_);
    if (!stopped() && !crowded()) return false;
    if (self.first) global_.push(std::exchange(self.first, nullptr));
    while (Runnable* item = local_[self.slot].pop()) global_.push(item);
    taken_[self.slot] = false;
    t_worker = nullptr;
    live_.fetch_sub(1);
    left_.notify_all();
  }
  if (has_work()) announce(1);
  return true;
}

void Pool::stop(Stop how, Clock::time_point deadline) {
  {
    std::lock_guard lock(mutex_);
    if (how > stop_.load()) stop_.store(how);
    wake_.notify_all();
  }
  sweep();
  if (on_worker()) return;
  std::unique_lock lock(mutex_);
  left_.wait_until(lock, deadline, [&] { return live_.load() == 0; });
}

void Pool::sweep() noexcept {
  if (t_sweeping) return;  // further up the stack somebody does
  t_sweeping = true;
  const int slots = slots_used_.load();
  while (stop_.load() != Stop::kFreeze) {
    Runnable* item = global_.pop();
    for (int i = 0; i < slots && !item; ++i) item = local_[i].pop();
    if (!item) break;
    if (stop_.load() == Stop::kDropRest) {
      item->drop();
    } else {
      item->run(false);
    }
  }
  t_sweeping = false;
}

Pool::Blocked::Blocked(Pool* pool) : pool_(pool) {
  {
    std::lock_guard lock(pool->mutex_);
    PKG_CHECK(pool->blocked_.load() < kMaxBlocked, RuntimeError,
              "[wait] would deadlock: ", kMaxBlocked,
              " workers already wait for other tasks. Pass the task as a dependency "
              "instead of waiting inside one.");
    pool->blocked_.fetch_add(1);
  }
  if (pool->has_work()) pool->notify(1);
}

Pool::Blocked::~Blocked() { pool_->blocked_.fetch_sub(1); }

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
// scheduler/ledger.cc: the threads' counts, their sums and who waits for them.
#include "scheduler/ledger.h"

#include <algorithm>
#include <chrono>

#include "base/thread_local.h"
#include "scheduler/runtime.h"

namespace pkg::detail {
namespace {

PKG_FAST_TLS thread_local constinit Ledger::Counts* t_counts = nullptr;

struct Owner {
  Ledger::Counts* counts = nullptr;
  ~Owner() {
    t_counts = nullptr;
    if (counts) counts->in_use.store(false, std::memory_order_release);
  }
};

}  // namespace

Ledger::Counts& Ledger::mine() {
  Counts* counts = t_counts;
  return counts && counts->ledger == this ? *counts : make_mine();
}

[[gnu::noinline]] Ledger::Counts& Ledger::make_mine() {
  static thread_local Owner owner;
  Counts* counts = all_.load(std::memory_order_acquire);
  bool free = false;
  while (counts && !counts->in_use.compare_exchange_strong(free, true)) {
    free = false;
    counts = counts->next;
  }
  if (!counts) {
    counts = new Counts;
    counts->ledger = this;
    counts->next = all_.load(std::memory_order_relaxed);
    while (!all_.compare_exchange_weak(counts->next, counts)) {}
  }
  owner.counts = counts;
  t_counts = counts;
  return *counts;
}

template <class Value>
int64_t Ledger::sum(Value value) const {
  int64_t total = 0;
  const Counts* counts = all_.load(std::memory_order_acquire);
  for (; counts; counts = counts->next) {
    for (const auto& epoch : counts->epochs) total += value(epoch);
  }
  return total;
}

int64_t Ledger::submitted() const {
  return sum([](const auto& epoch) { return epoch.submitted.load(); });
}

int64_t Ledger::finished() const {
  return sum([](const auto& epoch) { return epoch.finished.load(); });
}

bool Ledger::idle(unsigned epoch) const {
  int64_t pending = 0;
  for (const Counts* c = all_.load(); c; c = c->next) {
    pending -= c->epochs[epoch].finished.load();
  }
  // Whoever has begun to count since then has at least submitted it.
  for (const Counts* c = all_.load(); c; c = c->next) {
    pending += c->epochs[epoch].submitted.load();
  }
  return pending == 0;
}

uint8_t Ledger::enter() {
  const unsigned epoch = current_.load(std::memory_order_acquire);
  auto& submitted = mine().epochs[epoch].submitted;
  submitted.store(submitted.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  return static_cast<uint8_t>(epoch);
}

void Ledger::leave(uint8_t epoch, Parking& parking) {
  auto& finished = mine().epochs[epoch].finished;
  finished.store(finished.load(std::memory_order_relaxed) + 1);  // before waiters_ is read
  if (waiters_.load() != 0 && idle(epoch)) parking.wake(this);
}

bool Ledger::wait_all(Parking& parking, double seconds) {
  using Clock = std::chrono::steady_clock;
  unsigned newer = kEpochs;  // what is submitted from now on is counted there
  {
    std::lock_guard lock(turn_);
    const unsigned next = (current_.load() + 1) % kEpochs;
    // If it still holds work of its last round, we wait for newer work too: later than
    // need be, but never too early.
    if (idle(next)) {
      current_.store(next, std::memory_order_release);
      newer = next;
    }
  }
  const auto begin = Clock::now();
  for (unsigned epoch = 0; epoch < kEpochs; ++epoch) {
    if (epoch == newer) continue;
    double left = -1;
    if (seconds >= 0) {
      const std::chrono::duration<double> passed = Clock::now() - begin;
      left = std::max(seconds - passed.count(), 0.0);
    }
    if (!parking.wait(this, waiters_, [&] { return idle(epoch); }, left)) return false;
  }
  return true;
}

}  // namespace pkg::detail

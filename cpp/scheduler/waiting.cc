// SPDX-License-Identifier: Apache-2.0
// scheduler/waiting.cc: where threads sleep, and which errors are still unseen
// (see runtime.h).
#include <algorithm>
#include <chrono>
#include <iterator>

#include "scheduler/cpu_count.h"
#include "scheduler/hooks.h"
#include "scheduler/runtime.h"

namespace pkg::detail {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kSpinMicroseconds = 10;
constexpr std::size_t kMaxFailures = 256;

class Counted {
 public:
  explicit Counted(std::atomic<uint32_t>& count) : count_(count) { count_.fetch_add(1); }
  ~Counted() { count_.fetch_sub(1); }
  Counted(const Counted&) = delete;

 private:
  std::atomic<uint32_t>& count_;
};

Clock::time_point deadline_after(double seconds) {
  // A year stands for "no limit": the clock's arithmetic must not overflow.
  constexpr double kYear = 3e7;
  if (seconds < 0 || seconds > kYear) seconds = kYear;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(seconds));
}

}  // namespace

Parking::Shard& Parking::shard(const void* key) {
  const auto bits = reinterpret_cast<uintptr_t>(key);
  return shards_[(bits >> 6 ^ bits >> 10) % shards_.size()];
}

bool Parking::wait(const void* key, std::atomic<uint32_t>& waiters,
                   FunctionRef<bool()> ready, double seconds) {
  if (g_several_cpus ? spin_until(ready, kSpinMicroseconds) : ready()) return true;
  if (seconds == 0) return false;
  const auto deadline = deadline_after(seconds);
  Shard& place = shard(key);
  BlockingRegion region;
  Counted waiting(waiters);
  for (;;) {
    {
      std::unique_lock lock(place.mutex);
      const auto until = std::min(deadline, Clock::now() + kPollInterval);
      if (place.changed.wait_until(lock, until, ready)) return true;
    }
    if (Clock::now() >= deadline) return ready();
    ask_whether_to_stop();
  }
}

void Parking::wake(const void* key) {
  Shard& place = shard(key);
  std::lock_guard lock(place.mutex);
  place.changed.notify_all();
}

void FailureLog::add(Ref<Failure> failure) {
  std::lock_guard lock(mutex_);
  if (failures_.size() < kMaxFailures) failures_.push_back(std::move(failure));
}

void FailureLog::add(const Stream* stream, Ref<Failure> failure) {
  std::lock_guard lock(mutex_);
  if (!failure->seen.load()) of_streams_.try_emplace(stream, std::move(failure));
}

Ref<Failure> FailureLog::take(const Stream* stream) {
  std::lock_guard lock(mutex_);
  const auto found = of_streams_.find(stream);
  if (found == of_streams_.end()) return nullptr;
  Ref<Failure> failure = std::move(found->second);
  of_streams_.erase(found);
  return failure;
}

void FailureLog::forget(const Failure* failure) {
  std::vector<Ref<Failure>> seen;  // dies after the lock is given back
  std::lock_guard lock(mutex_);
  const auto first_seen = std::stable_partition(
      failures_.begin(), failures_.end(),
      [failure](const auto& f) { return f.get() != failure; });
  std::move(first_seen, failures_.end(), std::back_inserter(seen));
  failures_.erase(first_seen, failures_.end());
  std::erase_if(of_streams_, [&](auto& entry) {
    if (entry.second.get() != failure) return false;
    seen.push_back(std::move(entry.second));
    return true;
  });
}

Ref<Failure> FailureLog::take_first_unseen() {
  std::vector<Ref<Failure>> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(failures_);
  }
  for (auto& failure : all) {
    if (failure->seen.load()) continue;
    failure->note_seen();
    return std::move(failure);
  }
  return nullptr;
}

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
#include "shared/device.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "scheduler/hooks.h"
#include "scheduler/scheduler.h"

namespace stages {
namespace {

using Clock = std::chrono::steady_clock;
using EventRef = pkg::Ref<pkg::ManualEvent>;

Clock::duration of_seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(seconds));
}

void finish(const EventRef& event) {
  if (event->done()) return;
  try {
    event->set();
  } catch (const pkg::RuntimeError&) {  // cancelled just now
  }
}

class Device {
 public:
  /// False when there is no thread to be had.
  bool start() {
    try {
      std::thread([this] { run(); }).detach();
      return true;
    } catch (const std::system_error&) { return false; }
  }
  void add(Clock::time_point due, EventRef event) {
    {
      std::lock_guard lock(mutex_);
      due_.push({due, number_++, std::move(event)});
    }
    changed_.notify_one();
  }

 private:
  struct Entry {
    Clock::time_point due;
    int64_t number;  // of equal times, the first one first
    EventRef event;
    bool operator<(const Entry& other) const {
      return due != other.due ? due > other.due : number > other.number;
    }
  };
  void run() {
    for (;;) {
      EventRef event;
      {
        std::unique_lock lock(mutex_);
        while (due_.empty() || due_.top().due > Clock::now()) {
          if (due_.empty()) changed_.wait(lock);
          else changed_.wait_until(lock, Clock::time_point(due_.top().due));
        }
        event = due_.top().event;
        due_.pop();
      }
      finish(event);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::priority_queue<Entry> due_;
  int64_t number_ = 0;
};

// Lives as long as the process: its thread may run while statics are destroyed.  A child
// of fork(), which has not the thread, makes another.
std::atomic<Device*> g_device{nullptr};
[[maybe_unused]] const int g_forgets_at_fork = pthread_atfork(nullptr, nullptr,
                                                              [] { g_device = nullptr; });

Device* device() {
  Device* found = g_device;
  if (found) return found;
  Device* made = new Device;
  if (!g_device.compare_exchange_strong(found, made)) {
    delete made;
    return found;
  }
  if (made->start()) return made;
  g_device = nullptr;  // never freed: another thread may have got it
  return nullptr;
}

}  // namespace

void finish_after(double seconds, EventRef event) {
  Device* const found = seconds > 0 && pkg::async_enabled() ? device() : nullptr;
  if (found) return found->add(Clock::now() + of_seconds(seconds), std::move(event));
  if (seconds > 0) {
    pkg::BlockingRegion region;
    std::this_thread::sleep_for(of_seconds(seconds));
  }
  finish(event);
}

}  // namespace stages

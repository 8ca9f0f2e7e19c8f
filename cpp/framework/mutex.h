// SPDX-License-Identifier: Apache-2.0
// framework/mutex.h: locks for kernels.  A thread that has to wait gives up what the
// embedding language needs to go on, its interpreter lock first of all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "scheduler/hooks.h"

namespace pkg::framework {

enum LinkerInitialized { LINKER_INITIALIZED };

class mutex {
 public:
  mutex() = default;
  explicit mutex(LinkerInitialized) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() {
    if (mutex_.try_lock()) return;
    BlockingRegion region;
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend class condition_variable;
  std::mutex mutex_;
};

class mutex_lock {
 public:
  explicit mutex_lock(mutex& locked) : lock_(locked) {}
  mutex_lock(mutex& locked, std::try_to_lock_t how) : lock_(locked, how) {}
  explicit operator bool() const { return lock_.owns_lock(); }

 private:
  friend class condition_variable;
  std::unique_lock<mutex> lock_;
};
/// Readers exclude each other, too.
using tf_shared_lock = mutex_lock;

class condition_variable {
 public:
  void wait(mutex_lock& lock) {
    waiting(lock,
            [&](auto& held) { return changed_.wait(held), std::cv_status::no_timeout; });
  }
  template <class Predicate>
  void wait(mutex_lock& lock, Predicate ready) {
    while (!ready()) wait(lock);
  }
  template <class Rep, class Period>
  std::cv_status wait_for(mutex_lock& lock, std::chrono::duration<Rep, Period> time) {
    return waiting(lock, [&](auto& held) { return changed_.wait_for(held, time); });
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  // The interpreter lock is taken back while the mutex is free: one thread that has the one
  // may wait for the other.
  template <class Wait>
  std::cv_status waiting(mutex_lock& lock, Wait wait) {
    mutex& owner = *lock.lock_.mutex();
    std::cv_status status;
    {
      BlockingRegion region;
      std::unique_lock<std::mutex> held(owner.mutex_, std::adopt_lock);
      status = wait(held);
    }
    owner.lock();
    return status;
  }
  std::condition_variable changed_;
};

}  // namespace pkg::framework

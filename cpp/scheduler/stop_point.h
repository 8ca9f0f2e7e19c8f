// SPDX-License-Identifier: Apache-2.0
// scheduler/stop_point.h: where long work looks whether it shall end: because its task was
// cancelled, because of Ctrl-C, or because who began it says so.  Called by kernels;
// parallel_for does it for most.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace pkg {

/// Throws when the work of this thread shall end: CancelledError inside of a task that was
/// asked to stop, outside of tasks what the interrupt hook throws, in both what an
/// AskedToStop throws.  Those two are asked every 40 ms at most, so a call costs about
/// 30 ns; once in a few hundred microseconds of work is often enough.
void stop_point();

/// While it lives, stop points and waits of this thread call `ask`, which throws when the
/// work shall end: after a timeout, say.  They nest, and all are asked.
class AskedToStop {
 public:
  explicit AskedToStop(FunctionRef<void()> ask) noexcept;
  ~AskedToStop();
  AskedToStop(const AskedToStop&) = delete;
  AskedToStop& operator=(const AskedToStop&) = delete;
  void ask() const;

 private:
  const FunctionRef<void()> ask_;
  const AskedToStop* const around_;
};

/// Stop points for a loop whose steps are short: one in a million elements.
class StopCounter {
 public:
  void operator()(int64_t elements) {
    if ((left_ -= elements) >= 0) return;
    left_ = kElements;
    stop_point();
  }

 private:
  static constexpr int64_t kElements = 1 << 20;
  int64_t left_ = kElements;
};

/// While it lives, stop points of this thread do nothing: somebody would see what is half
/// written, or the thread cannot throw.
class NoStop {
 public:
  NoStop() noexcept;
  ~NoStop();
  NoStop(const NoStop&) = delete;
  NoStop& operator=(const NoStop&) = delete;
};

}  // namespace pkg

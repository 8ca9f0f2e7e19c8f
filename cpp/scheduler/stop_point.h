// SPDX-License-Identifier: Apache-2.0
// scheduler/stop_point.h: where long work looks whether it shall end: because its task was
// cancelled, or because of Ctrl-C.  Called by kernels; parallel_for does it for most.
#pragma once

#include <cstdint>

namespace pkg {

/// Throws when the work of this thread shall end: CancelledError inside of a task that was
/// asked to stop, outside of tasks what the interrupt hook throws.  The hook is asked every
/// 40 ms at most, so a call costs about 30 ns; once in a few hundred microseconds of work
/// is often enough.
void stop_point();

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

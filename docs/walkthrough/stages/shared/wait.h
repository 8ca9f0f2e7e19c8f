// SPDX-License-Identifier: Apache-2.0
// shared/wait.h: waiting for the core's events, with a look for Ctrl-C now and then.
#pragma once

#include <limits>
#include <optional>

#include "scheduler/event.h"
#include "scheduler/scheduler.h"
#include "shared/python.h"

namespace stages {

/// Waits up to `seconds`, for ever without; returns whether the work is done.  Does not
/// throw its error.
inline bool wait_for(pkg::Event& event, std::optional<double> seconds = {}) {
  // In a job the core sees who waits for whom, if the wait has no limit; signals are not
  // for workers.
  if (!seconds && (pkg::on_worker() || !pkg::async_enabled())) {
    return event.wait_for(std::numeric_limits<double>::infinity());
  }
  // Shorter than the core's own look for signals, whose exception is pkg's binding's.
  constexpr double kStep = 0.02;
  double left = seconds.value_or(1e9);
  while (!event.wait_for(left < kStep ? left : kStep)) {
    if (left <= kStep) return false;
    left -= kStep;
    if (g_check_signals) g_check_signals();
  }
  return true;
}

}  // namespace stages

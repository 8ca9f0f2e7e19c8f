// SPDX-License-Identifier: Apache-2.0
// scheduler/stop_point.cc: whom a stop point asks.
#include "scheduler/stop_point.h"

#include <chrono>

#include "base/error.h"
#include "scheduler/hooks.h"
#include "scheduler/loop.h"
#include "scheduler/spin.h"
#include "scheduler/task.h"

namespace pkg {
namespace {

using Clock = std::chrono::steady_clock;

// Of one thread.
struct Stops {
  int forbidden = 0;          // how many NoStop live
  uint64_t thrown = 0;
  Clock::time_point asked{};  // when somebody outside was last asked, or told
};
thread_local constinit Stops t_stops;

bool time_to_ask() {
  const auto now = Clock::now();
  if (now - t_stops.asked < detail::kPollInterval) return false;
  t_stops.asked = now;
  return true;
}

}  // namespace

void stop_point() {
  Stops& mine = t_stops;
  if (mine.forbidden != 0) return;
  if (detail::Loop* loop = detail::Loop::helped()) {  // its caller asks for all
    if (loop->failed()) throw detail::Loop::Abandoned();
    if (time_to_ask()) loop->wake_caller();
    return;
  }
  detail::RunningTask* running = detail::running_task();
  if (running && running->task->cancel_requested()) {
    running->stopped = true;
    ++mine.thrown;
    detail::raise<CancelledError>("[", running->task->Event::name(), "] was cancelled");
  }
  if (detail::Pool::on_worker() || !time_to_ask()) return;
  try {
    check_interrupt();
  } catch (...) {
    ++mine.thrown;
    throw;
  }
}

NoStop::NoStop() noexcept { ++t_stops.forbidden; }
NoStop::~NoStop() { --t_stops.forbidden; }

uint64_t stops() noexcept { return t_stops.thrown; }

}  // namespace pkg

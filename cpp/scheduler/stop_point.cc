// SPDX-License-Identifier: Apache-2.0
// scheduler/stop_point.cc: whom a stop point asks.
#include "scheduler/stop_point.h"

#include <chrono>

#include "base/error.h"
#include "base/thread_local.h"
#include "scheduler/hooks.h"
#include "scheduler/loop.h"
#include "scheduler/spin.h"
#include "scheduler/task.h"

namespace pkg {
namespace {

using Clock = std::chrono::steady_clock;

PKG_FAST_TLS thread_local constinit detail::StopScope t_scope;
// When somebody outside was last asked, or told.
thread_local constinit Clock::time_point t_asked{};

bool time_to_ask() {
  const auto now = Clock::now();
  if (now - t_asked < detail::kPollInterval) return false;
  t_asked = now;
  return true;
}

}  // namespace

detail::StopScope& detail::stop_scope() noexcept { return t_scope; }

void stop_point() {
  if (t_scope.forbidden != 0) return;
  if (detail::Loop* loop = t_scope.helped) {  // its caller asks for all
    if (loop->in_vain(t_scope.chunk)) throw detail::Loop::Abandoned();
    if (time_to_ask()) loop->wake_caller();
    return;
  }
  detail::RunningTask* running = detail::running_task();
  if (running && running->task->cancel_requested()) {
    running->stopped = t_scope.stopped = true;
    detail::raise<CancelledError>("[", running->task->Event::name(), "] was cancelled");
  }
  if ((detail::Pool::on_worker() && !t_scope.asked) || !time_to_ask()) return;
  try {
    detail::ask_whether_to_stop();
  } catch (...) {
    t_scope.stopped = true;
    throw;
  }
}

void detail::ask_whether_to_stop() {
  if (t_scope.asked) t_scope.asked->ask();
  if (!Pool::on_worker()) check_interrupt();
}

AskedToStop::AskedToStop(FunctionRef<void()> ask) noexcept
    : ask_(ask), around_(t_scope.asked) {
  t_scope.asked = this;
}
AskedToStop::~AskedToStop() { t_scope.asked = around_; }
void AskedToStop::ask() const {
  ask_();
  if (around_) around_->ask();
}

NoStop::NoStop() noexcept { ++t_scope.forbidden; }
NoStop::~NoStop() { --t_scope.forbidden; }

}  // namespace pkg

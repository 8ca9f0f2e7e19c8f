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

// When somebody outside was last asked, or told.
thread_local constinit Clock::time_point t_asked{};

bool time_to_ask() {
  const auto now = Clock::now();
  if (now - t_asked < detail::kPollInterval) return false;
  t_asked = now;
  return true;
}

}  // namespace

PKG_FAST_TLS thread_local constinit detail::StopScope detail::t_stop_scope{};

void stop_point() {
  if (detail::t_stop_scope.forbidden != 0) return;
  if (detail::Loop* loop = detail::t_stop_scope.helped) {  // its caller asks for all
    if (loop->in_vain(detail::t_stop_scope.chunk)) throw detail::Loop::Abandoned();
    if (time_to_ask()) loop->wake_caller();
    return;
  }
  detail::RunningTask* running = detail::running_task();
  if (running && running->task->cancel_requested()) {
    running->stopped = detail::t_stop_scope.stopped = true;
    detail::raise<CancelledError>("[", running->task->Event::name(), "] was cancelled");
  }
  if ((detail::Pool::on_worker() && !detail::t_stop_scope.asked) || !time_to_ask()) return;
  try {
    detail::ask_whether_to_stop();
  } catch (...) {
    detail::t_stop_scope.stopped = true;
    throw;
  }
}

void detail::ask_whether_to_stop() {
  if (detail::t_stop_scope.asked) detail::t_stop_scope.asked->ask();
  if (!Pool::on_worker()) check_interrupt();
}

AskedToStop::AskedToStop(FunctionRef<void()> ask) noexcept
    : ask_(ask), around_(detail::t_stop_scope.asked) {
  detail::t_stop_scope.asked = this;
}
AskedToStop::~AskedToStop() { detail::t_stop_scope.asked = around_; }
void AskedToStop::ask() const {
  ask_();
  if (around_) around_->ask();
}

NoStop::NoStop() noexcept { ++detail::t_stop_scope.forbidden; }
NoStop::~NoStop() { --detail::t_stop_scope.forbidden; }

}  // namespace pkg

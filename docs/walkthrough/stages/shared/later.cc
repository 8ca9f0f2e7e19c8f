// SPDX-License-Identifier: Apache-2.0
#include "shared/later.h"

#include <array>
#include <cmath>
#include <exception>
#include <vector>

#include "base/error.h"
#include "scheduler/scheduler.h"
#include "shared/wait.h"

namespace stages {

Scalar::Scalar(double x) : Scalar(x, nullptr) {}
Scalar::Scalar(double x, std::shared_ptr<JobQueue> queue)
    : value_{std::make_shared<Tensor>(tensor_of(x)), pkg::ready_event(), std::move(queue)} {
}

double Scalar::get_value() const { return result(); }
double Scalar::result(std::optional<double> timeout) const {
  if (!wait_for(*value_.event, timeout)) throw Timeout("[result] is not finished");
  value_.event->wait();  // throws what went wrong
  return value_of(*value_.cell);
}
bool Scalar::done() const { return value_.event->done(); }
bool Scalar::cancel() const { return pkg::cancel(value_.event); }
std::shared_ptr<JobQueue> Scalar::queue() const {
  return value_.queue ? value_.queue : default_queue();
}
std::string Scalar::repr() const { return "Scalar(" + text_of(get_value()) + ")"; }
Scalar Scalar::operator-() const { return apply(neg, *this, 0.0); }

Scalar Scalar::submit(Operation op, std::array<Operand, 2> operands) {
  std::vector<pkg::Ref<pkg::Event>> deps;
  std::shared_ptr<JobQueue> queue;
  for (const Operand& operand : operands) {
    if (!operand.event) continue;
    if (deps.empty()) queue = operand.queue;
    deps.push_back(operand.event);
  }
  // The job keeps the operands' values, not their events nor what came before them.
  const auto cell = std::make_shared<Tensor>();
  auto work = [op, cell, a = operands[0].cell, b = operands[1].cell] {
    *cell = op(*a, *b);
  };
  const double seconds = deps.size() == 2 ? g_delays.pair : g_delays.one;
  const auto& jobs = queue ? queue : default_queue();
  return Scalar(Operand{cell, jobs->schedule(std::move(work), deps, seconds), queue});
}

STAGES_EACH_OPERATOR(STAGES_DEFINED, Scalar)

// `taken_` depends on `event_`, so that a dropped promise cancels it.
Promise::Promise()
    : event_(pkg::Ref<pkg::ManualEvent>::make("promise")),
      taken_(pkg::submit({}, {event_})),
      cell_(std::make_shared<Tensor>()) {}
Scalar Promise::scalar() const { return Scalar(Scalar::Operand{cell_, taken_, {}}); }
void Promise::set(double value) {
  if (event_->done()) throw std::runtime_error("[set] expected an open promise.");
  *cell_ = tensor_of(value);
  event_->set();
}
void Promise::fail(const std::string& text) {
  event_->set_error(std::make_exception_ptr(pkg::RuntimeError(text)));
}

void set_delay(double ms) {
  if (!(ms >= 0 && std::isfinite(ms))) {
    throw std::invalid_argument("[set_delay] expected 0 or more, got " + text_of(ms) +
                                " (ms).");
  }
  g_delays = {ms / 1000, ms / 1000};
}

}  // namespace stages

// SPDX-License-Identifier: Apache-2.0
// graph/going_on.cc: the order of steps that go on after their call, and who waits for them:
// Note [Steps that go on] in plan.h.
#include <algorithm>

#include "dispatcher/dispatcher.h"
#include "graph/plan.h"

namespace pkg::graph {
namespace {

bool any_goes_on(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const Step& step) { return step.goes_on; });
}

template <class F>
void for_each_use(const Step& step, F f) {
  const auto& arguments = step.op->schema.arguments;
  for (size_t i = 0; i < step.args.size(); ++i) {
    // Those of a fused step are not the arguments of its op.
    const bool written = !step.fusion && arguments[i].written;
    for_each_tensor(step.args[i], [&](const Tensor& tensor) {
      if (buffer_of(tensor) >= 0) f(size_t(buffer_of(tensor)), written);
    });
  }
  for (const Tensor& result : step.results) {
    if (buffer_of(result) >= 0) f(size_t(buffer_of(result)), true);
  }
}

}  // namespace

void begin_early(Plan& plan) {
  if (!any_goes_on(plan)) return;
  // How many steps that go on, one behind the other, come before; of a buffer, before it is
  // written, and before it is read.
  std::vector<size_t> written(plan.buffers.size()), read(plan.buffers.size());
  std::vector<bool> sent(plan.buffers.size());  // a step that goes on reads it
  std::vector<std::pair<size_t, Step>> steps;
  size_t program_order = 0;
  for (Step& step : plan.steps) {
    PKG_CHECK(step.writes.empty(), NotImplementedError, "[", step.op->schema.name,
              "] writes to what outlives the run, beside a collective.");
    size_t level = 0;
    for_each_use(step, [&](size_t buffer, bool writes) {
      level = std::max(level, written[buffer]);
      if (!writes) return;
      level = std::max(level, read[buffer]);
      PKG_CHECK(!sent[buffer], NotImplementedError, "[", step.op->schema.name,
                "] writes to what a collective sends.");
    });
    if (step.op->definition().in_program_order && !step.goes_on) {
      level = program_order = std::max(level, program_order);
    }
    for_each_use(step, [&](size_t buffer, bool writes) {
      size_t& after = writes ? written[buffer] : read[buffer];
      after = std::max(after, level + step.goes_on);
      if (!writes && step.goes_on) sent[buffer] = true;
    });
    steps.emplace_back(level, std::move(step));
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  plan.steps.clear();
  for (auto& [level, step] : steps) plan.steps.push_back(std::move(step));
}

void find_waits(Plan& plan) {
  if (!any_goes_on(plan)) return;
  const size_t end = plan.steps.size();
  std::vector<size_t> awaited(plan.buffers.size(), end);  // in which step
  std::vector<bool> open(plan.buffers.size());
  for (size_t s = 0; s < end; ++s) {
    Step& step = plan.steps[s];
    for_each_use(step, [&](size_t buffer, bool) {
      if (!open[buffer]) return;
      open[buffer] = false;
      step.awaits.push_back(buffer);
      awaited[buffer] = s;
    });
    if (!step.goes_on) continue;
    for (const Tensor& result : step.results) {
      const auto buffer = size_t(buffer_of(result));
      plan.buffers[buffer].index = s;
      open[buffer] = true;
    }
  }
  for (size_t s = 0; s < end; ++s) {
    const Step& step = plan.steps[s];
    if (!step.goes_on) continue;
    size_t done = s;  // all results are there, and so nothing is read any more
    for (const Tensor& result : step.results) {
      done = std::max(done, awaited[size_t(buffer_of(result))]);
    }
    for_each_use(step, [&](size_t buffer, bool) {
      plan.buffers[buffer].last = std::max(plan.buffers[buffer].last, done);
    });
  }
}

}  // namespace pkg::graph

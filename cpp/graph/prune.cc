// SPDX-License-Identifier: Apache-2.0
// graph/prune.cc: steps of a plan that nothing depends on, such as a loss of which only the
// gradients are fetched.
#include <algorithm>

#include "graph/plan.h"

namespace pkg::graph {
namespace {

// Whether a step does more than compute results: it draws random numbers, writes to what
// outlives the run, or was asked for by itself, as an assertion is, which may fail.
bool has_effects(const Step& step, std::span<const Node* const> asked) {
  return step.op->definition().in_program_order || !step.writes.empty() ||
         std::find(asked.begin(), asked.end(), step.node) != asked.end();
}

}  // namespace

void prune(Plan& plan, std::span<const Node* const> asked) {
  std::vector<bool> needed(plan.buffers.size());
  for (size_t b = 0; b < needed.size(); ++b) {
    needed[b] = plan.buffers[b].kind == Buffer::Kind::Result || plan.buffers[b].given;
  }
  std::vector<bool> kept(plan.steps.size());
  for (size_t s = plan.steps.size(); s-- > 0;) {
    const Step& step = plan.steps[s];
    bool keep = has_effects(step, asked);
    const auto ask = [&](const Tensor& tensor) {
      const int number = buffer_of(tensor);
      keep = keep || number < 0 || needed[size_t(number)];
    };
    for (const Tensor& result : step.results) ask(result);
    for (size_t i = 0; i < step.args.size(); ++i) {
      if (step.op->schema.arguments[i].written) for_each_tensor(step.args[i], ask);
    }
    kept[s] = keep;
    if (!keep) continue;
    for (const Value& arg : step.args) {
      for_each_tensor(arg, [&](const Tensor& tensor) {
        if (buffer_of(tensor) >= 0) needed[size_t(buffer_of(tensor))] = true;
      });
    }
  }
  size_t s = 0;
  std::erase_if(plan.steps, [&](const Step& step) {
    const bool drop = !kept[s++];
    if (drop) plan.nanoseconds -= step.nanoseconds;
    return drop;
  });
}

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// graph/step_trace.h: what a run does, as spans of scheduler/trace.h.
#pragma once

#include "graph/plan_rows.h"
#include "scheduler/trace.h"

namespace pkg::graph {

/// The time that something takes for a node, where anybody wants to know.
class TimedStep {
 public:
  TimedStep(std::string what, const Node* node) : timed_(trace::Kind::Step) {
    timed_.span.name = std::move(what);
    if (!node) return;
    timed_.span.detail = node->name;
    timed_.span.owner = number_of(*node);
    timed_.span.site = node->site;
  }

 private:
  trace::Timed timed_;
};

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// graph/plan_rows.cc: see plan_rows.h.
#include "graph/plan_rows.h"

#include "graph/fusion.h"

namespace pkg::graph {
namespace {

const char* name_of(Buffer::Kind kind) {
  switch (kind) {
    case Buffer::Kind::Feed: return "feed";
    case Buffer::Kind::Capture: return "capture";
    case Buffer::Kind::Variable: return "variable";
    case Buffer::Kind::Temporary: return "temporary";
    case Buffer::Kind::Local: return "local";
    case Buffer::Kind::Made: return "made";
    case Buffer::Kind::Result: return "result";
  }
  return "";
}

void add_buffer(std::string& list, const Tensor& tensor) {
  const int number = buffer_of(tensor);
  if (number >= 0) list += (list.empty() ? "" : " ") + std::to_string(number);
}

}  // namespace

std::string label_of(const Step& step) {
  if (!step.fusion) return step.op->schema.full_name();
  std::string names;
  for (const Step& one : step.fusion->steps) {
    names += (names.empty() ? "" : "+") + one.op->schema.full_name();
  }
  return names;
}

std::vector<std::vector<std::string>> rows_of(const Plan& plan) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"plan", std::to_string(plan.slab_bytes), str(plan.nanoseconds)});
  for (const Buffer& buffer : plan.buffers) {
    rows.push_back({"buffer", name_of(buffer.kind), std::to_string(buffer.nbytes),
                    std::to_string(buffer.first), std::to_string(buffer.last),
                    std::to_string(buffer.offset)});
  }
  for (const Step& step : plan.steps) {
    std::string reads, writes;
    for (size_t i = 0; i < step.args.size(); ++i) {
      const bool written = !step.fusion && step.op->schema.arguments[i].written;
      for_each_tensor(step.args[i], [&](const Tensor& tensor) {
        add_buffer(reads, tensor);
        if (written && !step.computes) add_buffer(writes, tensor);
      });
    }
    for (const Tensor& result : step.results) add_buffer(writes, result);
    rows.push_back({"step", label_of(step), step.node ? step.node->name : "",
                    std::to_string(step.node ? number_of(*step.node) : 0), reads, writes});
  }
  return rows;
}

}  // namespace pkg::graph

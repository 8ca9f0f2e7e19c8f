// SPDX-License-Identifier: Apache-2.0
// graph/segments.cc: see segments.h.
#include "graph/segments.h"

#include <algorithm>
#include <set>

#include "graph/evaluate.h"
#include "ops/functions.h"
#include "scheduler/stop_point.h"

namespace pkg::graph {
namespace {

constexpr size_t kMostPlans = 16;  // of one segment

// Is there before anything runs.
bool is_source(const Node& node) {
  return node.kind == NodeKind::Constant || node.kind == NodeKind::Variable ||
         node.kind == NodeKind::Placeholder;
}

// Of views of views as well.
bool repeats(const Node* node) {
  while (node->kind == NodeKind::Op && node->op->kind == OpKind::View) {
    if (node->op->schema.name == "expand") return true;
    node = node->inputs[0].from.node;
  }
  return false;
}

}  // namespace

bool Segments::possible(std::span<Node* const> nodes, std::span<const Edge> feeds) {
  const std::set<Edge> fed(feeds.begin(), feeds.end());
  const auto plain = [&](const Node* node) {
    if (node->kind == NodeKind::Assign || node->kind == NodeKind::Gradients) return false;
    if (node->function && node->function->assigns) return false;
    for (uint32_t i = 0; !is_source(*node) && i < node->outputs.size(); ++i) {
      if (fed.contains({const_cast<Node*>(node), i})) return false;
    }
    return true;
  };
  const auto is_function = [](const Node* node) { return node->function; };
  return std::any_of(nodes.begin(), nodes.end(), is_function) &&
         std::all_of(nodes.begin(), nodes.end(), plain);
}

Segments::Segments(Ref<Session> session, std::span<Node* const> nodes,
                   std::span<const Edge> feeds, std::span<const Edge> fetches,
                   std::span<const Node* const> asked)
    : fetches_(fetches.begin(), fetches.end()) {
  for (size_t i = 0; i < feeds.size(); ++i) feeds_.emplace(feeds[i], i);
  segments_.emplace_back();
  std::map<const Node*, size_t> segment_of;
  std::set<Edge> wanted(fetches.begin(), fetches.end());  // outside of their segment
  std::set<Edge> inputs;                                  // of the last segment
  const auto crosses = [&](Edge edge) {
    wanted.insert(edge);
    repeats_cross_ |= repeats(edge.node);
  };
  for (Node* node : nodes) {
    stop_point();
    if (node->kind == NodeKind::Placeholder && !feeds_.contains({node, 0}) &&
        !node->value.defined()) {
      unfed_.push_back({node, 0});
    }
    if (is_source(*node)) continue;
    const size_t number = segments_.size() - 1;
    Segment& segment = segments_.back();
    if (!node->function) segment_of[node] = number;
    for (const Node::Input& input : node->inputs) {
      const Node* from = input.from.node;
      const auto made = segment_of.find(from);
      const bool within = made != segment_of.end() && made->second == number;
      if (node->function) {
        crosses(input.from);
      } else if (from->kind == NodeKind::Constant && !feeds_.contains(input.from)) {
        segment.nodes.push_back(input.from.node);  // each segment has it
      } else if (!within) {
        crosses(input.from);
        if (inputs.insert(input.from).second) segment.inputs.push_back(input.from);
      }
    }
    if (node->function) {
      segment.function = node;
      segments_.emplace_back();
      inputs.clear();
    } else {
      segment.nodes.push_back(node);
    }
  }
  const std::set<const Node*> targets_of_all(asked.begin(), asked.end());
  for (Segment& segment : segments_) {
    std::sort(segment.nodes.begin(), segment.nodes.end(),
              [](const Node* a, const Node* b) { return a->id < b->id; });
    segment.nodes.erase(std::unique(segment.nodes.begin(), segment.nodes.end()),
                        segment.nodes.end());
    std::vector<const Node*> targets;
    for (Node* node : segment.nodes) {
      if (targets_of_all.contains(node)) targets.push_back(node);
      for (uint32_t i = 0; !is_source(*node) && i < node->outputs.size(); ++i) {
        if (wanted.contains({node, i})) segment.outputs.push_back({node, i});
      }
    }
    if (segment.outputs.empty() && targets.empty()) continue;
    segment.callable = Ref<Callable>::make(
        session, segment.inputs, segment.outputs,
        Callable::Given{segment.nodes, std::move(targets)});
  }
}

bool Segments::worthwhile() const {
  if (repeats_cross_) return false;
  return std::all_of(segments_.begin(), segments_.end(), [](const Segment& segment) {
    return !segment.callable || segment.callable->plans_made() <= kMostPlans;
  });
}

Tensor Segments::read(const Inputs& inputs, const Node& variable) const {
  const auto feed = feeds_.find({const_cast<Node*>(&variable), 0});
  if (feed != feeds_.end()) return inputs.feeds[feed->second];
  return inputs.read(variable);
}

Tensor Segments::value(const Values& values, const Inputs& inputs, Edge edge) const {
  const auto feed = feeds_.find(edge);
  if (feed != feeds_.end()) return inputs.feeds[feed->second];
  if (edge.node->kind == NodeKind::Variable) {
    const Tensor found = read(inputs, *edge.node);
    PKG_CHECK(found.defined(), RuntimeError, "Attempting to use uninitialized value ",
              edge.node->name);
    return found;
  }
  if (is_source(*edge.node)) {
    PKG_CHECK(edge.node->value.defined(), ValueError,
              "You must feed a value for placeholder tensor '", edge.node->name,
              "' with dtype ", edge.node->outputs[0].dtype, " and shape ",
              edge.node->outputs[0].str(), ".");
    return edge.node->value;
  }
  return values.at(edge);
}

TensorList Segments::run(const Inputs& inputs) const {
  Values values;
  for (Edge edge : unfed_) {
    inputs.at(edge.node);
    value(values, inputs, edge);  // throws
  }
  for (const Segment& segment : segments_) {
    inputs.at(nullptr);
    if (segment.callable) {
      TensorList given;
      for (Edge edge : segment.inputs) given.push_back(value(values, inputs, edge));
      TensorList made = segment.callable->run_as_part(std::move(given), inputs.control);
      for (size_t i = 0; i < made.size(); ++i)
        values[segment.outputs[i]] = std::move(made[i]);
    }
    if (!segment.function) continue;
    inputs.at(segment.function);
    Evaluation evaluation;
    evaluation.control = &inputs.control;
    evaluation.read = [&](const Node& variable) { return read(inputs, variable); };
    evaluation.session = &inputs.session;
    evaluation.kernels = &inputs.session.kernels();
    for (const Node::Input& input : segment.function->inputs) {
      evaluation.feed(input.from, value(values, inputs, input.from));
    }
    evaluation.run({&segment.function, 1});
    for (uint32_t i = 0; i < segment.function->outputs.size(); ++i) {
      values[{segment.function, i}] = evaluation.value({segment.function, i});
    }
  }
  inputs.at(nullptr);
  ExcludeKeys off(DispatchKey::Autograd);
  TensorList fetched;
  for (Edge edge : fetches_) {
    fetched.push_back(ops::row_major_copy(value(values, inputs, edge)));
  }
  return fetched;
}

}  // namespace pkg::graph

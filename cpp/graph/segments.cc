// SPDX-License-Identifier: Apache-2.0
// graph/segments.cc: see segments.h.
#include "graph/segments.h"

#include <algorithm>
#include <set>

#include "graph/evaluate.h"
#include "ops/functions.h"

namespace pkg::graph {
namespace {

constexpr size_t kMostPlans = 16;  // of one segment

// Is there before anything runs.
bool is_source(const Node& node) {
  return node.kind == NodeKind::Constant || node.kind == NodeKind::Variable ||
         node.kind == NodeKind::Placeholder;
}

bool contains(std::span<const Edge> edges, Edge edge) {
  return std::find(edges.begin(), edges.end(), edge) != edges.end();
}

}  // namespace

bool Segments::possible(std::span<Node* const> nodes, std::span<const Edge> feeds) {
  const auto plain = [&](const Node* node) {
    if (node->kind == NodeKind::Assign || node->kind == NodeKind::Gradients) return false;
    if (node->function && node->function->assigns) return false;
    for (uint32_t i = 0; !is_source(*node) && i < node->outputs.size(); ++i) {
      if (contains(feeds, {const_cast<Node*>(node), i})) return false;
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
    : feeds_(feeds.begin(), feeds.end()), fetches_(fetches.begin(), fetches.end()) {
  segments_.emplace_back();
  std::map<const Node*, size_t> segment_of;
  std::set<Edge> wanted(fetches.begin(), fetches.end());  // outside of their segment
  for (Node* node : nodes) {
    if (is_source(*node)) continue;
    const size_t number = segments_.size() - 1;
    Segment& segment = segments_.back();
    std::set<Edge> inputs(segment.inputs.begin(), segment.inputs.end());
    if (!node->function) segment_of[node] = number;
    for (const Node::Input& input : node->inputs) {
      const Node* from = input.from.node;
      const auto made = segment_of.find(from);
      const bool within = made != segment_of.end() && made->second == number;
      if (node->function) {
        wanted.insert(input.from);
      } else if (from->kind == NodeKind::Constant && !contains(feeds, input.from)) {
        segment.nodes.push_back(input.from.node);  // each segment has it
      } else if (!within) {
        wanted.insert(input.from);
        if (inputs.insert(input.from).second) segment.inputs.push_back(input.from);
      }
    }
    if (node->function) {
      segment.function = node;
      segments_.emplace_back();
    } else {
      segment.nodes.push_back(node);
    }
  }
  for (Segment& segment : segments_) {
    std::sort(segment.nodes.begin(), segment.nodes.end(),
              [](const Node* a, const Node* b) { return a->id < b->id; });
    segment.nodes.erase(std::unique(segment.nodes.begin(), segment.nodes.end()),
                        segment.nodes.end());
    std::vector<const Node*> targets;
    for (Node* node : segment.nodes) {
      if (std::find(asked.begin(), asked.end(), node) != asked.end())
        targets.push_back(node);
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
  return std::all_of(segments_.begin(), segments_.end(), [](const Segment& segment) {
    return !segment.callable || segment.callable->plans_made() <= kMostPlans;
  });
}

Tensor Segments::value(const Values& values, const Inputs& inputs, Edge edge) const {
  const auto feed = std::find(feeds_.begin(), feeds_.end(), edge);
  if (feed != feeds_.end()) return inputs.feeds[size_t(feed - feeds_.begin())];
  if (edge.node->kind == NodeKind::Variable) {
    const Tensor found = inputs.read(*edge.node);
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
    evaluation.read = inputs.read;
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

// SPDX-License-Identifier: Apache-2.0
// graph/evaluate.h: running the nodes of a graph, one after the other, by calling their ops.
// With tensors that have values, this computes; with such that have none it makes a plan.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "framework/node_kernels.h"
#include "graph/graph.h"

namespace pkg::graph {

class Session;

/// The nodes that `fetches` and `targets` need, in the order in which they were made, and
/// nothing behind what is fed.
std::vector<Node*> needed(std::span<const Edge> feeds, std::span<const Edge> fetches,
                          std::span<Node* const> targets);

class Evaluation {
 public:
  /// What is fed.
  void feed(Edge edge, Tensor value);
  /// How a variable is read, and how a value becomes one that a variable may keep: without
  /// a history, or with that of the run around.
  std::function<Tensor(const Node& variable)> read;
  std::function<Tensor(Node& variable, const Tensor& value)> keep;
  /// What stands for a tensor that a call refers to; without it, the tensor itself.
  std::function<Tensor(const Tensor& tensor)> captured;
  /// Told before each node.
  std::function<void(const Node&)> at;

  /// What functions may be ended by; without it a function is refused.
  const RunControl* control = nullptr;
  /// Whose run it is, and what the kernels of nodes keep: of the session.
  Session* session = nullptr;
  framework::NodeKernels* kernels = nullptr;
  /// Whether calls are recorded for gradients that are taken later, by others.
  bool differentiable = false;

  /// ValueError for a placeholder that was not fed.
  void run(std::span<Node* const> nodes);

  /// The value of an output; of a variable, after all that was assigned to it.
  Tensor value(Edge edge) const;
  /// What variables were given, latest last.
  const std::vector<std::pair<Node*, Tensor>>& written() const { return written_; }

 private:
  void run(Node& node, bool last_gradients);
  void run_timed(Node& node, bool last_gradients);
  void find_recorded(std::span<Node* const> nodes);
  bool has_no_history(const Node& node) const;
  void set(Node& node, std::vector<Tensor> outputs);
  std::vector<Tensor> call(Node& node);
  void give_places(Node& node, const std::vector<Value>& args,
                   std::vector<Tensor>& outputs) const;
  std::vector<Tensor> gradients(Node& node, bool create_graph);
  std::vector<Tensor> function(Node& node);
  Tensor assign(Node& variable, const Tensor& value);
  std::vector<Value> arguments(const Node& node) const;

  std::unordered_map<const Node*, std::vector<Tensor>> values_;
  std::map<Edge, Tensor> fed_;
  std::unordered_set<const Node*> recorded_;  // calls of these have a history
  // Gradients will be taken with respect to these, or stop: of a variable, one after the
  // other, the values that it has.
  std::map<Edge, std::vector<Tensor>> wanted_;
  std::vector<std::pair<Node*, Tensor>> written_;
};

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// graph/segments.h: plans of what lies between the loops, choices and callbacks of a graph.
//
// Note [Segments]
// What a function gives has a shape that only a run knows, so there is no plan for a graph
// with one.  But the calls between two functions are a graph of their own, whose inputs are
// what the functions before gave: each has its callable, and so a plan for the shapes that
// come.  Where they come with other shapes again and again, making plans would take longer
// than the calls, and these are made one by one.
#pragma once

#include <atomic>
#include <map>
#include <vector>

#include "graph/session.h"

namespace pkg::graph {

class Segments {
 public:
  /// Of nodes in their order, among them a function; none assigns or takes gradients.
  Segments(Ref<Session> session, std::span<Node* const> nodes, std::span<const Edge> feeds,
           std::span<const Edge> fetches, std::span<const Node* const> asked);

  /// Whether the nodes may be run so: they neither assign nor take gradients.
  static bool possible(std::span<Node* const> nodes, std::span<const Edge> feeds);
  /// False once many plans were made.
  /// Nor where a value that repeats its elements without memory for them, of any size, goes
  /// from one segment to another: there it would get memory.
  bool worthwhile() const;

  struct Inputs {
    const TensorList& feeds;  ///< one for each feed
    std::function<Tensor(const Node& variable)> read;
    const RunControl& control;
    Session& session;
    std::function<void(const Node* node)> at;  ///< the function that runs next, or null
  };
  /// The fetches, each in memory of its own.
  TensorList run(const Inputs& inputs) const;

 private:
  struct Segment {
    std::vector<Node*> nodes;
    std::vector<Edge> inputs, outputs;
    Ref<Callable> callable;
    Node* function = nullptr;  ///< that runs after them
  };
  using Values = std::map<Edge, Tensor>;
  Tensor read(const Inputs& inputs, const Node& variable) const;
  Tensor value(const Values& values, const Inputs& inputs, Edge edge) const;

  std::map<Edge, size_t> feeds_;  // their places
  std::vector<Edge> fetches_;
  std::vector<Edge> unfed_;  // placeholders that no step reads: an error all the same
  std::vector<Segment> segments_;
  bool repeats_cross_ = false;
};

}  // namespace pkg::graph

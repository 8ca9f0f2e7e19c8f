// SPDX-License-Identifier: Apache-2.0
// graph/function.h: what a node runs that is no call of an op: a loop, a choice, a callback.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace pkg::graph {

class Node;
class Session;
struct RunControl;

/// The run that a function is a part of.
struct FunctionRun {
  const RunControl* control = nullptr;
  /// Whose run it is; null in none.
  Session* session = nullptr;
  /// The value of a variable now, undefined if it has none.
  std::function<Tensor(const Node& variable)> read;
  /// Gives a variable a value, of which the run keeps a copy; what is read of it from now on.
  std::function<Tensor(Node& variable, const Tensor& value)> assign;
};

class Function : public Intrusive {
 public:
  /// One tensor for each output of its node.  Called by several threads at once.
  virtual TensorList run(const TensorList& inputs, const FunctionRun& run) = 0;
  /// Whether gradients flow through it.
  virtual bool differentiable() const { return true; }

  const std::string type;        ///< of its node: "While", ...
  std::vector<Node*> variables;  ///< of the graph around it that it reads or assigns
  bool assigns = false;          ///< to some of them
  bool keeps = false;            ///< has kernels that a session keeps (Note [Kept bodies])

 protected:
  explicit Function(std::string type_in) : type(std::move(type_in)) {}
};

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// autograd/function.h: differentiable functions that are not ops, with a backward written
// by hand, in C++ or behind a binding.
//
// Example: docs/autograd.md, "Function in C++" (compiled: tests/cpp/function_test.cc).
#pragma once

#include <functional>
#include <vector>

#include "autograd/node.h"

namespace pkg {

/// The node of a function, as its backward sees it.
class FunctionNode : public Node {
 public:
  /// FunctionOptions::saved, in that order.  RuntimeError when one was changed in place
  /// since.  An output has this node as its history again, for double backward.
  virtual TensorList saved_tensors() = 0;
  /// Whether anybody wants the gradient of this input.
  bool needs_input_grad(size_t input) const { return bool(edges_[input].node); }
};

/// Gradients of the inputs (undefined: none) from those of the outputs.  Tensors that it
/// needs belong in FunctionOptions::saved: one in a capture is not checked for changes,
/// and an output in a capture owns the node that owns it, so neither is ever freed.
/// Destroyed when the graph is freed, by the thread that lets go of it last: destructors
/// of what it captured must not throw.
using BackwardFunction =
    std::function<TensorList(const TensorList& grads, FunctionNode& self)>;

struct FunctionOptions {
  bool materialize_grads = true;           ///< gradients nobody gave arrive as zeros
  TensorList saved;                        ///< inputs, outputs or others, kept for backward
  std::vector<size_t> non_differentiable;  ///< outputs without history, by position
};

/// Makes `backward` the history of `outputs` (undefined ones have none) and returns its
/// node; null when grad mode is off or no input needs a gradient.  An output that is one
/// of the inputs was changed in place, which counts as a write whatever is returned;
/// RuntimeError for what no recorded op may write.  Any other output is not a view
/// afterwards, so do not give a view of an input.
Ref<Node> record_function(std::string name, const TensorList& inputs,
                          const TensorList& outputs, BackwardFunction backward,
                          FunctionOptions options = {});

}  // namespace pkg

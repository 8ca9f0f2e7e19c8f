// SPDX-License-Identifier: Apache-2.0
// autograd/function.h: differentiable functions that are not ops, with a backward written
// by hand, in C++ or behind a binding.
//
//   Tensor cube(const Tensor& x) {
//     Tensor y;
//     { ExcludeKeys off(DispatchKey::Autograd); y = x * x * x; }
//     record_function("Cube", {x}, {y}, [x](const TensorList& grads, Node&) {
//       return TensorList{ops::mul(grads[0], ops::mul(x, ops::mul(x, 3)))};
//     });
//     return y;
//   }
#pragma once

#include <functional>

#include "autograd/node.h"

namespace pkg {

/// Gradients of the inputs (undefined: none) from those of the outputs.  `self` is the
/// node that runs: a saved output gets it back as its history for double backward.
using BackwardFunction = std::function<TensorList(const TensorList& grads, Node& self)>;

struct FunctionOptions {
  bool materialize_grads = true;  ///< gradients nobody gave arrive as zeros
  std::function<void()> release;  ///< the graph was freed: drop what was saved
};

/// Makes `backward` the history of `outputs` (undefined ones have none) and returns its
/// node; null when grad mode is off or no input needs a gradient.  An output that is one
/// of the inputs was changed in place.
Ref<Node> record_function(std::string name, const TensorList& inputs,
                          const TensorList& outputs, BackwardFunction backward,
                          FunctionOptions options = {});

}  // namespace pkg

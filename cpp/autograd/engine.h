// SPDX-License-Identifier: Apache-2.0
// autograd/engine.h: running the recorded graph backwards.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// Adds the gradients of `outputs` to the .grad of the leaves they depend on.
/// `grad_outputs` has one tensor per output; undefined means 1 for a one-element output.
/// Each node runs once, in a fixed order, on the calling thread.  With `inputs` only
/// these get a .grad, leaves or not, and only the nodes that lead to one of them run.
void backward(const TensorList& outputs, const TensorList& grad_outputs,
              bool retain_graph = false, bool create_graph = false,
              const TensorList& inputs = {});

/// Gradients of `outputs` with respect to `inputs`; nothing is accumulated, and only the
/// nodes that lead to one of these run.  An input that was not used is an error, or
/// undefined with `allow_unused`.  What arrives at one of the `stops` goes no further, as if
/// they were constants; one of them that does not require grad changes nothing.
TensorList grad(const TensorList& outputs, const TensorList& inputs,
                const TensorList& grad_outputs, bool retain_graph = false,
                bool create_graph = false, bool allow_unused = false,
                const TensorList& stops = {});

/// Whether every pass checks the gradients for NaN and names the call that made them.
void set_detect_anomaly(bool enabled);
bool detect_anomaly();

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/node_facts.h: what a language shows of a node, and takes for it: by plain values.
// Used by the bindings.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/node.h"

namespace pkg {

/// Qualified name of its op; nothing of a node that no op has made.
std::optional<std::string> op_name(const Node& node);
/// The leaf of an AccumulateGrad node; undefined of others.
Tensor leaf_of(const Node& node);
/// (name, tensor) of everything kept for backward.
std::vector<std::pair<std::string, Tensor>> saved_by(const Node& node);
/// FunctionNode::saved_tensors(); TypeError for a node that is no function's.
TensorList function_saved_tensors(Node& node);
/// Calls the hook before the node (HookKind::Pre) or after it (Post).  What it returns, if
/// anything, takes the place of `grads`; RuntimeError unless they are as many.
using NodeHook = std::function<std::optional<TensorList>(const TensorList& grads,
                                                         const TensorList& other)>;
HookHandle register_node_hook(Node& node, HookKind kind, NodeHook hook);

}  // namespace pkg

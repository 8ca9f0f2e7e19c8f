// SPDX-License-Identifier: Apache-2.0
// autograd/node_facts.cc: see the header.
#include "autograd/node_facts.h"

#include "autograd/accumulate_grad.h"
#include "autograd/function.h"
#include "autograd/op_node.h"

namespace pkg {

std::optional<std::string> op_name(const Node& node) {
  const auto* made_by_op = dynamic_cast<const OpNode*>(&node);
  if (!made_by_op) return std::nullopt;
  return made_by_op->op().qualified_name();
}

Tensor leaf_of(const Node& node) {
  const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node);
  return leaf ? leaf->variable : Tensor();
}

std::vector<std::pair<std::string, Tensor>> saved_by(const Node& node) {
  std::vector<std::pair<std::string, Tensor>> list;
  node.for_each_saved([&](const std::string& name, const Tensor& tensor) {
    list.emplace_back(name, tensor);
  });
  return list;
}

TensorList function_saved_tensors(Node& node) {
  auto* function = dynamic_cast<FunctionNode*>(&node);
  PKG_CHECK(function, TypeError,
            "[_saved_tensors] expected the Node of a Function for 'node', got that of ",
            node.name());
  return function->saved_tensors();
}

HookHandle register_node_hook(Node& node, HookKind kind, NodeHook hook) {
  const auto run = [hook = std::move(hook)](TensorList& grads, const TensorList& other) {
    std::optional<TensorList> made = hook(grads, other);
    if (!made) return;
    PKG_CHECK(made->size() == grads.size(), RuntimeError, "a hook returned ", made->size(),
              " gradients, expected ", grads.size());
    grads = *std::move(made);
  };
  HookList& list = node.hooks();
  return {Ref<HookList>::share(&list), list.add(kind, 0, run)};
}

}  // namespace pkg

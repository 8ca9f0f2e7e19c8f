// SPDX-License-Identifier: Apache-2.0
// autograd/accumulate_grad.h: the end of every path: it adds to the .grad of a leaf.
#pragma once

#include "autograd/node.h"

namespace pkg {

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf) : Node(kLeaf), variable(std::move(leaf)) {}
  std::string name() const override { return "AccumulateGrad"; }
  TensorList apply(TensorList grads) override;
  /// Those of the leaf, which outlive this node.
  HookList& hooks() override { return leaf_hooks(variable); }
  const HookList* hooks_or_null() const override {
    return static_cast<const HookList*>(variable.autograd()->hooks.get());
  }

  const Tensor variable;

 private:
  ~AccumulateGrad() override;
};

/// Adds `sum` to the gradient in `cell`: with `in_place` to the tensor that is there, or,
/// if there is none, as a tensor that nobody else holds, laid out as `variable`.
void accumulate(const Tensor& variable, GradCell& cell, Tensor sum, bool in_place);

}  // namespace pkg

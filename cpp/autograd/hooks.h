// SPDX-License-Identifier: Apache-2.0
// autograd/hooks.h: functions of the user that run during backward.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace pkg {

class Node;

/// When a hook runs, and what `grads` is then.  They run in this order, and in the order
/// of their registration.
enum class HookKind : uint8_t {
  Tensor,      ///< on arrival: the gradient of one of the node's outputs, in grads[0]
  Retain,      ///< as Tensor, after the others: retain_grad() stores what they left
  Pre,         ///< before a node: the gradients of all its outputs
  Post,        ///< after a node: the gradients of its inputs; `other`: of its outputs
  Accumulated  ///< after a leaf's .grad has grown: the leaf itself, in grads[0]
};

/// May replace entries of `grads`.
using HookFunction = std::function<void(TensorList& grads, const TensorList& other)>;

/// The hooks of one node, or of one leaf.  Threads may add and remove at any time; a
/// pass that has begun to run them uses the list that it found.
class HookList final : public Intrusive {
 public:
  /// Returns the number by which to remove it.
  int64_t add(HookKind kind, uint32_t output_nr, HookFunction function);
  bool remove(int64_t id);

  /// Runs those of the tensors that the node made, on their gradients: also where
  /// nobody wants more than these, and the node does not run.
  void run_on_tensors(TensorList& grads) const;
  /// Runs those that come before the node, on the gradients of its outputs.
  void run_before(TensorList& grads) const;
  void run_after(TensorList& grad_inputs, const TensorList& grad_outputs) const;
  void run_accumulated(const Tensor& leaf) const;

 private:
  ~HookList() override;

  struct Hook {
    int64_t id;
    HookKind kind;
    uint32_t output_nr;
    HookFunction function;
  };
  std::vector<Hook> of_kind(HookKind kind) const;

  std::vector<Hook> hooks_;  // under our object_lock()
  int64_t next_id_ = 0;
};

/// A hook that was registered, to be removed later.  Does not keep the graph alive.
struct HookHandle {
  Ref<HookList> list;
  int64_t id;
  bool remove() const { return list->remove(id); }
};

/// The hooks of a leaf, made at the first call.
HookList& leaf_hooks(const Tensor& leaf);

/// Calls `hook(gradient)` when the gradient of `tensor` is known; what it returns, if
/// defined, replaces it.  RuntimeError when the tensor needs no gradient.
HookHandle register_hook(const Tensor& tensor, std::function<Tensor(const Tensor&)> hook);
/// Calls `hook(leaf)` after the leaf's .grad has grown.
HookHandle register_accumulated_hook(const Tensor& leaf,
                                     std::function<void(const Tensor&)> hook);
/// Keeps the gradient of a tensor that is no leaf in its .grad.
void retain_grad(const Tensor& tensor);
/// Moves what retain_grad() asked for to where the gradient of output `output_nr` of
/// `node` arrives: the tensor was changed in place and has a new history.
void move_retained(AutogradMeta& meta, Node& node, uint32_t output_nr);

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/hooks.h: functions of the user that run during backward.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "tensor/tensor.h"

namespace pkg {

/// When a hook runs, and what `grads` is then.  They run in this order, and in the order
/// of their registration.
enum class HookKind : uint8_t {
  Tensor,      ///< before a node: the gradient of one of its outputs, in grads[0]
  Pre,         ///< before a node: the gradients of all its outputs
  Retain,      ///< as Tensor, after the others: retain_grad() stores what they left
  Post,        ///< after a node: the gradients of its inputs; `other`: of its outputs
  Accumulated  ///< after a leaf's .grad has grown: the leaf itself, in grads[0]
};

/// May replace entries of `grads`.
using HookFunction = std::function<void(TensorList& grads, const TensorList& other)>;

/// The hooks of one node, or of one leaf.  Threads may add and remove at any time; a
/// pass that has begun to run them goes on with what it saw.
class HookList final : public Intrusive {
 public:
  /// Returns the number by which to remove it.
  int64_t add(HookKind kind, uint32_t output_nr, HookFunction function);
  bool remove(int64_t id);

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

  mutable std::mutex mutex_;
  std::vector<Hook> hooks_;
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
HookHandle register_hook(const Tensor& tensor,
                         std::function<Tensor(const Tensor&)> hook);
/// Calls `hook(leaf)` after the leaf's .grad has grown.
HookHandle register_accumulated_hook(const Tensor& leaf,
                                     std::function<void(const Tensor&)> hook);
/// Keeps the gradient of a tensor that is no leaf in its .grad.
void retain_grad(const Tensor& tensor);

}  // namespace pkg

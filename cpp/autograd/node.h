// SPDX-License-Identifier: Apache-2.0
// autograd/node.h: one recorded operation, and the edges to those before it.
//
// The graph is implicit: a tensor holds the node that made it, a node holds edges to the
// nodes of its inputs.  Nothing here recurses, so a chain may have any length.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "autograd/hooks.h"
#include "base/function_ref.h"
#include "tensor/tensor.h"

namespace pkg {

class Node;

/// Where the gradient of one input goes: a node, and which of its outputs that input was.
struct Edge {
  Ref<Node> node;
  uint32_t input_nr = 0;
};
using EdgeList = SmallVector<Edge, 2>;

class Node : public Intrusive, public PoolAllocated {
 public:
  Node();
  /// Of a leaf: comes before all others.
  enum LeafTag { kLeaf };
  explicit Node(LeafTag);

  /// "AddBackward", as PyTorch names it.
  virtual std::string name() const = 0;
  /// Gradients of the inputs, in the order of edges(), from those of the outputs.
  virtual TensorList apply(TensorList grads) = 0;
  /// Drops what was saved for apply(); a second pass then fails with a clear error.
  virtual void release_saved() {}
  /// Both, when the graph is not kept.
  virtual TensorList apply_and_release(TensorList grads) {
    TensorList result = apply(std::move(grads));
    release_saved();
    return result;
  }
  /// Calls f(name, tensor) for everything saved, for inspection.
  virtual void for_each_saved(
      FunctionRef<void(const std::string& name, const Tensor& tensor)>) const {}
  /// Number of outputs, which is the number of gradients apply() gets.
  virtual size_t n_outputs() const { return 1; }
  /// Shapes and dtypes of the inputs, one for each edge, where the node knows them.
  virtual std::optional<Spec> input_spec(size_t) const { return std::nullopt; }

  const EdgeList& edges() const { return edges_; }
  /// Grows with every node: inputs always have smaller numbers than their consumers.
  /// Leaves, which may be made after those, have 0.
  uint64_t sequence() const { return sequence_; }
  /// "file:line" of the call that was recorded, or "".
  std::string call_site() const;

  /// The node's hooks, made at the first call.
  virtual HookList& hooks();
  virtual const HookList* hooks_or_null() const {
    return hooks_.load(std::memory_order_acquire);
  }

 protected:
  ~Node() override;
  /// For a node whose saved values are gone.
  [[noreturn]] void raise_released() const;
  /// For a saved tensor whose memory was written since.  `output` is the number of the
  /// result of this node that it is; negative for any other tensor.
  [[noreturn]] void raise_changed(const Tensor& saved, uint32_t expected,
                                  int64_t output = -1) const;
  // Destruction goes through a list of the thread instead of the stack.
  void dispose() noexcept final;

  EdgeList edges_;

 private:
  uint64_t sequence_;
  uint64_t site_;
  std::atomic<HookList*> hooks_{nullptr};  // owned
  Node* next_trash_ = nullptr;
};

/// The edge that a use of `tensor` makes: to its node, or to the AccumulateGrad node of a
/// leaf; empty when it needs no gradient.
Edge gradient_edge(const Tensor& tensor);

/// Makes `node` the history of `tensor`.
void set_history(const Tensor& tensor, Ref<Node> node, uint32_t output_nr);

/// The node that made the tensor; null for a leaf.
Ref<Node> grad_fn(const Tensor& tensor);

}  // namespace pkg

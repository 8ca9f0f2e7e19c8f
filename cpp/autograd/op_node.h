// SPDX-License-Identifier: Apache-2.0
// autograd/op_node.h: the node of every registered op: saved arguments and the formula
// of its record.
#pragma once

#include "autograd/node.h"
#include "autograd/reading.h"
#include "dispatcher/operator.h"

namespace pkg {

class OpNode final : public Node {
 public:
  /// Records the call of `op` with `args`; saves what the gradient formula asked for.
  OpNode(const Operator& op, std::span<const Value> args);

  std::string name() const override;
  TensorList apply(TensorList grads) override;
  void release_saved() override;
  TensorList apply_and_release(TensorList grads) override;
  void for_each_saved(
      FunctionRef<void(const std::string& name, const Tensor&)> f) const override;
  size_t n_outputs() const override { return n_outputs_; }
  const Spec* input_spec(size_t edge) const override { return &specs_[slots_[edge]]; }

  /// Saves results (if asked for) and makes this their history.
  void set_results(const Stack& stack);

  const Operator& op() const { return op_; }

 private:
  void begin_reading();
  void clear();
  TensorList run(TensorList& grads);
  void add_tensor(const Tensor& tensor);
  void check_versions() const;
  TensorList historic_results();
  void add_zero_second(TensorList& grads);

  const Operator& op_;
  SmallVector<Value, 3> args_;
  SmallVector<Tensor, 1> results_;   // by number; undefined where not asked for
  SmallVector<Spec, 3> specs_;       // one a slot: arguments, lists expanded
  SmallVector<uint32_t, 4> slots_;   // slot of each edge
  SmallVector<uint32_t, 2> versions_;  // of what is in args_ and results_, in that order
  uint64_t wanting_ = 0;     // arguments that want a gradient
  uint64_t needs_mask_ = 0;  // the same by slot, for GradContext
  uint32_t n_outputs_ = 1;
  bool keeps_ = false;       // saved a tensor: only then is there anything to release
  mutable Reading reading_;  // of what is saved: args_, results_, versions_
};

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/op_node.h: the node of every registered op: saved arguments and the formula
// of its record.
#pragma once

#include "autograd/node.h"
#include "dispatcher/operator.h"

namespace pkg {

class OpNode final : public Node {
 public:
  /// Records the call of `op` with `args`; saves what the gradient formula asked for.
  OpNode(const Operator& op, std::span<const Value> args);

  std::string name() const override;
  TensorList apply(TensorList grads) override;
  void release_saved() override;
  size_t n_outputs() const override { return n_outputs_; }

  /// Saves results (if asked for) and makes this their history.
  void set_results(const Stack& stack);

 private:
  struct Version {
    const Storage* storage;
    uint32_t expected;
  };
  void save(const Tensor& tensor);
  void check_versions() const;

  const Operator& op_;
  std::vector<Value> args_;
  std::vector<Tensor> results_;
  std::vector<Spec> specs_;        // one a slot: arguments, lists expanded
  std::vector<uint32_t> slots_;    // slot of each edge
  std::vector<Version> versions_;
  uint64_t needs_mask_ = 0;
  uint32_t n_outputs_ = 1;
  bool released_ = false;
};

}  // namespace pkg

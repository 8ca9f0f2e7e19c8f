// SPDX-License-Identifier: Apache-2.0
// autograd/op_node.h: the node of every registered op: saved arguments and the formula
// of its record.
#pragma once

#include <memory>
#include <vector>

#include "autograd/call_words.h"
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
  std::optional<Spec> input_spec(size_t edge) const override {
    return call_.spec_of_tensor(edge);
  }

  /// Saves results (if asked for) and makes this their history.
  void set_results(const Stack& stack);

  const Operator& op() const { return op_; }

 private:
  void begin_reading();
  void clear();
  TensorList run(TensorList& grads);
  void keep_tensor(const Tensor& tensor);
  void keep_other(size_t place, const Value& value);
  void save(const Tensor& tensor, size_t place, bool result);
  struct Call;
  void recall(Call& call) const;
  void check_versions() const;
  void give_history(std::span<Tensor> results);
  void add_zero_second(TensorList& grads, const Call& call);

  struct Saved {
    Tensor tensor;
    uint32_t version;
    uint16_t place;  // of the argument, or the number of the result
    bool result;
  };
  // Arguments without a short form: saved lists of tensors, strings and the like.
  struct Other : PoolAllocated {
    Value value;
    size_t place = 0;
    std::vector<uint32_t, PoolAllocator<uint32_t>> versions;  // of the tensors of a list
    std::unique_ptr<Other> next;
  };

  const Operator& op_;
  SmallVector<Saved, 2> saved_;  // arguments, then results, each in their order
  CallWords call_;               // the rest
  std::unique_ptr<Other> others_;
  uint32_t n_outputs_ = 1;
  mutable Reading reading_;  // of saved_ and others_
  uint16_t wanting_ = 0;     // arguments that want a gradient
  bool keeps_ = false;       // saved a tensor: only then is there anything to release
  static_assert(kMaxParameters <= 16);
};

}  // namespace pkg

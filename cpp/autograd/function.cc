// SPDX-License-Identifier: Apache-2.0
// autograd/function.cc: the node of a function written by the user.
#include "autograd/function.h"

#include "autograd/views.h"
#include "dispatcher/dispatcher.h"
#include "ops/functions.h"

namespace pkg {
namespace {

class FunctionNode final : public Node {
 public:
  FunctionNode(std::string name, const TensorList& inputs, const TensorList& outputs,
               BackwardFunction backward, FunctionOptions options)
      : name_(std::move(name)),
        backward_(std::move(backward)),
        options_(std::move(options)) {
    for (const Tensor& input : inputs) {
      edges_.push_back(gradient_edge(input));
      inputs_.push_back(input.defined() ? input.spec() : Spec());
    }
    for (const Tensor& output : outputs) {
      outputs_.push_back(output.defined() ? output.spec() : Spec());
    }
  }

  std::string name() const override { return name_ + "Backward"; }
  size_t n_outputs() const override { return outputs_.size(); }
  const Spec* input_spec(size_t edge) const override { return &inputs_[edge]; }

  TensorList apply(TensorList grads) override {
    PKG_CHECK(!released_, RuntimeError, "Trying to backward through the graph a second "
              "time (or directly access saved tensors after they have already been freed), "
              "at ", name(), ". Specify retain_graph=True if you need to backward through "
              "the graph a second time.");
    if (options_.materialize_grads) {
      for (size_t i = 0; i < grads.size(); ++i) {
        if (!grads[i].defined()) grads[i] = ops::full_like(empty(outputs_[i]), 0);
      }
    }
    TensorList out = backward_(grads, *this);
    PKG_CHECK(out.size() == edges_.size(), RuntimeError, "function ", name(),
              " returned an incorrect number of gradients (expected ", edges_.size(),
              ", got ", out.size(), ")");
    for (size_t i = 0; i < out.size(); ++i) {
      if (!edges_[i].node || !out[i].defined()) continue;
      PKG_CHECK(out[i].sizes() == inputs_[i].sizes, RuntimeError, "Function ", name(),
                " returned an invalid gradient at index ", i, " - got ", out[i].sizes(),
                " but expected shape compatible with ", inputs_[i].sizes);
      if (out[i].dtype() != inputs_[i].dtype) {
        out[i] = ops::to_dtype(out[i], inputs_[i].dtype);
      }
    }
    return out;
  }

  void release_saved() override {
    released_ = true;
    backward_ = nullptr;
    if (options_.release) options_.release();
  }

 private:
  std::string name_;
  BackwardFunction backward_;
  FunctionOptions options_;
  SmallVector<Spec, 2> inputs_, outputs_;
  bool released_ = false;
};

void check_changed_in_place(const std::string& name, const Tensor& tensor) {
  PKG_CHECK(!(tensor.requires_grad() && tensor.is_leaf()), RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation "
            "(Function ", name, ").");
  PKG_CHECK(!tensor.is_view(), NotImplementedError, "[", name, "] a Function cannot change "
            "a view in place under autograd. Return a new tensor, or use ops.");
}

}  // namespace

Ref<Node> record_function(std::string name, const TensorList& inputs,
                          const TensorList& outputs, BackwardFunction backward,
                          FunctionOptions options) {
  bool needed = false;
  for (const Tensor& input : inputs) {
    needed |= input.defined() && requires_grad(input);
  }
  if (!grad_enabled() || !needed) return {};
  for (const Tensor& output : outputs) {
    for (const Tensor& input : inputs) {
      if (output.defined() && input.defined() && output.is_same(input)) {
        check_changed_in_place(name, output);
      }
    }
  }
  auto node = Ref<FunctionNode>::make(std::move(name), inputs, outputs,
                                      std::move(backward), std::move(options));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !is_floating(outputs[i].dtype())) continue;
    if (outputs[i].storage().use_count() > 1) outputs[i].storage().note_rebased_views();
    set_history(outputs[i], node, uint32_t(i));
  }
  return node;
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/function.cc: the node of a function written by the user.
#include "autograd/function.h"

#include <algorithm>

#include "autograd/reading.h"
#include "autograd/views.h"
#include "dispatcher/checks.h"
#include "dispatcher/dispatcher.h"
#include "ops/functions.h"
#include "ops/op.h"

namespace pkg {
namespace {

// Whether a gradient of shape `from` is one of shape `to`, broadcast.
bool is_broadcast(const Shape& from, const Shape& to) {
  if (from.size() < to.size()) return false;
  const size_t more = from.size() - to.size();
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] != 1 && to[i] != from[more + i]) return false;
  }
  return true;
}

bool contains(const TensorList& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& other) { return other.is_same(tensor); });
}

// Whether output `i` gets the function as its history.
bool is_differentiable(const Tensor& output, size_t i, const FunctionOptions& options) {
  const auto& constant = options.non_differentiable;
  return output.defined() && is_floating(output.dtype()) &&
         std::find(constant.begin(), constant.end(), i) == constant.end();
}

class RecordedFunction final : public FunctionNode {
 public:
  RecordedFunction(std::string name, const TensorList& inputs, const TensorList& outputs,
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
      has_spec_.push_back(output.defined());
    }
  }

  /// Of the outputs, and keeps what backward asked for in the versions that it now has.
  void become_history(const TensorList& inputs, const TensorList& outputs) {
    for (const Tensor& tensor : options_.saved) save(tensor, outputs);
    options_.saved = {};
    const auto self = Ref<Node>::share(this);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& output = outputs[i];
      if (!is_differentiable(output, i, options_)) continue;
      if (contains(inputs, output)) {
        rebase_history(output, self, uint32_t(i));
        continue;
      }
      // What it may be a view of was made by forward and has no history to be kept.
      output.impl()->base = nullptr;
      if (output.storage().use_count() > 1) output.storage().note_rebased_views();
      set_history(output, self, uint32_t(i));
    }
  }

  std::string name() const override { return name_ + "Backward"; }
  size_t n_outputs() const override { return outputs_.size(); }
  std::optional<Spec> input_spec(size_t edge) const override { return inputs_[edge]; }

  TensorList apply(TensorList grads) override {
    if (!reading_.begin([this] { clear(); })) raise_released();
    const EndReading end(reading_, [this] { clear(); });
    if (options_.materialize_grads) {
      for (size_t i = 0; i < grads.size(); ++i) {
        if (grads[i].defined() || !has_spec_[i]) continue;
        grads[i] = ops::full_like(empty(outputs_[i]), 0);
      }
    }
    TensorList out = backward_(grads, *this);
    PKG_CHECK(out.size() == edges_.size(), RuntimeError, "function ", name(),
              " returned an incorrect number of gradients (expected ", edges_.size(),
              ", got ", out.size(), ")");
    for (size_t i = 0; i < out.size(); ++i) {
      if (!edges_[i].node || !out[i].defined()) continue;
      PKG_CHECK(is_broadcast(out[i].sizes(), inputs_[i].sizes), RuntimeError, "Function ",
                name(), " returned an invalid gradient at index ", i, " - got ",
                out[i].sizes(), " but expected shape compatible with ", inputs_[i].sizes);
      out[i] = ops::sum_to(out[i], inputs_[i].sizes);
      if (out[i].dtype() != inputs_[i].dtype) {
        out[i] = ops::to_dtype(out[i], inputs_[i].dtype);
      }
    }
    return out;
  }

  void release_saved() override {
    reading_.release([this] { clear(); });
  }

  TensorList saved_tensors() override {
    if (cleared_) raise_released();
    TensorList list;
    for (const Saved& saved : saved_) {
      if (!saved.tensor.defined()) {
        list.push_back(Tensor());
        continue;
      }
      if (saved.tensor.version() != saved.version) {
        raise_changed(saved.tensor, saved.version, saved.output);
      }
      if (saved.output < 0 || !grad_enabled()) {
        list.push_back(saved.tensor);
        continue;
      }
      list.push_back(share(saved.tensor));
      set_history(list.back(), Ref<Node>::share(this), uint32_t(saved.output));
    }
    return list;
  }

  void for_each_saved(
      FunctionRef<void(const std::string& name, const Tensor&)> f) const override {
    const auto clear = [this] { const_cast<RecordedFunction*>(this)->clear(); };
    if (!reading_.begin(clear)) return;
    const EndReading end(reading_, clear);
    for (size_t i = 0; i < saved_.size(); ++i) {
      if (saved_[i].tensor.defined()) {
        f("saved_tensors[" + std::to_string(i) + "]", saved_[i].tensor);
      }
    }
  }

 private:
  struct Saved {
    Tensor tensor;
    uint32_t version = 0;
    int64_t output = -1;  // its position, if it is a differentiable output
  };

  // An output owns this node: it is kept as another tensor over the same memory.
  void save(const Tensor& tensor, const TensorList& outputs) {
    if (!tensor.defined()) return saved_.push_back({});
    int64_t output = -1;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].defined() || !outputs[i].is_same(tensor)) continue;
      if (is_differentiable(outputs[i], i, options_)) output = int64_t(i);
    }
    saved_.push_back({output < 0 ? tensor : share(tensor), tensor.version(), output});
  }

  void clear() {
    cleared_ = true;
    backward_ = nullptr;
    saved_.clear();
  }

  std::string name_;
  BackwardFunction backward_;
  FunctionOptions options_;
  SmallVector<Spec, 2> inputs_, outputs_;
  SmallVector<bool, 2> has_spec_;  // outputs that were given
  std::vector<Saved, PoolAllocator<Saved>> saved_;
  mutable Reading reading_;  // of what may be released: backward_, saved_
  std::atomic<bool> cleared_{false};
};

}  // namespace

Ref<Node> record_function(std::string name, const TensorList& inputs,
                          const TensorList& outputs, BackwardFunction backward,
                          FunctionOptions options) {
  bool needed = false;
  for (const Tensor& input : inputs) { needed |= input.defined() && requires_grad(input); }
  TensorList written;
  for (const Tensor& output : outputs) {
    if (output.defined() && contains(inputs, output)) written.push_back(output);
  }
  Ref<RecordedFunction> node;
  if (grad_enabled()) {
    for (const Tensor& tensor : written) {
      detail::check_no_bare_view_written(name, tensor);
      if (!needed) continue;
      prepare_in_place(name, tensor);
      check_recordable(name, tensor);
    }
    if (needed) {
      node = Ref<RecordedFunction>::make(std::move(name), inputs, outputs,
                                         std::move(backward), std::move(options));
    }
  }
  // The node has the history from before; other tensors over this memory check again,
  // also when the write itself did not count.
  for (const Tensor& tensor : written) tensor.bump_version();
  if (node) node->become_history(inputs, outputs);
  return node;
}

}  // namespace pkg

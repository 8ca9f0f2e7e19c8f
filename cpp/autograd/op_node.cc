// SPDX-License-Identifier: Apache-2.0
// autograd/op_node.cc: saving for, and running, the gradient formula of an op.
#include "autograd/op_node.h"

#include "dispatcher/dispatcher.h"
#include "ops/functions.h"
#include "ops/op.h"

namespace pkg {

namespace {

// `copy` with the history that `tensor` has now.
Tensor with_history_of(const Tensor& tensor, Tensor copy) {
  if (!tensor.requires_grad()) return copy;
  const Edge edge = gradient_edge(tensor);
  set_history(copy, edge.node, edge.input_nr);
  return copy;
}

// The values that are about to be overwritten, with the history they have until then.
Tensor copy_before_write(const Tensor& tensor) {
  ExcludeKeys off(DispatchKey::Autograd);
  return with_history_of(tensor, ops::clone(tensor));
}

// Whose history describes the memory.
const TensorImpl* owner_of(const Tensor& tensor) {
  const TensorImpl* impl = tensor.impl();
  return impl->base ? impl->base.get() : impl;
}

// Of an op that writes.  The tensor whose history this node becomes must not be owned by
// it, nor a view, which owns its base: neither would ever be freed.
Tensor saved_argument(const Tensor& tensor, const Tensor& written) {
  if (tensor.is_same(written)) return copy_before_write(written);
  if (owner_of(tensor) != owner_of(written)) return tensor;
  return with_history_of(tensor, share(tensor));
}

// What the record's formulas give, in the order of the tensor arguments.
TensorList gradients(const GradContext& context) {
  const Operator& op = *context.op;
  if (op.gradient.formula) return op.gradient.formula(context);
  TensorList grads;
  for (const Derivative& d : op.gradient.derivatives) {
    if (!context.needs(d.argument)) continue;
    if (grads.size() <= d.tensor) grads.resize(d.tensor + size_t{1});
    Tensor& grad = grads[d.tensor];
    grad = d.evaluate(context, d.inputs.data());
    if (op.pointwise && grad.defined()) grad = ops::sum_to(grad, context.shape(d.argument));
  }
  return grads;
}

// What comes of differentiating a gradient again that depends on no input of the call.
class ZeroSecond final : public Node {
 public:
  ZeroSecond(std::string name, const EdgeList& edges, std::vector<Spec> specs)
      : name_(std::move(name)), specs_(std::move(specs)) {
    for (const Edge& edge : edges) edges_.push_back(edge);
  }
  std::string name() const override { return name_; }
  const Spec* input_spec(size_t edge) const override { return &specs_[edge]; }
  // Its outputs are the gradients of all inputs, each with a shape of its own.
  size_t n_outputs() const override { return edges_.size(); }
  TensorList apply(TensorList) override {
    TensorList zeros(edges_.size());
    for (size_t i = 0; i < zeros.size(); ++i) {
      if (edges_[i].node) zeros[i] = ops::full_like(empty(specs_[i]), 0);
    }
    return zeros;
  }

 private:
  ~ZeroSecond() override = default;
  std::string name_;
  std::vector<Spec> specs_;  // one an edge
};

}  // namespace

OpNode::OpNode(const Operator& op, std::span<const Value> args) : op_(op) {
  const Gradient& gradient = op.definition().gradient;
  const Tensor* written = op.in_place() ? std::get_if<Tensor>(&args[0]) : nullptr;
  args_.reserve(uint32_t(args.size()));
  for (size_t i = 0; i < args.size(); ++i) {
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      if (tensor.requires_grad()) wanting_ |= uint64_t{1} << i;
    });
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Value& value = args[i];
    const bool tensors = op.schema.arguments[i].type == ArgType::Tensor;
    if (!tensors) {  // plain values cost nothing to keep
      specs_.emplace_back();
      args_.push_back(value);
      continue;
    }
    if (auto* list = std::get_if<TensorList>(&value)) {
      for (const Tensor& tensor : *list) add_tensor(tensor);
    } else {
      add_tensor(Unbox<Tensor>::from(value));
    }
    if (i >= gradient.saved_for.size() || !(gradient.saved_for[i] & wanting_)) {
      args_.emplace_back();
      continue;
    }
    const Tensor* tensor = std::get_if<Tensor>(&value);
    if (written && tensor) args_.push_back(saved_argument(*tensor, *written));
    else args_.push_back(value);
    for_each_tensor(args_.back(), [this](const Tensor& saved) {
      versions_.push_back(saved.version());
      keeps_ = true;
    });
  }
}

void OpNode::add_tensor(const Tensor& tensor) {
  const uint32_t slot = specs_.size();
  if (tensor.defined() && tensor.requires_grad()) {
    needs_mask_ |= GradContext::needs_bit(slot);
  }
  slots_.push_back(slot);
  edges_.push_back(gradient_edge(tensor));
  if (tensor.defined()) specs_.emplace_back(tensor.spec());
  else specs_.emplace_back();
}

std::string OpNode::name() const {
  std::string text;
  bool first = true;  // of a word: "_strided_view" is "StridedViewBackward"
  for (const char c : op_.definition().schema.name) {
    if (c != '_') text += first ? char(std::toupper(c)) : c;
    first = c == '_';
  }
  return text + "Backward";
}

void OpNode::set_results(const Stack& stack) {
  const auto& results_for = op_.definition().gradient.results_for;
  uint32_t number = 0;
  const auto self = Ref<Node>::share(this);
  for (int i = 0; i < stack.n_results; ++i) {
    const bool keep = results_for[size_t(i)] & wanting_;
    for_each_tensor(stack.results[size_t(i)], [&](const Tensor& tensor) {
      if (keep) {
        // Without history: the result owns this node, not the other way round.
        while (results_.size() < number) results_.emplace_back();
        results_.push_back(share(tensor));
        versions_.push_back(tensor.version());
        keeps_ = true;
      }
      if (is_floating(tensor.dtype())) set_history(tensor, self, number);
      ++number;
    });
  }
  n_outputs_ = std::max<uint32_t>(number, 1);
}

void OpNode::check_versions() const {
  size_t next = 0;
  for (const Value& value : args_) {
    for_each_tensor(value, [&](const Tensor& saved) {
      const uint32_t expected = versions_[next++];
      if (saved.version() != expected) raise_changed(saved, expected);
    });
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    if (!results_[i].defined()) continue;
    const uint32_t expected = versions_[next++];
    if (results_[i].version() != expected) {
      raise_changed(results_[i], expected, int64_t(i));
    }
  }
}

void OpNode::begin_reading() {
  if (!reading_.begin([this] { clear(); })) raise_released();
}

TensorList OpNode::apply(TensorList grads) {
  begin_reading();
  const EndReading end(reading_, [this] { clear(); });
  return run(grads);
}

TensorList OpNode::apply_and_release(TensorList grads) {
  if (!keeps_) return run(grads);  // another pass may come, as in PyTorch
  begin_reading();
  try {
    TensorList result = run(grads);
    reading_.end_and_release([this] { clear(); });
    return result;
  } catch (...) {
    reading_.end([this] { clear(); });
    throw;
  }
}

// For double backward, which goes through the results' own history.
TensorList OpNode::historic_results() {
  TensorList historic;
  for (const Tensor& result : results_) {
    const auto number = uint32_t(historic.size());
    historic.push_back(result.defined() ? share(result) : result);
    if (!result.defined() || !is_floating(result.dtype())) continue;
    set_history(historic.back(), Ref<Node>::share(this), number);
  }
  return historic;
}

// See Gradient::second_is_zero.
void OpNode::add_zero_second(TensorList& grads) {
  Ref<Node> node;
  for (size_t i = 0; i < grads.size(); ++i) {
    Tensor& grad = grads[i];
    if (!grad.defined() || grad.requires_grad()) continue;
    if (!node) {
      std::vector<Spec> specs;
      for (const uint32_t slot : slots_) specs.push_back(specs_[slot]);
      node = Ref<ZeroSecond>::make(name() + "Backward", edges_, std::move(specs));
    }
    grad = share(grad);  // it may be the user's
    set_history(grad, node, uint32_t(i));
  }
}

TensorList OpNode::run(TensorList& grads) {
  check_versions();
  TensorList historic;
  std::span<const Tensor> results(results_.data(), results_.size());
  if (grad_enabled()) {
    historic = historic_results();
    results = historic;
  }
  GradContext context{grads,
                      {args_.data(), args_.size()},
                      results,
                      {specs_.data(), specs_.size()},
                      needs_mask_,
                      &op_.definition()};
  TensorList out = gradients(context);
  PKG_CHECK(out.size() <= edges_.size(), RuntimeError, name(),
            " returned an incorrect number of gradients (expected ", edges_.size(),
            ", got ", out.size(), ")");
  out.resize(edges_.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (!edges_[i].node || !out[i].defined()) {
      out[i] = Tensor();
      continue;
    }
    const Spec& want = specs_[slots_[i]];
    PKG_CHECK(out[i].sizes() == want.sizes, RuntimeError, name(),
              " returned an invalid gradient at index ", i, " - got ", out[i].sizes(),
              " but expected shape compatible with ", want.sizes);
    if (out[i].dtype() != want.dtype) out[i] = ops::to_dtype(out[i], want.dtype);
  }
  if (op_.definition().gradient.second_is_zero && grad_enabled()) add_zero_second(out);
  return out;
}

void OpNode::release_saved() {
  if (keeps_) reading_.release([this] { clear(); });
}

void OpNode::clear() {
  args_.clear();
  results_.clear();
  versions_.clear();
}

void OpNode::for_each_saved(
    FunctionRef<void(const std::string& name, const Tensor&)> f) const {
  const auto clear = [this] { const_cast<OpNode*>(this)->clear(); };
  if (!reading_.begin(clear)) return;
  const EndReading end(reading_, clear);
  for (size_t i = 0; i < args_.size(); ++i) {
    for_each_tensor(args_[i], [&](const Tensor& tensor) {
      f(op_.schema.arguments[i].name, tensor);
    });
  }
  for (const Tensor& result : results_) {
    if (result.defined()) f("result", result);
  }
}

}  // namespace pkg

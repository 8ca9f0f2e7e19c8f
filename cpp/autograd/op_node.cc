// SPDX-License-Identifier: Apache-2.0
// autograd/op_node.cc: saving for, and running, the gradient formula of an op.
#include "autograd/op_node.h"

#include "dispatcher/dispatcher.h"
#include "ops/functions.h"

namespace pkg {

namespace {

// The values that are about to be overwritten, with the history they have until then.
Tensor copy_before_write(const Tensor& tensor) {
  ExcludeKeys off(DispatchKey::Autograd);
  const Tensor copy = ops::clone(tensor);
  if (!tensor.requires_grad()) return copy;
  const Edge edge = gradient_edge(tensor);
  set_history(copy, edge.node, edge.input_nr);
  return copy;
}

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
    if (written && tensor && tensor->is_same(*written)) {
      args_.emplace_back(copy_before_write(*written));
    } else {
      args_.push_back(value);
    }
    for_each_tensor(args_.back(), [this](const Tensor& saved) { save(saved); });
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

void OpNode::save(const Tensor& tensor) {
  versions_.push_back({&tensor.storage(), tensor.version()});
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
  const bool keep = op_.definition().gradient.results_for & wanting_;
  uint32_t number = 0;
  const auto self = Ref<Node>::share(this);
  for (int i = 0; i < stack.n_results; ++i) {
    for_each_tensor(stack.results[size_t(i)], [&](const Tensor& tensor) {
      if (keep) {
        // Without history: the result owns this node, not the other way round.
        results_.push_back(share(tensor));
        save(tensor);
      }
      if (is_floating(tensor.dtype())) set_history(tensor, self, number);
      ++number;
    });
  }
  n_outputs_ = std::max<uint32_t>(number, 1);
}

void OpNode::check_versions() const {
  for (size_t i = 0; i < versions_.size(); ++i) {
    if (versions_[i].storage->version() != versions_[i].expected) report_changed(i);
  }
}

// Tensors were saved in the order of the arguments, then of the results.
void OpNode::report_changed(size_t index) const {
  const uint32_t expected = versions_[index].expected;
  for (const Value& value : args_) {
    for_each_tensor(value, [&](const Tensor& saved) {
      if (index-- == 0) raise_changed(saved, expected);
    });
  }
  raise_changed(results_[index], expected, int64_t(index));
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

TensorList OpNode::run(TensorList& grads) {
  check_versions();
  TensorList historic;
  std::span<const Tensor> results(results_.data(), results_.size());
  if (grad_enabled()) {  // double backward goes through the results' own history
    for (const Tensor& result : results_) {
      historic.push_back(share(result));
      const auto number = uint32_t(historic.size() - 1);
      set_history(historic.back(), Ref<Node>::share(this), number);
    }
    results = historic;
  }
  GradContext context{grads,
                      {args_.data(), args_.size()},
                      results,
                      {specs_.data(), specs_.size()},
                      needs_mask_,
                      &op_.definition()};
  TensorList out = op_.definition().gradient.formula(context);
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
  return out;
}

void OpNode::release_saved() {
  reading_.release([this] { clear(); });
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
  for (const Tensor& result : results_) f("result", result);
}

}  // namespace pkg

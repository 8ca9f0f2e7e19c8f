// SPDX-License-Identifier: Apache-2.0
// autograd/op_node.cc: saving for, and running, the gradient formula of an op.
#include "autograd/op_node.h"

#include "dispatcher/dispatcher.h"
#include "ops/functions.h"
#include "ops/op.h"

namespace pkg {

namespace {

// Gives `copy` the history that `tensor` has now.
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

// Whether the results whose gradients a formula names have one.  It must be all or none:
// a formula cannot check each of them.
bool has_gradients(const GradContext& context, const Derivative& d) {
  int taken = 1, there = context.grad().defined();
  for (const GradInput& input : d.inputs) {
    if (input.kind != GradInput::Grad) continue;
    ++taken;
    there += context.grad(input.index).defined();
  }
  PKG_CHECK(there == 0 || there == taken, NotImplementedError, "[", context.op->schema.name,
            "] expected gradients of all results that its .derivative takes, got ", there,
            " of ", taken, ". Hint: .grad(...) can tell which are defined.");
  return there > 0;
}

// What the record's formulas give, in the order of the tensor arguments.
TensorList gradients(const GradContext& context) {
  const Operator& op = *context.op;
  if (const auto function = op.gradient.function.load(std::memory_order_acquire)) {
    return function(context);
  }
  PKG_CHECK(op.gradient.defined(), RuntimeError, "[", op.schema.name,
            "] lost its gradient: the library that gave it failed to load.");
  TensorList grads;
  for (const Derivative& d : op.gradient.derivatives) {
    if (!context.needs(d.argument)) continue;
    if (grads.size() <= d.tensor) grads.resize(d.tensor + size_t{1});
    if (!has_gradients(context, d)) continue;
    Tensor& grad = grads[d.tensor];
    grad = d.evaluate(context, d);
    if (op.pointwise && grad.defined()) grad = ops::sum_to(grad, context.shape(d.argument));
  }
  return grads;
}

// What a second derivative gives for a gradient that depends on no input of the call.
class ZeroSecond final : public Node {
 public:
  ZeroSecond(std::string name, const EdgeList& edges, std::vector<Spec> specs)
      : name_(std::move(name)), specs_(std::move(specs)) {
    for (const Edge& edge : edges) edges_.push_back(edge);
  }
  std::string name() const override { return name_; }
  std::optional<Spec> input_spec(size_t edge) const override { return specs_[edge]; }
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
  static_assert(sizeof(OpNode) <= 256, "a graph has millions of them");
  const Gradient& gradient = op.definition().gradient;
  const Tensor* written = op.in_place() ? std::get_if<Tensor>(&args[0]) : nullptr;
  uint32_t tensors = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (op.schema.arguments[i].type != ArgType::Tensor) continue;
    const auto* list = std::get_if<TensorList>(&args[i]);
    tensors += list ? uint32_t(list->size()) : 1;
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      if (tensor.requires_grad()) wanting_ |= uint16_t(1u << i);
    });
  }
  edges_.reserve(tensors);
  for (size_t i = 0; i < args.size(); ++i) {
    const Value& value = args[i];
    if (op.schema.arguments[i].type != ArgType::Tensor) {
      if (!call_.add_value(value)) keep_other(i, value);
      continue;
    }
    const bool saves = gradient.saves.arguments[i] & wanting_;
    if (const auto* list = std::get_if<TensorList>(&value)) {
      for (const Tensor& tensor : *list) keep_tensor(tensor);
      if (saves) keep_other(i, value);
      continue;
    }
    const Tensor& tensor = Unbox<Tensor>::from(value);
    if (saves && tensor.defined() && call_.add_number(tensor, i)) {
      edges_.push_back({});
      keeps_ = true;  // as if it were a tensor: the graph may be used once
      continue;
    }
    keep_tensor(tensor);
    if (!saves || !tensor.defined()) continue;
    save(written ? saved_argument(tensor, *written) : tensor, i, false);
  }
}

void OpNode::keep_tensor(const Tensor& tensor) {
  edges_.push_back(gradient_edge(tensor));
  call_.add_tensor(tensor);
}

void OpNode::keep_other(size_t place, const Value& value) {
  std::unique_ptr<Other>* end = &others_;
  while (*end) end = &(*end)->next;
  *end = std::make_unique<Other>();
  Other& other = **end;
  other.value = value;
  other.place = place;
  for_each_tensor(value, [&](const Tensor& tensor) {
    other.versions.push_back(tensor.version());
    keeps_ = true;
  });
}

void OpNode::save(const Tensor& tensor, size_t place, bool result) {
  saved_.push_back({tensor, tensor.version(), uint16_t(place), result});
  keeps_ = true;
}

// What the formula gets to see.
struct OpNode::Call {
  SmallVector<Value, 4> args;
  SmallVector<Spec, 4> specs;      // one a slot
  SmallVector<uint32_t, 4> slots;  // of each edge
  SmallVector<Tensor, 2> results;
};

void OpNode::recall(Call& call) const {
  const auto& arguments = op_.schema.arguments;
  for (size_t i = 0; i < arguments.size(); ++i) call.args.emplace_back();
  size_t place = 0;
  call_.for_each([&](CallWords::Entry entry) {
    if (!entry.tensor) {
      // The argument that this slot is: those before it that are tensors have none here.
      while (arguments[place].type == ArgType::Tensor) ++place;
      call.args[place++] = std::move(entry.value);
    } else {
      if (!is_none(entry.value)) call.args[entry.place] = entry.number();
      call.slots.push_back(call.specs.size());
    }
    call.specs.push_back(std::move(entry.spec));
  });
  for (const Saved& saved : saved_) {
    if (!saved.result) {
      call.args[saved.place] = saved.tensor;
      continue;
    }
    while (call.results.size() < saved.place) call.results.emplace_back();
    call.results.push_back(saved.tensor);
  }
  for (const Other* other = others_.get(); other; other = other->next.get()) {
    call.args[other->place] = other->value;
  }
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
  const auto& results_for = op_.definition().gradient.saves.results;
  uint32_t number = 0;
  const auto self = Ref<Node>::share(this);
  size_t place = 0;
  for (const Value& result : stack.results) {
    const bool keep = results_for[place++] & wanting_;
    for_each_tensor(result, [&](const Tensor& tensor) {
      if (keep) {
        // Without history: the result owns this node, not the other way round.
        save(share(tensor), number, true);
      }
      if (is_floating(tensor.dtype())) set_history(tensor, self, number);
      ++number;
    });
  }
  n_outputs_ = std::max<uint32_t>(number, 1);
}

void OpNode::check_versions() const {
  for (const Saved& saved : saved_) {
    if (saved.tensor.version() == saved.version) continue;
    raise_changed(saved.tensor, saved.version, saved.result ? saved.place : -1);
  }
  for (const Other* other = others_.get(); other; other = other->next.get()) {
    size_t next = 0;
    for_each_tensor(other->value, [&](const Tensor& tensor) {
      const uint32_t expected = other->versions[next++];
      if (tensor.version() != expected) raise_changed(tensor, expected);
    });
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
  if (!keeps_) return run(grads);  // the graph may be used again, as in PyTorch
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
void OpNode::give_history(std::span<Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    results[i] = share(results[i]);
    if (!is_floating(results[i].dtype())) continue;
    set_history(results[i], Ref<Node>::share(this), uint32_t(i));
  }
}

// See Gradient::second_is_zero.
void OpNode::add_zero_second(TensorList& grads, const Call& call) {
  Ref<Node> node;
  for (size_t i = 0; i < grads.size(); ++i) {
    Tensor& grad = grads[i];
    if (!grad.defined() || grad.requires_grad()) continue;
    if (!node) {
      std::vector<Spec> specs;
      for (const uint32_t slot : call.slots) specs.push_back(call.specs[slot]);
      node = Ref<ZeroSecond>::make(name() + "Backward", edges_, std::move(specs));
    }
    grad = share(grad);  // it may be the user's
    set_history(grad, node, uint32_t(i));
  }
}

TensorList OpNode::run(TensorList& grads) {
  check_versions();
  Call call;
  recall(call);
  if (grad_enabled()) give_history({call.results.data(), call.results.size()});
  uint64_t needs_mask = 0;
  for (size_t i = 0; i < edges_.size(); ++i) {
    if (edges_[i].node) needs_mask |= GradContext::needs_bit(call.slots[i]);
  }
  GradContext context{grads,
                      {call.args.data(), call.args.size()},
                      {call.results.data(), call.results.size()},
                      {call.specs.data(), call.specs.size()},
                      needs_mask,
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
    const Spec& want = call.specs[call.slots[i]];
    PKG_CHECK(out[i].sizes() == want.sizes, RuntimeError, name(),
              " returned an invalid gradient at index ", i, " - got ", out[i].sizes(),
              " but expected shape compatible with ", want.sizes);
    if (out[i].dtype() != want.dtype) out[i] = ops::to_dtype(out[i], want.dtype);
  }
  if (op_.definition().gradient.second_is_zero && grad_enabled()) {
    add_zero_second(out, call);
  }
  return out;
}

void OpNode::release_saved() {
  if (keeps_) reading_.release([this] { clear(); });
}

void OpNode::clear() {
  saved_.clear();
  others_.reset();
}

void OpNode::for_each_saved(
    FunctionRef<void(const std::string& name, const Tensor&)> f) const {
  const auto clear = [this] { const_cast<OpNode*>(this)->clear(); };
  if (!reading_.begin(clear)) return;
  const EndReading end(reading_, clear);
  Call call;
  recall(call);
  for (size_t i = 0; i < call.args.size(); ++i) {
    for_each_tensor(call.args[i],
                    [&](const Tensor& tensor) { f(op_.schema.arguments[i].name, tensor); });
  }
  for (const Tensor& result : call.results) {
    if (result.defined()) f("result", result);
  }
}

}  // namespace pkg

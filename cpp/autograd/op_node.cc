// SPDX-License-Identifier: Apache-2.0
// autograd/op_node.cc: saving for, and running, the gradient formula of an op.
#include "autograd/op_node.h"

#include "dispatcher/dispatcher.h"
#include "ops/functions.h"

namespace pkg {

OpNode::OpNode(const Operator& op, std::span<const Value> args) : op_(op) {
  const Gradient& gradient = op.definition().gradient;
  args_.resize(args.size());
  specs_.reserve(args.size());
  const auto add_tensor = [this](const Tensor& tensor) {
    if (tensor.defined() && tensor.requires_grad()) {
      needs_mask_ |= uint64_t{1} << specs_.size();
    }
    slots_.push_back(uint32_t(specs_.size()));
    edges_.push_back(gradient_edge(tensor));
    specs_.push_back(tensor.defined() ? tensor.spec() : Spec());
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const Value& value = args[i];
    const ArgType type = op.schema.arguments[i].type;
    const bool wanted = gradient.saved_args >> i & 1;
    if (auto* list = std::get_if<TensorList>(&value)) {
      for (const Tensor& tensor : *list) add_tensor(tensor);
    } else if (type == ArgType::Tensor) {
      add_tensor(Unbox<Tensor>::from(value));
    } else {
      specs_.push_back({});
    }
    // Plain values cost nothing to keep; tensors only when the formula asked.
    if (type != ArgType::Tensor || wanted) args_[i] = value;
    if (type != ArgType::Tensor || !wanted) continue;
    if (op.in_place() && i == 0) {
      // The values are about to be overwritten.
      ExcludeKeys off(DispatchKey::Autograd);
      args_[0] = ops::clone(std::get<Tensor>(value));
    }
    for_each_tensor(args_[i], [this](const Tensor& tensor) { save(tensor); });
  }
}

void OpNode::save(const Tensor& tensor) {
  versions_.push_back({&tensor.storage(), tensor.version()});
}

std::string OpNode::name() const {
  std::string text = op_.definition().schema.name;
  if (text[0] == '_') text.erase(0, 1);
  text[0] = char(std::toupper(text[0]));
  return text + "Backward";
}

void OpNode::set_results(const Stack& stack) {
  const bool keep = op_.definition().gradient.saves_results;
  uint32_t number = 0;
  const auto self = Ref<Node>::share(this);
  for (int i = 0; i < stack.n_results; ++i) {
    for_each_tensor(stack.results[size_t(i)], [&](const Tensor& tensor) {
      if (keep) {
        // Without history: the result owns this node, not the other way round.
        results_.push_back(
            alias(tensor, tensor.sizes(), tensor.strides(), tensor.offset()));
        save(tensor);
      }
      if (is_floating(tensor.dtype())) set_history(tensor, self, number);
      ++number;
    });
  }
  n_outputs_ = std::max<uint32_t>(number, 1);
}

void OpNode::check_versions() const {
  for (const Version& v : versions_) {
    PKG_CHECK(v.storage->version() == v.expected, RuntimeError,
              "one of the variables needed for gradient computation has been modified by "
              "an inplace operation: a tensor saved by ", name(), " is at version ",
              v.storage->version(), "; expected version ", v.expected,
              " instead. Clone it before modifying it.");
  }
}

TensorList OpNode::apply(TensorList grads) {
  PKG_CHECK(!released_, RuntimeError, "Trying to backward through the graph a second time "
            "(or directly access saved tensors after they have already been freed), at ",
            name(), ". Specify retain_graph=True if you need to backward through the graph "
            "a second time.");
  check_versions();
  std::vector<Tensor> results = results_;
  if (grad_enabled()) {  // double backward goes through the results' own history
    for (size_t i = 0; i < results.size(); ++i) {
      results[i] = alias(results[i], results[i].sizes(), results[i].strides(),
                         results[i].offset());
      set_history(results[i], Ref<Node>::share(this), uint32_t(i));
    }
  }
  GradContext context{grads, args_, results, specs_, needs_mask_, &op_.definition()};
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
  released_ = true;
  args_.clear();
  results_.clear();
  versions_.clear();
}

}  // namespace pkg

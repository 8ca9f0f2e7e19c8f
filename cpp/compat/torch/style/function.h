// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/function.h: torch::autograd::Function: a forward and a backward of one's
// own, over autograd/function.h.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "autograd/function.h"
#include "compat/torch/style/functions.h"
#include "compat/torch/style/ivalue.h"
#include "compat/torch/style/keys.h"

namespace torch::autograd {

using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using tensor_list = std::vector<at::Tensor>;

/// What forward hands to backward.
class AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  /// Keeps inputs or outputs; an undefined one stands for nothing.
  void save_for_backward(variable_list tensors) { to_save_ = std::move(tensors); }
  /// What was saved; RuntimeError where one was changed in place since.
  variable_list get_saved_variables() const {
    ::pkg::FunctionNode* node = running();
    return node ? at::detail::wrap(node->saved_tensors()) : to_save_;
  }
  /// Inputs that forward has changed in place; it returns them.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  void mark_non_differentiable(const variable_list& outputs) { constant_ = outputs; }
  void set_materialize_grads(bool wanted) { materialize_ = wanted; }
  /// Whether the gradient of this argument of forward, a tensor, is wanted.
  bool needs_input_grad(size_t tensor) const {
    if (::pkg::FunctionNode* node = running()) return node->needs_input_grad(tensor);
    return tensor < needs_.size() && needs_[tensor];
  }

  /// Other values.
  std::unordered_map<std::string, c10::IValue> saved_data;

 private:
  template <class T>
  friend class Function;
  friend class Running;

  // The node of the pass that this thread is in: several passes may share a context.
  ::pkg::FunctionNode* running() const {
    for (auto at = passes().rbegin(); at != passes().rend(); ++at) {
      if (at->first == this) return at->second;
    }
    return nullptr;
  }
  using Passes = std::vector<std::pair<const AutogradContext*, ::pkg::FunctionNode*>>;
  static Passes& passes() {
    static thread_local Passes running;
    return running;
  }

  variable_list to_save_, dirty_, constant_;
  std::vector<bool> needs_;
  bool materialize_ = true;
};

/// A backward that runs, for its time.
class Running {
 public:
  Running(const AutogradContext& context, ::pkg::FunctionNode& node) {
    AutogradContext::passes().push_back({&context, &node});
  }
  ~Running() { AutogradContext::passes().pop_back(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

/// Base of T, which has
///
///   static R forward(AutogradContext* ctx, arguments...)     R: a tensor or variable_list
///   static variable_list backward(AutogradContext* ctx, variable_list gradients)
///
/// apply() takes the arguments of forward; backward gives one gradient for each of them, an
/// undefined one for what has none.
template <class T>
class Function {
 public:
  template <class X = T, class... Given>
  static auto apply(Given&&... given) {
    auto context = std::make_shared<AutogradContext>();
    // Which of the arguments each input is: a list is several.
    ::pkg::TensorList inputs;
    std::vector<int64_t> input_of;
    (collect(given, inputs, input_of), ...);
    for (const ::pkg::Tensor& input : inputs) {
      context->needs_.push_back(input.defined() && input.requires_grad());
    }
    auto result = [&] {
      at::AutoGradMode off(false);
      return X::forward(context.get(), std::forward<Given>(given)...);
    }();
    if constexpr (std::is_same_v<decltype(result), at::Tensor>) {
      variable_list outputs{std::move(result)};
      record<X>(context, inputs, input_of, outputs);
      return outputs[0];
    } else {
      static_assert(std::is_same_v<decltype(result), variable_list>,
                    "forward returns at::Tensor or variable_list");
      record<X>(context, inputs, input_of, result);
      return result;
    }
  }

 private:
  // -1 for an argument that is no tensor.
  template <class A>
  static void collect(const A& argument, ::pkg::TensorList& inputs,
                      std::vector<int64_t>& input_of) {
    if constexpr (std::is_same_v<A, at::Tensor>) {
      input_of.push_back(int64_t(inputs.size()));
      inputs.push_back(argument.unwrap());
    } else if constexpr (std::is_same_v<A, std::optional<at::Tensor>>) {
      collect(argument.value_or(at::Tensor()), inputs, input_of);
    } else if constexpr (std::is_convertible_v<const A&, at::TensorList>) {
      for (const at::Tensor& tensor : at::TensorList(argument)) {
        collect(tensor, inputs, input_of);
      }
    } else {
      input_of.push_back(-1);
    }
  }
  static bool contains(const variable_list& list, const at::Tensor& tensor) {
    return std::any_of(list.begin(), list.end(),
                       [&](const at::Tensor& other) { return other.is_same(tensor); });
  }

  template <class X>
  static void record(const std::shared_ptr<AutogradContext>& context,
                     const ::pkg::TensorList& inputs, std::vector<int64_t> input_of,
                     variable_list& outputs) {
    ::pkg::FunctionOptions options;
    options.materialize_grads = context->materialize_;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (contains(context->constant_, outputs[i])) options.non_differentiable.push_back(i);
    }
    const variable_list made = outputs;
    separate(*context, inputs, outputs);
    for (const at::Tensor& tensor : context->to_save_) {
      size_t i = 0;
      while (i < made.size() && !made[i].is_same(tensor)) ++i;
      // An output is saved as the caller gets it.
      options.saved.push_back((i < made.size() ? outputs[i] : tensor).unwrap());
    }
    context->to_save_.clear();
    context->dirty_.clear();
    context->constant_.clear();
    ::pkg::record_function(
        name(), inputs, at::detail::unwrap(outputs),
        [context, input_of = std::move(input_of)](const ::pkg::TensorList& grads,
                                                  ::pkg::FunctionNode& node) {
          const Running now(*context, node);
          return inputs_of(input_of, X::backward(context.get(), at::detail::wrap(grads)));
        },
        std::move(options));
  }

  // A recorded output shares memory with no input and no other output: a write to it would
  // give it the history of that memory, without backward.
  static void separate(const AutogradContext& context, const ::pkg::TensorList& inputs,
                       variable_list& outputs) {
    std::unordered_set<const ::pkg::Storage*> taken;
    for (const ::pkg::Tensor& input : inputs) {
      if (input.defined()) taken.insert(&input.storage());
    }
    for (at::Tensor& output : outputs) {
      if (!output.defined() || contains(context.dirty_, output)) continue;
      if (!taken.insert(&output.unwrap().storage()).second) {
        at::AutoGradMode off(false);
        output = output.detach().clone();
      }
    }
  }

  static ::pkg::TensorList inputs_of(const std::vector<int64_t>& input_of,
                                     const variable_list& grads) {
    const size_t n = input_of.size();
    size_t given = grads.size();
    while (given > n && !grads[given - 1].defined()) --given;
    TORCH_CHECK(given == n, "function ", name(),
                "Backward returned an incorrect number of gradients (expected ", n,
                ", got ", grads.size(), ")");
    ::pkg::TensorList list;
    for (size_t i = 0; i < n; ++i) {
      TORCH_CHECK(input_of[i] >= 0 || !grads[i].defined(), "function ", name(),
                  "Backward returned a gradient different from None at position ", i + 1,
                  ", but the corresponding forward input was not a Variable");
      if (input_of[i] >= 0) list.push_back(grads[i].unwrap());
    }
    return list;
  }

  // The class's own name, without namespaces.
  static std::string name() {
    std::string text = __PRETTY_FUNCTION__;
    const size_t begin = text.rfind("T = ") + 4;
    text = text.substr(begin, text.find_first_of(";]", begin) - begin);
    return text.substr(text.rfind(':') + 1);
  }
};

inline variable_list grad(const variable_list& outputs, const variable_list& inputs,
                          const variable_list& grad_outputs = {},
                          std::optional<bool> retain_graph = {}, bool create_graph = false,
                          bool allow_unused = false) {
  ::pkg::TensorList seeds = at::detail::unwrap(grad_outputs);
  seeds.resize(outputs.size());
  return at::detail::wrap(
      ::pkg::grad(at::detail::unwrap(outputs), at::detail::unwrap(inputs), seeds,
                  retain_graph.value_or(create_graph), create_graph, allow_unused));
}

}  // namespace torch::autograd

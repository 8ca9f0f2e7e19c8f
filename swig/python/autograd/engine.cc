// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/engine.cc: from the engine to Python's callables.
#include "engine.h"

#include "autograd/function.h"
#include "autograd/views.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {

HookHandle _register_hook(const Tensor& tensor, const PyCallable& hook) {
  return register_hook(tensor, [hook](const Tensor& grad) {
    using Replacement = std::optional<Tensor>;
    return call_as<Replacement>(hook, {"register_hook", "hook"}, grad).value_or(Tensor());
  });
}

HookHandle _register_accumulated_hook(const Tensor& leaf, const PyCallable& hook) {
  return register_accumulated_hook(leaf, [hook](const Tensor& grown) {
    call_as<void>(hook, {"register_post_accumulate_grad_hook", "hook"}, grown);
  });
}

std::optional<NodeObject> _record_function(
    const std::string& name, const MaybeTensors& inputs, const MaybeTensors& outputs,
    const PyCallable& backward, bool materialize_grads, const MaybeTensors& saved) {
  FunctionOptions options;
  options.materialize_grads = materialize_grads;
  options.saved = saved;
  const auto run = [backward](const TensorList& grads, Node& self) {
    using Gradients = std::optional<MaybeTensors>;
    const NodeObject node(Ref<Node>::share(&self));
    auto made = call_as<Gradients>(backward, {"Function", "backward"}, node, grads);
    return made ? TensorList(std::move(*made)) : TensorList{Tensor()};
  };
  Ref<Node> node = record_function(name, inputs, outputs, run, std::move(options));
  if (!node) return std::nullopt;
  return NodeObject(std::move(node));
}

TensorList _saved_tensors(const NodeObject& node) {
  return function_saved_tensors(*node.node());
}

PyObject* wrap_grad_fn(const Tensor& tensor) {
  requires_grad(tensor);  // of a view it may have changed
  return wrap_node(grad_fn(tensor));
}

}  // namespace pkg::python

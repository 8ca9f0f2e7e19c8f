// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/engine.cc: from the engine to Python's callables, and from nodes to
// Python's tuples.
#include "engine.h"

#include "autograd/function.h"
#include "autograd/views.h"

namespace pkg::python {

HookHandle add_hook(Node& node, HookKind kind, const PyCallable& hook) {
  return register_node_hook(
      node, kind, [hook, kind](const TensorList& grads, const TensorList& other) {
        using Made = std::optional<MaybeTensors>;
        const Argument where{"register_hook", "hook"};
        return kind == HookKind::Post ? call_as<Made>(hook, where, grads, other)
                                      : call_as<Made>(hook, where, grads);
      });
}

PyRef next_functions(const Node& node) {
  const auto& edges = node.edges();
  return PyRef(make_tuple(edges.size(), [&](size_t i) {
    return to_python(std::make_pair(edges[i].node, edges[i].input_nr));
  }));
}

PyRef input_shapes(const Node& node) {
  return PyRef(make_tuple(node.edges().size(), [&](size_t i) {
    const std::optional<Spec> spec = node.input_spec(i);
    return spec ? wrap_shape(spec->sizes) : new_ref(Py_None);
  }));
}

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

Ref<Node> _record_function(const std::string& name, const MaybeTensors& inputs,
                           const MaybeTensors& outputs, const PyCallable& backward,
                           bool materialize_grads, const MaybeTensors& saved) {
  FunctionOptions options;
  options.materialize_grads = materialize_grads;
  options.saved = saved;
  const auto run = [backward](const TensorList& grads, Node& self) {
    using Gradients = std::optional<MaybeTensors>;
    auto made = call_as<Gradients>(backward, {"Function", "backward"},
                                   Ref<Node>::share(&self), grads);
    return made ? TensorList(std::move(*made)) : TensorList{Tensor()};
  };
  return record_function(name, inputs, outputs, run, std::move(options));
}

PyObject* wrap_grad_fn(const Tensor& tensor) {
  requires_grad(tensor);  // of a view it may have changed
  return checked(to_python(grad_fn(tensor)));
}

}  // namespace pkg::python

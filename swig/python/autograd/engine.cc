// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/engine.cc: from Python's tensors to the engine, and from the engine
// to Python's callables.
#include "engine.h"

#include "autograd/engine.h"
#include "autograd/function.h"
#include "autograd/views.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {
namespace {

const Tensor& tensor_for(const char* what, PyObject* object) {
  expect(is_tensor(object), {what, "tensor"}, "a Tensor", object);
  return unwrap(object);
}
PyCallable hook_for(const char* what, PyObject* object) {
  expect(PyCallable_Check(object), {what, "hook"}, "a callable", object);
  return PyCallable(object);
}

// Gradients as Python returned them: a Tensor, or a sequence with None for no gradient.
TensorList gradients_of(PyObject* result) {
  if (is_tensor(result)) return {unwrap(result)};
  if (result == Py_None) return {Tensor()};
  return parse_tensors(Argument{"Function", "backward"}.result(), result);
}

}  // namespace

void _backward(PyObject* tensors, PyObject* gradients, bool retain_graph, bool create_graph,
               PyObject* inputs) {
  backward(parse_tensors({"backward", "tensors"}, tensors, false),
           parse_tensors({"backward", "gradients"}, gradients), retain_graph, create_graph,
           parse_tensors({"backward", "inputs"}, inputs, false));
}

PyRef _grad(PyObject* outputs, PyObject* inputs, PyObject* grad_outputs, bool retain_graph,
            bool create_graph, bool allow_unused) {
  return PyRef(wrap_list(grad(parse_tensors({"grad", "outputs"}, outputs, false),
                              parse_tensors({"grad", "inputs"}, inputs, false),
                              parse_tensors({"grad", "grad_outputs"}, grad_outputs),
                              retain_graph, create_graph, allow_unused)));
}

HookHandleObject _register_hook(PyObject* tensor, PyObject* hook) {
  const Tensor& of = tensor_for("register_hook", tensor);
  return register_hook(of, [hook = hook_for("register_hook", hook)](const Tensor& grad) {
    GilAcquire gil;
    const PyRef argument(wrap(grad));
    const PyRef result = hook(argument.get());
    if (result.get() == Py_None) return Tensor();
    const Argument where{"register_hook", "hook"};
    expect(is_tensor(result.get()), where.result(), "a Tensor or None", result.get());
    return unwrap(result.get());
  });
}

HookHandleObject _register_accumulated_hook(PyObject* leaf, PyObject* hook) {
  const char* what = "register_post_accumulate_grad_hook";
  const Tensor& of = tensor_for(what, leaf);
  return register_accumulated_hook(of, [hook = hook_for(what, hook)](const Tensor& grown) {
    GilAcquire gil;
    const PyRef argument(wrap(grown));
    hook(argument.get());
  });
}

void _retain_grad(PyObject* tensor) { retain_grad(tensor_for("retain_grad", tensor)); }

std::optional<NodeObject> _record_function(const std::string& name, PyObject* inputs,
                                           PyObject* outputs, const PyCallable& backward,
                                           bool materialize_grads, PyObject* saved) {
  const TensorList ins = parse_tensors({"Function", "inputs"}, inputs);
  FunctionOptions options;
  options.materialize_grads = materialize_grads;
  options.saved = parse_tensors({"Function", "saved"}, saved);
  Ref<Node> node = record_function(
      name, ins, parse_tensors({"Function", "outputs"}, outputs),
      [run = backward](const TensorList& grads, Node& self) {
        GilAcquire gil;
        const PyRef node(wrap_node(Ref<Node>::share(&self))), tuple(wrap_list(grads));
        return gradients_of(run(node.get(), tuple.get()).get());
      },
      std::move(options));
  if (!node) return std::nullopt;
  return NodeObject(std::move(node));
}

PyRef _saved_tensors(const NodeObject& node) {
  auto* function = dynamic_cast<FunctionNode*>(node.node().get());
  PKG_CHECK(function, TypeError,
            "[_saved_tensors] expected the Node of a Function for 'node', got that of ",
            node.name());
  return PyRef(wrap_list(function->saved_tensors()));
}

PyObject* wrap_grad_fn(const Tensor& tensor) {
  requires_grad(tensor);  // of a view it may have changed
  return wrap_node(grad_fn(tensor));
}

}  // namespace pkg::python

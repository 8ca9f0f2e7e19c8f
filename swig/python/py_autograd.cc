// SPDX-License-Identifier: Apache-2.0
// swig/python/py_autograd.cc: the engine's two doors, hooks of tensors and functions with
// a backward in Python.  pkg/autograd/ is their only caller.
#include "autograd/engine.h"
#include "autograd/function.h"
#include "autograd/views.h"
#include "base/thread_local.h"
#include "py_node.h"
#include "swigkit/callable.h"

namespace pkg::python {
namespace {

PyObject* backward_fn(PyObject*, PyObject* args) {
  PyObject *outputs, *grads, *inputs;
  int retain, create;
  if (!PyArg_ParseTuple(args, "OOppO:_backward", &outputs, &grads, &retain, &create,
                        &inputs)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    backward(parse_tensors({"backward", "tensors"}, outputs, false),
             parse_tensors({"backward", "gradients"}, grads), retain, create,
             parse_tensors({"backward", "inputs"}, inputs, false));
    Py_RETURN_NONE;
  });
}
PyObject* grad_function(PyObject*, PyObject* args) {
  PyObject *outputs, *inputs, *grads;
  int retain, create, unused;
  if (!PyArg_ParseTuple(args, "OOOppp:_grad", &outputs, &inputs, &grads, &retain, &create,
                        &unused)) {
    return nullptr;
  }
  return guarded([&] {
    return wrap_list(grad(parse_tensors({"grad", "outputs"}, outputs, false),
                          parse_tensors({"grad", "inputs"}, inputs, false),
                          parse_tensors({"grad", "grad_outputs"}, grads), retain, create,
                          unused));
  });
}

// (tensor, callable) of a hook registration.
std::pair<Tensor, PyCallable> hook_arguments(const char* what, PyObject* args) {
  PyObject *tensor, *callable;
  if (!PyArg_UnpackTuple(args, what, 2, 2, &tensor, &callable)) throw_python_error();
  expect(is_tensor(tensor), {what, "tensor"}, "a Tensor", tensor);
  expect(PyCallable_Check(callable), {what, "hook"}, "a callable", callable);
  return {unwrap(tensor), PyCallable(callable)};
}
PyObject* register_hook_fn(PyObject*, PyObject* args) {
  return guarded([&] {
    auto [tensor, callable] = hook_arguments("register_hook", args);
    return wrap_hook(register_hook(tensor, [hook = callable](const Tensor& grad) {
      GilAcquire gil;
      const PyRef argument(wrap(grad));
      const PyRef result = hook(argument.get());
      if (result.get() == Py_None) return Tensor();
      const Argument where{"register_hook", "hook"};
      expect(is_tensor(result.get()), where.result(), "a Tensor or None", result.get());
      return unwrap(result.get());
    }));
  });
}
PyObject* register_accumulated_hook_fn(PyObject*, PyObject* args) {
  return guarded([&] {
    auto [tensor, callable] = hook_arguments("register_post_accumulate_grad_hook", args);
    return wrap_hook(register_accumulated_hook(tensor, [hook = callable](const Tensor& t) {
      GilAcquire gil;
      const PyRef argument(wrap(t));
      hook(argument.get());
    }));
  });
}
PyObject* retain_grad_fn(PyObject*, PyObject* tensor) {
  return guarded([&]() -> PyObject* {
    expect(is_tensor(tensor), {"retain_grad", "tensor"}, "a Tensor", tensor);
    retain_grad(unwrap(tensor));
    Py_RETURN_NONE;
  });
}

// Gradients as Python returned them: a Tensor, or a sequence with None for no gradient.
TensorList gradients_of(PyObject* result) {
  if (is_tensor(result)) return {unwrap(result)};
  if (result == Py_None) return {Tensor()};
  return parse_tensors(Argument{"Function", "backward"}.result(), result);
}

PyObject* record_function_fn(PyObject*, PyObject* args) {
  const char* name;
  PyObject *inputs, *outputs, *backward, *saved;
  int materialize;
  if (!PyArg_ParseTuple(args, "sOOOpO:_record_function", &name, &inputs, &outputs,
                        &backward, &materialize, &saved)) {
    return nullptr;
  }
  return guarded([&] {
    const TensorList ins = parse_tensors({"Function", "inputs"}, inputs);
    FunctionOptions options;
    options.materialize_grads = materialize;
    options.saved = parse_tensors({"Function", "saved"}, saved);
    Ref<Node> node = record_function(
        name, ins, parse_tensors({"Function", "outputs"}, outputs),
        [run = PyCallable(backward)](const TensorList& grads, Node& self) {
          GilAcquire gil;
          const PyRef node(wrap_node(Ref<Node>::share(&self))), tuple(wrap_list(grads));
          return gradients_of(run(node.get(), tuple.get()).get());
        },
        std::move(options));
    return wrap_node(std::move(node));
  });
}
PyObject* saved_tensors_fn(PyObject*, PyObject* node) {
  return guarded([&] {
    const Argument where{"_saved_tensors", "node"};
    auto* function = dynamic_cast<FunctionNode*>(unwrap_node(where, node).get());
    expect(function, where, "the Node of a Function", node);
    return wrap_list(function->saved_tensors());
  });
}
PyObject* live_nodes(PyObject*, PyObject*) {
  return PyLong_FromLongLong(live_count(Live::Nodes));
}

PyMethodDef g_functions[] = {
    {"_backward", backward_fn, METH_VARARGS,
     "_backward(tensors, gradients, retain_graph, create_graph, inputs, /)\n--\n\nRuns the "
     "engine; no inputs: all leaves."},
    {"_grad", grad_function, METH_VARARGS,
     "_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, /)\n--"
     "\n\nGradients without accumulating."},
    {"_register_hook", register_hook_fn, METH_VARARGS,
     "_register_hook(tensor, hook, /)\n--\n\nHandle of a hook on the tensor's gradient."},
    {"_register_accumulated_hook", register_accumulated_hook_fn, METH_VARARGS,
     "_register_accumulated_hook(leaf, hook, /)\n--\n\nHandle of a hook after accumulation."},
    {"_retain_grad", retain_grad_fn, METH_O,
     "_retain_grad(tensor, /)\n--\n\nKeeps the gradient of a tensor that is no leaf."},
    {"_record_function", record_function_fn, METH_VARARGS,
     "_record_function(name, inputs, outputs, backward, materialize_grads, saved, /)\n--\n\n"
     "Makes backward(node, grads) the history of the outputs; its Node, or None."},
    {"_saved_tensors", saved_tensors_fn, METH_O,
     "_saved_tensors(node, /)\n--\n\nWhat was saved, for the backward that runs."},
    {"live_nodes", live_nodes, METH_NOARGS,
     "live_nodes()\n--\n\nGraph nodes alive, for leak tests."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* wrap_grad_fn(const Tensor& tensor) {
  requires_grad(tensor);  // of a view it may have changed
  return wrap_node(grad_fn(tensor));
}

int add_autograd(PyObject* module) {
  add_node_types(module);
  return PyModule_AddFunctions(module, g_functions);
}

}  // namespace pkg::python

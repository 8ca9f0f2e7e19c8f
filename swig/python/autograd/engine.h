// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/engine.h: the engine's two doors, hooks of tensors and functions with
// a backward in Python.  pkg/autograd/ is their only caller; swig/autograd.i wraps them.
#pragma once

#include "node.h"

namespace pkg::python {

/// Runs the engine; no inputs: all leaves.
void _backward(PyObject* tensors, PyObject* gradients, bool retain_graph, bool create_graph,
               PyObject* inputs);
/// Gradients without accumulating.
swigkit::PyRef _grad(PyObject* outputs, PyObject* inputs, PyObject* grad_outputs,
                     bool retain_graph, bool create_graph, bool allow_unused);
/// Handle of a hook on the tensor's gradient.
HookHandleObject _register_hook(PyObject* tensor, PyObject* hook);
/// Handle of a hook after accumulation.
HookHandleObject _register_accumulated_hook(PyObject* leaf, PyObject* hook);
/// Keeps the gradient of a tensor that is no leaf.
void _retain_grad(PyObject* tensor);
/// Makes backward(node, grads) the history of the outputs; its Node, or None.
std::optional<NodeObject> _record_function(const std::string& name, PyObject* inputs,
                                           PyObject* outputs,
                                           const swigkit::PyCallable& backward,
                                           bool materialize_grads, PyObject* saved);
/// What was saved, for the backward that runs.
swigkit::PyRef _saved_tensors(const NodeObject& node);

}  // namespace pkg::python

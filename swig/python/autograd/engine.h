// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/engine.h: hooks, what a node shows by tuples, and functions with a
// backward in Python.  swig/autograd.i wraps them.
#pragma once

#include "autograd/node_facts.h"
#include "python/py_ref.h"
#include "python/tensor/py_tensor.h"
#include "swigkit/function.h"

namespace pkg::python {

#ifndef SWIG
/// What the hook returns (None: nothing) takes the place of the gradients.
HookHandle add_hook(Node& node, HookKind kind, const PyCallable& hook);
PyRef next_functions(const Node& node);
PyRef input_shapes(const Node& node);
#endif

/// Handle of a hook on the tensor's gradient.
HookHandle _register_hook(const pkg::Tensor& tensor, const swigkit::PyCallable& hook);
/// Handle of a hook after accumulation.
HookHandle _register_accumulated_hook(const pkg::Tensor& leaf,
                                      const swigkit::PyCallable& hook);
/// Makes backward(node, grads) the history of the outputs; its Node, or None.
pkg::Ref<pkg::Node> _record_function(const std::string& name,
                                     const pkg::python::MaybeTensors& inputs,
                                     const pkg::python::MaybeTensors& outputs,
                                     const swigkit::PyCallable& backward,
                                     bool materialize_grads,
                                     const pkg::python::MaybeTensors& saved);

}  // namespace pkg::python

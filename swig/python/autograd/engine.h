// SPDX-License-Identifier: Apache-2.0
// swig/python/autograd/engine.h: hooks of tensors and functions with a backward in Python.
// pkg/autograd/ is their only caller; swig/autograd.i wraps them.
#pragma once

#include "node.h"
#include "python/tensor/py_tensor.h"

namespace pkg::python {

/// Handle of a hook on the tensor's gradient.
HookHandle _register_hook(const pkg::Tensor& tensor, const swigkit::PyCallable& hook);
/// Handle of a hook after accumulation.
HookHandle _register_accumulated_hook(const pkg::Tensor& leaf,
                                      const swigkit::PyCallable& hook);
/// Makes backward(node, grads) the history of the outputs; its Node, or None.
std::optional<NodeObject> _record_function(const std::string& name,
                                           const pkg::python::MaybeTensors& inputs,
                                           const pkg::python::MaybeTensors& outputs,
                                           const swigkit::PyCallable& backward,
                                           bool materialize_grads,
                                           const pkg::python::MaybeTensors& saved);
/// What was saved, for the backward that runs.
pkg::TensorList _saved_tensors(const NodeObject& node);

}  // namespace pkg::python

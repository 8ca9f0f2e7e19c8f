// SPDX-License-Identifier: Apache-2.0
// swig/python/py_node.h: graph nodes and hook handles as Python objects.
#pragma once

#include "autograd/node.h"
#include "py_tensor.h"

namespace pkg::python {

/// New reference; None for a null node.
PyObject* wrap_node(Ref<Node> node);
/// The node inside; TypeError for another object.
const Ref<Node>& unwrap_node(PyObject* object);
PyObject* wrap_hook(HookHandle handle);

/// Tensors of a tuple or list; None is an undefined one.  TypeError says `what`.
TensorList parse_tensors(const char* what, PyObject* sequence);

int add_node_types(PyObject* module);

}  // namespace pkg::python

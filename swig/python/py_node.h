// SPDX-License-Identifier: Apache-2.0
// swig/python/py_node.h: graph nodes and hook handles as Python objects.
#pragma once

#include "autograd/node.h"
#include "expect.h"
#include "py_tensor.h"

namespace pkg::python {

/// New reference; None for a null node.
PyObject* wrap_node(Ref<Node> node);
/// The node inside; TypeError for another object.
const Ref<Node>& unwrap_node(const Argument& where, PyObject* object);
PyObject* wrap_hook(HookHandle handle);

/// Tensors of a tuple or list; None, where it is allowed, is an undefined one.
TensorList parse_tensors(const Argument& where, PyObject* sequence, bool or_none = true);

void add_node_types(PyObject* module);

}  // namespace pkg::python

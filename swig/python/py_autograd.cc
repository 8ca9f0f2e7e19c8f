// SPDX-License-Identifier: Apache-2.0
// swig/python/py_autograd.cc: graph nodes as Python objects, and the engine's two doors.
#include "autograd/accumulate_grad.h"
#include "autograd/engine.h"
#include "base/thread_local.h"
#include "py_tensor.h"

namespace pkg::python {
namespace {

struct PyNode {
  PyObject_HEAD
  Ref<Node> node;
};
PyTypeObject* g_node_type = nullptr;

const Ref<Node>& node_of(PyObject* self) { return reinterpret_cast<PyNode*>(self)->node; }

PyObject* wrap_node(Ref<Node> node) {
  PyObject* self = checked(g_node_type->tp_alloc(g_node_type, 0));
  new (&reinterpret_cast<PyNode*>(self)->node) Ref<Node>(std::move(node));
  return self;
}
void node_dealloc(PyObject* self) {
  reinterpret_cast<PyNode*>(self)->node.~Ref<Node>();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject* node_name(PyObject* self, PyObject*) {
  return guarded([&] { return PyUnicode_FromString(node_of(self)->name().c_str()); });
}
PyObject* node_repr(PyObject* self) {
  return guarded([&] {
    return PyUnicode_FromFormat("<%s>", node_of(self)->name().c_str());
  });
}
PyObject* next_functions(PyObject* self, void*) {
  return guarded([&] {
    const auto& edges = node_of(self)->edges();
    PyRef tuple(checked(PyTuple_New(Py_ssize_t(edges.size()))));
    for (size_t i = 0; i < edges.size(); ++i) {
      PyRef node(edges[i].node ? wrap_node(edges[i].node) : new_ref(Py_None));
      PyObject* pair = checked(Py_BuildValue("(OI)", node.get(), edges[i].input_nr));
      PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), pair);
    }
    return tuple.release();
  });
}
PyObject* variable(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    auto* leaf = dynamic_cast<AccumulateGrad*>(node_of(self).get());
    return leaf ? wrap(leaf->variable) : new_ref(Py_None);
  });
}

TensorList tensors_of(const char* what, PyObject* tuple) {
  TensorList list;
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* entry = PyTuple_GET_ITEM(tuple, i);
    PKG_CHECK(entry == Py_None || is_tensor(entry), TypeError, what,
              " must be Tensors or None, got ", Py_TYPE(entry)->tp_name);
    list.push_back(entry == Py_None ? Tensor() : unwrap(entry));
  }
  return list;
}

PyObject* backward_fn(PyObject*, PyObject* args) {
  PyObject *outputs, *grads;
  int retain, create;
  if (!PyArg_ParseTuple(args, "O!O!pp:_backward", &PyTuple_Type, &outputs, &PyTuple_Type,
                        &grads, &retain, &create)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    backward(tensors_of("tensors", outputs), tensors_of("gradients", grads), retain,
             create);
    Py_RETURN_NONE;
  });
}
PyObject* grad_function(PyObject*, PyObject* args) {
  PyObject *outputs, *inputs, *grads;
  int retain, create, unused;
  if (!PyArg_ParseTuple(args, "O!O!O!ppp:_grad", &PyTuple_Type, &outputs, &PyTuple_Type,
                        &inputs, &PyTuple_Type, &grads, &retain, &create, &unused)) {
    return nullptr;
  }
  return guarded([&] {
    return wrap_list(grad(tensors_of("outputs", outputs), tensors_of("inputs", inputs),
                          tensors_of("grad_outputs", grads), retain, create, unused));
  });
}
PyObject* live_nodes(PyObject*, PyObject*) {
  return PyLong_FromLongLong(live_count(Live::Nodes));
}

PyMethodDef g_methods[] = {
    {"name", node_name, METH_NOARGS, "name(self)\n--\n\nName of the operation."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef g_getset[] = {
    {"next_functions", next_functions, nullptr, "(node, input number) per input.", nullptr},
    {"variable", variable, nullptr, "The leaf of an AccumulateGrad node.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot g_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
                         {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
                         {Py_tp_methods, g_methods},
                         {Py_tp_getset, g_getset},
                         {0, nullptr}};
PyType_Spec g_spec = {"pkg._pywrap_core.Node", sizeof(PyNode), 0, Py_TPFLAGS_DEFAULT,
                      g_slots};
PyMethodDef g_functions[] = {
    {"_backward", backward_fn, METH_VARARGS,
     "_backward(tensors, gradients, retain_graph, create_graph)\n--\n\nRuns the engine."},
    {"_grad", grad_function, METH_VARARGS,
     "_grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)\n--"
     "\n\nGradients without accumulating."},
    {"live_nodes", live_nodes, METH_NOARGS,
     "live_nodes()\n--\n\nGraph nodes alive, for leak tests."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* wrap_grad_fn(const Tensor& tensor) {
  Ref<Node> node = grad_fn(tensor);
  return node ? wrap_node(std::move(node)) : new_ref(Py_None);
}

int add_autograd(PyObject* module) {
  g_node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&g_spec));
  return g_node_type ? PyModule_AddFunctions(module, g_functions) : -1;
}

}  // namespace pkg::python

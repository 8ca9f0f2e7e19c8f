// SPDX-License-Identifier: Apache-2.0
// swig/python/py_node.cc: the types Node and HookHandle.
#include "py_node.h"
#include "py_type.h"

#include "autograd/accumulate_grad.h"
#include "autograd/op_node.h"
#include "swigkit/callable.h"

namespace pkg::python {
namespace {

struct PyNode {
  PyObject_HEAD Ref<Node> node;
};
struct PyHook {
  PyObject_HEAD HookHandle handle;
};
PyTypeObject* g_node_type = nullptr;
PyTypeObject* g_hook_type = nullptr;

template <class Object>
void dealloc(PyObject* self) {
  if constexpr (std::is_same_v<Object, PyNode>) {
    reinterpret_cast<PyNode*>(self)->node.~Ref<Node>();
  } else {
    reinterpret_cast<PyHook*>(self)->handle.~HookHandle();
  }
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

const Ref<Node>& node_of(PyObject* self) { return reinterpret_cast<PyNode*>(self)->node; }

PyObject* text(const std::string& value) {
  return PyUnicode_FromStringAndSize(value.data(), Py_ssize_t(value.size()));
}

PyObject* node_name(PyObject* self, PyObject*) {
  return guarded([&] { return text(node_of(self)->name()); });
}
PyObject* sequence_nr(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(node_of(self)->sequence());
}
PyObject* node_repr(PyObject* self) {
  return guarded([&] { return text(str("<", node_of(self)->name(), ">")); });
}
// The objects come and go; the node they show is what is compared.
Py_hash_t node_hash(PyObject* self) {
  return Py_hash_t(reinterpret_cast<uintptr_t>(node_of(self).get()) >> 4);
}
PyObject* node_compare(PyObject* self, PyObject* other, int how) {
  if (!PyObject_TypeCheck(other, g_node_type) || (how != Py_EQ && how != Py_NE)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong((node_of(self) == node_of(other)) == (how == Py_EQ));
}

PyObject* next_functions(PyObject* self, void*) {
  return guarded([&] {
    const auto& edges = node_of(self)->edges();
    PyRef tuple(checked(PyTuple_New(Py_ssize_t(edges.size()))));
    for (size_t i = 0; i < edges.size(); ++i) {
      PyRef node(wrap_node(edges[i].node));
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
PyObject* call_site(PyObject* self, void*) {
  return guarded([&] { return text(node_of(self)->call_site()); });
}
PyObject* op_name(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    auto* node = dynamic_cast<OpNode*>(node_of(self).get());
    return node ? text(node->op().qualified_name()) : new_ref(Py_None);
  });
}
PyObject* input_shapes(PyObject* self, void*) {
  return guarded([&] {
    const Node& node = *node_of(self);
    PyRef tuple(checked(PyTuple_New(Py_ssize_t(node.edges().size()))));
    for (size_t i = 0; i < node.edges().size(); ++i) {
      const std::optional<Spec> spec = node.input_spec(i);
      PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i),
                       spec ? wrap_shape(spec->sizes) : new_ref(Py_None));
    }
    return tuple.release();
  });
}
PyObject* saved(PyObject* self, void*) {
  return guarded([&] {
    PyRef list(checked(PyList_New(0)));
    node_of(self)->for_each_saved([&](const std::string& name, const Tensor& tensor) {
      PyRef key(checked(text(name))), value(wrap(tensor));
      PyRef pair(checked(PyTuple_Pack(2, key.get(), value.get())));
      check(PyList_Append(list.get(), pair.get()));
    });
    return list.release();
  });
}

// Puts what a hook returned (None: nothing) in place of `grads`.
void replace(TensorList& grads, PyObject* result) {
  if (result == Py_None) return;
  PyRef single;
  if (is_tensor(result)) {
    single = check(PyTuple_Pack(1, result));
    result = single.get();
  }
  TensorList made = parse_tensors(Argument{"register_hook", "hook"}.result(), result);
  PKG_CHECK(made.size() == grads.size(), RuntimeError, "a hook returned ", made.size(),
            " gradients, expected ", grads.size());
  grads = std::move(made);
}

PyObject* add_hook(PyObject* self, PyObject* callable, HookKind kind) {
  return guarded([&] {
    const Argument where{kind == HookKind::Pre ? "register_prehook" : "register_hook",
                         "hook"};
    expect(PyCallable_Check(callable), where, "a callable", callable);
    HookList& list = node_of(self)->hooks();
    const int64_t id = list.add(
        kind, 0,
        [hook = PyCallable(callable), kind](TensorList& grads, const TensorList& other) {
          GilAcquire gil;
          PyRef first(wrap_list(grads)), second;
          if (kind == HookKind::Post) second = PyRef(wrap_list(other));
          const PyRef result = kind == HookKind::Post ? hook(first.get(), second.get())
                                                      : hook(first.get());
          replace(grads, result.get());
        });
    return wrap_hook({Ref<HookList>::share(&list), id});
  });
}
PyObject* register_hook(PyObject* self, PyObject* callable) {
  return add_hook(self, callable, HookKind::Post);
}
PyObject* register_prehook(PyObject* self, PyObject* callable) {
  return add_hook(self, callable, HookKind::Pre);
}

PyObject* remove(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    reinterpret_cast<PyHook*>(self)->handle.remove();
    Py_RETURN_NONE;
  });
}
PyObject* enter(PyObject* self, PyObject*) { return new_ref(self); }
PyObject* leave(PyObject* self, PyObject*) { return remove(self, nullptr); }

PyMethodDef g_node_methods[] = {
    {"name", node_name, METH_NOARGS, "name($self)\n--\n\nName of the operation."},
    {"_sequence_nr", sequence_nr, METH_NOARGS,
     "_sequence_nr($self)\n--\n\nGrows with every node."},
    {"register_hook", register_hook, METH_O,
     "register_hook($self, hook, /)\n--\n\n"
     "Calls hook(grad_inputs, grad_outputs) after the node has run; a tuple that it "
     "returns replaces grad_inputs. The handle's remove() undoes it."},
    {"register_prehook", register_prehook, METH_O,
     "register_prehook($self, hook, /)\n--\n\n"
     "Calls hook(grad_outputs) before the node runs; a tuple that it returns replaces "
     "them. The handle's remove() undoes it."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef g_node_getset[] = {
    {"next_functions", next_functions, nullptr, "(node, input number) per input.", nullptr},
    {"variable", variable, nullptr, "The leaf of an AccumulateGrad node.", nullptr},
    {"call_site", call_site, nullptr,
     "'file:line' of the call that was recorded; '' when unknown.", nullptr},
    {"op", op_name, nullptr, "Qualified name of the op, or None.", nullptr},
    {"input_shapes", input_shapes, nullptr, "Shape of each input; None when unknown.",
     nullptr},
    {"saved", saved, nullptr, "(name, tensor) of everything kept for backward.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot g_node_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc<PyNode>)},
    {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
    {Py_tp_hash, reinterpret_cast<void*>(node_hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(node_compare)},
    {Py_tp_methods, g_node_methods},
    {Py_tp_getset, g_node_getset},
    {Py_tp_doc, const_cast<char*>("One recorded operation; what tensor.grad_fn shows.")},
    {0, nullptr}};
PyType_Spec g_node_spec = {"pkg._pywrap_core.Node", sizeof(PyNode), 0, Py_TPFLAGS_DEFAULT,
                           g_node_slots};

PyMethodDef g_hook_methods[] = {
    {"remove", remove, METH_NOARGS,
     "remove($self)\n--\n\nThe hook is not called any more; a second call does nothing."},
    {"__enter__", enter, METH_NOARGS, "__enter__($self)\n--\n\nThe handle itself."},
    {"__exit__", leave, METH_VARARGS, "__exit__($self, *exc)\n--\n\nRemoves the hook."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot g_hook_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc<PyHook>)},
    {Py_tp_methods, g_hook_methods},
    {Py_tp_doc, const_cast<char*>("A registered hook, also a context manager.")},
    {0, nullptr}};
PyType_Spec g_hook_spec = {"pkg._pywrap_core.HookHandle", sizeof(PyHook), 0,
                           Py_TPFLAGS_DEFAULT, g_hook_slots};

}  // namespace

PyObject* wrap_node(Ref<Node> node) {
  if (!node) Py_RETURN_NONE;
  PyObject* self = checked(g_node_type->tp_alloc(g_node_type, 0));
  new (&reinterpret_cast<PyNode*>(self)->node) Ref<Node>(std::move(node));
  return self;
}

const Ref<Node>& unwrap_node(const Argument& where, PyObject* object) {
  expect(PyObject_TypeCheck(object, g_node_type), where, "a Node", object);
  return node_of(object);
}

PyObject* wrap_hook(HookHandle handle) {
  PyObject* self = checked(g_hook_type->tp_alloc(g_hook_type, 0));
  new (&reinterpret_cast<PyHook*>(self)->handle) HookHandle(std::move(handle));
  return self;
}

TensorList parse_tensors(const Argument& where, PyObject* sequence, bool or_none) {
  expect(PyTuple_Check(sequence) || PyList_Check(sequence), where, "a tuple of Tensors",
         sequence);
  TensorList list;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* entry = PySequence_Fast_GET_ITEM(sequence, i);
    const bool none = or_none && entry == Py_None;
    expect(none || is_tensor(entry), where.item(i),
           or_none ? "a Tensor or None" : "a Tensor", entry);
    list.push_back(none ? Tensor() : unwrap(entry));
  }
  return list;
}

void add_node_types(PyObject* module) {
  g_node_type = add_type(module, &g_node_spec);
  g_hook_type = add_type(module, &g_hook_spec);
  // Instances are made here only: one from Python would be empty.
  for (PyTypeObject* type : {g_node_type, g_hook_type}) forbid_construction(type);
}

}  // namespace pkg::python

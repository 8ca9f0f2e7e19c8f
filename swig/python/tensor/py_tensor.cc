// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_tensor.cc: life of Python tensors: allocation, identity, destruction.
#include "py_tensor.h"
#include "functions.h"
#include "tensor/as_number.h"

#include <structmember.h>

#include <vector>

namespace pkg::python {

PyTypeObject* g_tensor_base = nullptr;
PyTypeObject* g_tensor_class = nullptr;

const Tensor& unwrap(PyObject* object) {
  const Tensor& tensor = reinterpret_cast<PyTensor*>(object)->tensor;
  PKG_CHECK(tensor.defined(), RuntimeError,
            "this Tensor was never initialised: make tensors with pkg.tensor(...).");
  return tensor;
}

void refuse_foreign(PyObject* object) {
  if (is_dtype_or_device(object)) return;  // without an error for the attribute
  PyRef keep;
  const char* binding = text_attribute(reinterpret_cast<PyObject*>(Py_TYPE(object)),
                                       "_binding", keep);
  PKG_CHECK(!binding, TypeError,
            "expected a Tensor of the binding pkg._pywrap_core, got one of ", binding,
            ". Exchange them through DLPack: pkg.from_dlpack(x).");
}

namespace {

// Memory of dead objects of the registered class: results come and go by the million.
// One list for the process is safe under the GIL; without it there is none.
#ifdef Py_GIL_DISABLED
constexpr int kMaxFree = 0;
#else
constexpr int kMaxFree = 64;
#endif
PyObject* g_free[kMaxFree + 1];
int g_n_free = 0;

PyObject* new_object() {
  if (g_n_free == 0) return checked(g_tensor_class->tp_alloc(g_tensor_class, 0));
  PyObject* self = PyObject_Init(g_free[--g_n_free], g_tensor_class);
  PyObject_GC_Track(self);
  return self;
}

// Leaves the object without a tensor: Python may no longer reach it.
void drop_tensor(PyObject* self) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  if (object->weakrefs) PyObject_ClearWeakRefs(self);
  if (object->tensor.defined() && object->tensor.impl()->python_object == self) {
    object->tensor.impl()->python_object = nullptr;
  }
  object->tensor.~Tensor();
}

// Of the registered class, in place of CPython's general one.  Classes derived from it
// keep theirs, which ends up here with the rest of the object gone.
void class_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (type->tp_finalize && PyObject_CallFinalizerFromDealloc(self) < 0) return;
  PyObject_GC_UnTrack(self);
  drop_tensor(self);
  if (type == g_tensor_class && g_n_free < kMaxFree) g_free[g_n_free++] = self;
  else type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* g_symbol_class = nullptr;

// A symbol of a graph is shown by a class of its own, which knows the graph.
[[gnu::cold]] PyObject* wrap_symbol(Tensor tensor) {
  PyTypeObject* type = g_symbol_class ? g_symbol_class : g_tensor_class;
  PyRef self = check(type->tp_alloc(type, 0));
  auto* object = reinterpret_cast<PyTensor*>(self.get());
  tensor.impl()->python_object = self.get();
  new (&object->tensor) Tensor(std::move(tensor));
  if (g_symbol_class) { check(PyObject_CallMethod(self.get(), "_begin", nullptr)); }
  return self.release();
}

}  // namespace

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  if (void* existing = tensor.impl()->python_object) {
    return new_ref(static_cast<PyObject*>(existing));
  }
  if (__builtin_expect(tensor.storage().dynamic_keys().has(DispatchKey::Graph), 0)) {
    return wrap_symbol(std::move(tensor));
  }
  PyObject* self = new_object();
  auto* object = reinterpret_cast<PyTensor*>(self);
  object->weakrefs = nullptr;
  tensor.impl()->python_object = self;
  new (&object->tensor) Tensor(std::move(tensor));
  return self;
}

PyObject* wrap_list(const TensorList& tensors) {
  return make_tuple(tensors.size(), [&](size_t i) { return wrap(tensors[i]); });
}

bool load_tensors(PyObject* sequence, TensorList& list, const Argument& where,
                  bool or_none) {
  if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) {
    return refuse(where, "a tuple of Tensors", sequence);
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(sequence);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* entry = PySequence_Fast_GET_ITEM(sequence, i);
    const bool none = or_none && entry == Py_None;
    if (!none && !is_tensor(entry)) {
      return refuse(where.item(i), or_none ? "a Tensor or None" : "a Tensor", entry);
    }
    list.push_back(none ? Tensor() : unwrap(entry));
  }
  return true;
}

PyObject* wrap_scalar(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return PyBool_FromLong(scalar.to<bool>());
    case Scalar::Kind::Int: return PyLong_FromLongLong(scalar.to<int64_t>());
    default: return PyFloat_FromDouble(scalar.to<double>());
  }
}

PyObject* wrap_shape(const Shape& shape) {
  return make_tuple(shape.size(), [&](size_t i) { return PyLong_FromLongLong(shape[i]); });
}

namespace {

PyObject* tensor_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) new (&reinterpret_cast<PyTensor*>(self)->tensor) Tensor();
  return self;
}

// Runs after __new__: an error unless a subclass's __new__ made a tensor.
int tensor_init(PyObject* self, PyObject*, PyObject*) {
  if (reinterpret_cast<PyTensor*>(self)->tensor.defined()) return 0;
  PyErr_SetString(PyExc_TypeError, "Tensor(): make tensors with pkg.tensor(...).");
  return -1;
}

void tensor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  drop_tensor(self);
  type->tp_free(self);
  Py_DECREF(type);
}

Py_hash_t tensor_hash(PyObject* self) { return Py_hash_t(uintptr_t(self) >> 4); }

PyObject* tensor_item_at(PyObject* self, Py_ssize_t index) {
  PyRef key(PyLong_FromSsize_t(index));
  return tensor_getitem(self, key.get());
}

PyMemberDef g_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyTypeObject* tensor_class(const char* function, PyObject* cls) {
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  PKG_CHECK(PyType_Check(cls) && PyType_IsSubtype(type, g_tensor_base), TypeError, function,
            "() expected a subclass of _pywrap_core.Tensor");
  return type;
}

}  // namespace

void register_tensor_class(PyObject* cls) {
  PyTypeObject* type = tensor_class("register_tensor_class", cls);
  const bool same_layout = type->tp_basicsize == g_tensor_base->tp_basicsize &&
                           type->tp_dictoffset == 0 && PyType_IS_GC(type);
  PKG_CHECK(same_layout && g_tensor_class == g_tensor_base, TypeError,
            "register_tensor_class() expected, once, a class with __slots__ = ()");
  type->tp_dealloc = class_dealloc;
  Py_INCREF(cls);
  g_tensor_class = type;
}

void register_symbol_class(PyObject* cls) {
  g_symbol_class = tensor_class("register_symbol_class", cls);
  Py_INCREF(cls);
}

void add_tensor_type(PyObject* module) {
  std::vector<PyType_Slot> slots = {
      slot(Py_tp_new, tensor_new),
      slot(Py_tp_init, tensor_init),
      slot(Py_tp_dealloc, tensor_dealloc),
      slot(Py_tp_hash, tensor_hash),
      {Py_tp_members, g_members},
      {Py_tp_methods, g_tensor_methods},
      {Py_tp_getset, g_tensor_getset},
      slot_row<Py_mp_length, unwrap, length_of>(),
      slot(Py_mp_subscript, tensor_getitem),
      slot(Py_mp_ass_subscript, tensor_setitem),
      slot_row<Py_sq_length, unwrap, length_of>(),
      slot(Py_sq_item, tensor_item_at),
      {Py_tp_doc, const_cast<char*>("Tensor of the C++ core; use pkg.Tensor.")}};
  for (PyType_Slot* slot = g_number_slots; slot->slot; ++slot) slots.push_back(*slot);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"pkg._pywrap_core.Tensor", sizeof(PyTensor), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  g_tensor_class = g_tensor_base = add_type(module, &spec);
  PyRef name = check(PyUnicode_FromString("pkg._pywrap_core"));
  check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(g_tensor_base), "_binding",
                               name.get()));
}

}  // namespace pkg::python

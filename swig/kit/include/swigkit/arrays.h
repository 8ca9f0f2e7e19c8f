// SPDX-License-Identifier: Apache-2.0
// swigkit/arrays.h: what Python's objects say of themselves as arrays and numbers: NumPy's, and
// those of others by NumPy's protocols.  For functions that take a PyObject*.
#pragma once

#include "by_hand.h"

namespace [[gnu::visibility("hidden")]] swigkit {

namespace detail {
inline bool has_attribute(PyObject* object, const char* name) {
  return call_python(PyObject_HasAttrString, object, name);
}
}  // namespace detail

/// Whether it says that it is an array: by a buffer, NumPy's protocols or DLPack.
inline bool is_array(PyObject* object) {
  if (PyObject_CheckBuffer(object)) return true;
  // Of what is no array these come most; and a class has what its objects have.
  const bool plain = object == Py_None || PyUnicode_Check(object) || PyList_Check(object) ||
                     PyTuple_Check(object) || PyDict_Check(object) ||
                     PyLong_Check(object) || PyFloat_Check(object) || PyType_Check(object);
  const auto has = [&](const char* name) { return detail::has_attribute(object, name); };
  return !plain && (has("__array__") || has("__array_interface__") ||
                    has("__array_struct__") || has("__dlpack__"));
}
/// The same of what has a buffer: whether it is of a class derived from NumPy's array, which may
/// hide elements (numpy.ma).
inline bool is_derived_array(PyObject* object) {
  return (Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
         detail::has_attribute(object, "__array__");
}

/// False for what has dimensions, or an array that does not tell: those have __index__ and
/// __float__, too, where there is one element.
inline bool is_dimensionless(PyObject* object) {
  if (std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.")) {
    return !PySequence_Check(object);
  }
  if (PySequence_Check(object)) return false;
  if (!is_array(object)) return true;
  const PyRef ndim(call_python(PyObject_GetAttrString, object, "ndim"));
  const bool none = ndim && PyLong_Check(ndim.get()) && PyLong_AsLong(ndim.get()) == 0;
  PyErr_Clear();
  return none;
}

/// NumPy's letter for the kind of an object's dtype: 'f', 'c', 'M'; NUL when it has none.
inline char dtype_kind(PyObject* object) {
  const PyRef dtype(call_python(PyObject_GetAttrString, object, "dtype"));
  PyErr_Clear();
  PyRef keep;
  const char* text = text_attribute(dtype.get(), "kind", keep);
  return text ? *text : '\0';
}
/// The name, which `keep` keeps, that NumPy has for an instance of its dtype or for a scalar
/// type, such as "float32"; null for an object of another library.
inline const char* dtype_name(PyObject* object, PyRef& keep) {
  const bool is_type = PyType_Check(object);
  PyObject* owner = is_type ? object : reinterpret_cast<PyObject*>(Py_TYPE(object));
  const char* module = text_attribute(owner, "__module__", keep);
  const std::string_view whose(module ? module : "");
  if (whose != "numpy" && !whose.starts_with("numpy.")) return nullptr;
  const char* name = text_attribute(object, is_type ? "__name__" : "name", keep);
  return name && std::strcmp(name, "bool_") == 0 ? "bool" : name;
}

/// A capsule of what C++ made, for others to take over: they give it another name then.  Unless
/// that happened give_back(content) is called at its end, or when there is no memory for it.
/// The name is a constant; the context is for those who have the capsule.
template <auto give_back, const char* const& name, class T>
PyObject* make_capsule(T* content) {
  PyObject* capsule = PyCapsule_New(content, name, [](PyObject* self) {
    if (!PyCapsule_IsValid(self, name)) return;
    give_back(static_cast<T*>(PyCapsule_GetPointer(self, name)));
  });
  if (capsule) return capsule;
  give_back(content);
  throw_python_error();
}

}  // namespace swigkit

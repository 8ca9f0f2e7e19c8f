// SPDX-License-Identifier: Apache-2.0
// swigkit/dynamic.h: attributes of Python's own in objects of a wrapped class (%dynamic).
//
// They are in a dict, which CPython keeps before the object from 3.12 on, and which lies
// behind it before.  Python's collector has to look into it.
#pragma once

#include "instance.h"

#include <structmember.h>

namespace [[gnu::visibility("hidden")]] swigkit {

#if PY_VERSION_HEX >= 0x030C0000
inline constexpr unsigned kDynamicFlags = Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_MANAGED_DICT;
inline constexpr size_t kDictRoom = 0;
inline PyMemberDef g_dict_place[] = {{}};

inline int visit_attributes(PyObject* object, visitproc visit, void* arg) {
#if PY_VERSION_HEX >= 0x030D0000
  return PyObject_VisitManagedDict(object, visit, arg);
#else
  return _PyObject_VisitManagedDict(object, visit, arg);
#endif
}
inline void clear_attributes(PyObject* object) {
  if (!(Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT)) return;
#if PY_VERSION_HEX >= 0x030D0000
  PyObject_ClearManagedDict(object);
#else
  _PyObject_ClearManagedDict(object);
#endif
}
#else
inline constexpr unsigned kDynamicFlags = Py_TPFLAGS_HAVE_GC;
inline constexpr size_t kDictRoom = sizeof(PyObject*);
inline PyMemberDef g_dict_place[] = {
    {"__dictoffset__", T_PYSSIZET, sizeof(Instance), READONLY, nullptr}, {}};

/// Null where Python derived a class and gave that a dict of its own.
inline PyObject** attributes_of(PyObject* object) {
  const Py_ssize_t offset = Py_TYPE(object)->tp_dictoffset;
  return offset > 0 ? reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset)
                    : nullptr;
}
inline int visit_attributes(PyObject* object, visitproc visit, void* arg) {
  PyObject** dict = attributes_of(object);
  if (dict) Py_VISIT(*dict);
  return 0;
}
inline void clear_attributes(PyObject* object) {
  if (PyObject** dict = attributes_of(object)) Py_CLEAR(*dict);
}
#endif

/// Whether objects of the class have such attributes.
inline bool has_attributes(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
  if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) return true;
#endif
  return type->tp_dictoffset != 0;
}

inline PyGetSetDef g_dict_entry = {"__dict__", PyObject_GenericGetDict,
                                   PyObject_GenericSetDict, nullptr, nullptr};

}  // namespace swigkit

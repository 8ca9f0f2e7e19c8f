// SPDX-License-Identifier: Apache-2.0
// swigkit/function_type.h: types of functions that C++ makes when the program runs: objects
// that Python calls by vectorcall and that have a record of C++'s.
#pragma once

#include "by_hand.h"

#include <structmember.h>

#include <memory>

namespace [[gnu::visibility("hidden")]] swigkit {

/// The type of the objects of a Record, which says what there is to say of it:
///   static constexpr const char *kName, *kDoc;         "module.Class", and its text
///   static constexpr bool kIsObject;                   it has attributes and weak references
///   static Record make(PyObject* args, PyObject* keywords);                   Class(...)
///   PyObject* call(PyObject* const* args, Py_ssize_t n, PyObject* keywords);  of an object
///   PyObject* repr() const;
///   static PyMethodDef methods[]; static PyGetSetDef attributes[];
///   static PyObject* find(PyObject* self, PyObject* name);   an attribute
///   int traverse(visitproc visit, void* arg) const;    its Python objects, for the collector
/// The last two may be left out.  As an attribute of a class an object is a method, for which
/// no bound object is made where it is called at once.
template <class Record>
class FunctionType {
 public:
  static Record& record_of(PyObject* self) {
    return reinterpret_cast<Object*>(self)->record;
  }
  static PyObject* make(PyTypeObject* type, Record record) {
    PyObject* self = checked(type->tp_alloc(type, 0));
    auto* object = reinterpret_cast<Object*>(self);
    object->vectorcall = call;
    new (&object->record) Record(std::move(record));
    return self;
  }
  static void add_to(PyObject* module) {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(Object, vectorcall), READONLY,
         nullptr},
        {Record::kIsObject ? "__dictoffset__" : nullptr, T_PYSSIZET, offsetof(Object, dict),
         READONLY, nullptr},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(Object, weakrefs), READONLY, nullptr},
        {}};
    std::vector<PyType_Slot> slots = {
        slot(Py_tp_new, construct),       slot(Py_tp_dealloc, end),
        slot(Py_tp_repr, repr),           slot(Py_tp_call, PyVectorcall_Call),
        slot(Py_tp_descr_get, bind),      {Py_tp_doc, const_cast<char*>(Record::kDoc)},
        {Py_tp_methods, Record::methods}, {Py_tp_members, members}};
    unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                     Py_TPFLAGS_METHOD_DESCRIPTOR;
    if constexpr (requires { Record::find; }) {
      slots.push_back(slot(Py_tp_getattro, Record::find));
    }
    if constexpr (kCollected) {
      flags |= Py_TPFLAGS_HAVE_GC;
      slots.push_back(slot(Py_tp_traverse, traverse));
      slots.push_back(slot(Py_tp_clear, clear));
    }
    slots.push_back({0, nullptr});
    PyType_Spec spec = {Record::kName, sizeof(Object), 0, flags, slots.data()};
    PyTypeObject* type = add_type(module, &spec);
    static PyGetSetDef dict = {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict,
                               nullptr, nullptr};
    if (Record::kIsObject) add_attribute(type, &dict);
    // The text of an object may be its own, which the slot's, the class's, would hide.
    for (PyGetSetDef* row = Record::attributes; row->name; ++row) add_attribute(type, row);
    PyType_Modified(type);
  }

 private:
  struct Object {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* dict;
    PyObject* weakrefs;
    Record record;
  };
  static constexpr bool kCollected = requires(const Record& record) {
    record.traverse(nullptr, nullptr);
  };

  static void add_attribute(PyTypeObject* type, PyGetSetDef* row) {
    const PyRef attribute = check(PyDescr_NewGetSet(type, row));
    check(PyDict_SetItemString(type->tp_dict, row->name, attribute.get()));
  }
  static PyObject* construct(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    return guarded([&] { return make(type, Record::make(args, keywords)); });
  }
  static PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf,
                        PyObject* keywords) {
    const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    return guarded([&] { return record_of(self).call(args, n, keywords); });
  }
  static PyObject* repr(PyObject* self) {
    return guarded([&] { return record_of(self).repr(); });
  }
  static PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
    if (!instance || instance == Py_None) return new_ref(self);
    return PyMethod_New(self, instance);
  }
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(reinterpret_cast<Object*>(self)->dict);
    return record_of(self).traverse(visit, arg);
  }
  // But for the record: who calls it while it is taken apart finds all of it still.
  static int clear(PyObject* self) {
    Py_CLEAR(reinterpret_cast<Object*>(self)->dict);
    return 0;
  }
  static void end(PyObject* self) {
    if (kCollected) PyObject_GC_UnTrack(self);
    auto* object = reinterpret_cast<Object*>(self);
    if (object->weakrefs) PyObject_ClearWeakRefs(self);
    std::destroy_at(&object->record);
    Py_XDECREF(object->dict);
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
  }
};

}  // namespace swigkit

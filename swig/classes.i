// classes.i: classes that SWIG wraps (-builtin), without the faults of its own ones.
// %include it after types.i, and end the interface with PKG_REPAIR_CLASSES; a class held
// by std::shared_ptr is announced with PKG_SHARED(Class).  The package itself has no such
// class; tests/border/ shows the use, tests/binding/test_swig_faults.py each repair.
//
// Repaired: None for a pointer (a crash), wrong objects (SWIG's own error format), use
// before __init__ (a crash), class attributes in Python subclasses (refused by SWIG's
// metaclass), cycles through an instance's __dict__ (never collected), one reference to
// the class leaked by each object, and two objects for one shared C++ object, which
// were not equal (each compared its own std::shared_ptr).
%include <std_shared_ptr.i>

%{
#include <memory>
#include <unordered_map>

#include "python/argument.h"

namespace {

// What an object holds until its __init__ has run.
swig_type_info no_type = {"an object without __init__", nullptr, nullptr, nullptr, nullptr,
                          0};

PyObject *new_without_object(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *self = PyType_GenericNew(type, args, keywords);
  if (self) reinterpret_cast<SwigPyObject *>(self)->ty = &no_type;
  return self;
}

// The C++ object inside; false with the error set when there is none.
bool to_pointer(PyObject *object, swig_type_info *type, int flags, void **pointer,
                int *own, const pkg::python::Argument &where);

template <class T>
bool to_shared(PyObject *object, swig_type_info *type, std::shared_ptr<T> &held,
               const pkg::python::Argument &where) {
  void *pointer = nullptr;
  int own = 0;
  if (!to_pointer(object, type, 0, &pointer, &own, where)) return false;
  auto *shared = static_cast<std::shared_ptr<T> *>(pointer);
  held = *shared;
  if (own & SWIG_CAST_NEW_MEMORY) delete shared;
  return true;
}

}  // namespace
%}

%feature("python:tp_new") "new_without_object";

%typemap(in) SWIGTYPE *(void *pointer = nullptr), SWIGTYPE &(void *pointer = nullptr),
             const SWIGTYPE &(void *pointer = nullptr) {
  if (!to_pointer($input, $descriptor, $disown, &pointer, nullptr,
                  {"$symname", "$1_name"})) {
    SWIG_fail;
  }
  $1 = reinterpret_cast<$ltype>(pointer);
}
// For parameters that may be None: %apply SWIGTYPE *OPTIONAL { Class *name };
%typemap(in) SWIGTYPE *OPTIONAL(void *pointer = nullptr) {
  if ($input != Py_None && !to_pointer($input, $descriptor, $disown, &pointer, nullptr,
                                       {"$symname", "$1_name"})) {
    SWIG_fail;
  }
  $1 = reinterpret_cast<$ltype>(pointer);
}

// Before the class is declared.
%define PKG_SHARED(Class...)
%shared_ptr(Class)
%init %{
  if (!note_shared<Class >("std::shared_ptr< " #Class " > *")) return -1;
%}
%typemap(in) std::shared_ptr<Class > (std::shared_ptr<Class > held) {
  if (!to_shared($input, $descriptor(std::shared_ptr<Class > *), held,
                 {"$symname", "$1_name"})) {
    SWIG_fail;
  }
  $1 = std::move(held);
}
%typemap(in) const std::shared_ptr<Class > & (std::shared_ptr<Class > held) {
  if (!to_shared($input, $descriptor(std::shared_ptr<Class > *), held,
                 {"$symname", "$1_name"})) {
    SWIG_fail;
  }
  $1 = &held;
}
// SWIG's own typemaps for plain pointers to it let None through.
%typemap(check) Class *, Class & {
  if (!$1) {
    pkg::python::refuse({"$symname", "$1_name"}, "an object, not None", Py_None);
    SWIG_fail;
  }
}
%enddef

%{
namespace {

bool to_pointer(PyObject *object, swig_type_info *type, int flags, void **pointer,
                int *own, const pkg::python::Argument &where) {
  const int result =
      SWIG_ConvertPtrAndOwn(object, pointer, type, flags | SWIG_POINTER_NO_NULL, own);
  if (SWIG_IsOK(result)) return true;
  SwigPyObject *inside = SWIG_Python_GetSwigThis(object);
  PyErr_Clear();
  if (inside && inside->ty == &no_type) {
    PyErr_Format(PyExc_TypeError,
                 "[%s] expected an initialised %s for '%s'. Call super().__init__() first.",
                 where.function, Py_TYPE(object)->tp_name, where.text().c_str());
    return false;
  }
  auto *data = static_cast<SwigPyClientData *>(type->clientdata);
  const std::string full = data && data->pytype ? data->pytype->tp_name
                                                : SWIG_TypePrettyName(type);
  return pkg::python::refuse(where, full.substr(full.rfind('.') + 1), object);
}

// How to get at the object behind the std::shared_ptr of each such class.
using Pointee = const void *(*)(const void *shared);
std::unordered_map<swig_type_info *, Pointee> *pointees() {
  static auto *map = new std::unordered_map<swig_type_info *, Pointee>;
  return map;
}

template <class T>
bool note_shared(const char *name) {
  swig_type_info *type = SWIG_TypeQuery(name);
  if (!type) return PyErr_Format(PyExc_SystemError, "SWIG has no type %s", name), false;
  (*pointees())[type] = [](const void *shared) -> const void * {
    return static_cast<const std::shared_ptr<T> *>(shared)->get();
  };
  return true;
}

// The shared C++ object of a Python one; null when it has none.
const void *pointee_of(PyObject *object) {
  SwigPyObject *inside = SWIG_Python_GetSwigThis(object);
  const auto found = inside ? pointees()->find(inside->ty) : pointees()->end();
  return found == pointees()->end() || !inside->ptr ? nullptr : found->second(inside->ptr);
}

// What a class did before it was repaired.
struct Unrepaired {
  destructor dealloc;
  richcmpfunc compare;
  hashfunc hash;
};
std::unordered_map<PyTypeObject *, Unrepaired> *unrepaired() {
  static auto *map = new std::unordered_map<PyTypeObject *, Unrepaired>;
  return map;
}
const Unrepaired &unrepaired(PyTypeObject *type) {
  while (!unrepaired()->count(type)) type = type->tp_base;
  return unrepaired()->at(type);
}

PyObject *compare_pointees(PyObject *self, PyObject *other, int op) {
  if (op == Py_EQ || op == Py_NE) {
    const void *mine = pointee_of(self);
    if (mine && mine == pointee_of(other)) return PyBool_FromLong(op == Py_EQ);
  }
  PyErr_Clear();  // `other` was asked whether it is one of SWIG's
  return unrepaired(Py_TYPE(self)).compare(self, other, op);
}

Py_hash_t hash_pointee(PyObject *self) {
  const void *mine = pointee_of(self);
  if (!mine) return unrepaired(Py_TYPE(self)).hash(self);
  return Py_hash_t(reinterpret_cast<uintptr_t>(mine) >> 4);  // never -1
}

// SWIG's deallocator forgets that the object referred to its class.
void dealloc_and_drop_class(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  unrepaired(type).dealloc(self);
  Py_DECREF(type);
}

void repair_class(PyTypeObject *type) {
  // Class attributes can be set again, and Generic, ABC and dataclass work.
  SwigPyBuiltin_SetMetaType(type, &PyType_Type);
  (*unrepaired())[type] = {type->tp_dealloc, type->tp_richcompare, type->tp_hash};
  type->tp_dealloc = dealloc_and_drop_class;
  type->tp_richcompare = compare_pointees;
  type->tp_hash = hash_pointee;
  // Objects of the class itself have no __dict__; those of Python subclasses get one
  // from Python, which its cycle collector knows.
  type->tp_dictoffset = 0;
  PyDict_DelItemString(type->tp_dict, "__dict__");
  PyErr_Clear();
  PyType_Modified(type);
}

}  // namespace
%}

%define PKG_REPAIR_CLASSES
%init %{
  for (size_t k = 0; k < swig_module.size; ++k) {
    auto *data = static_cast<SwigPyClientData *>(swig_module.types[k]->clientdata);
    if (data && data->pytype && Py_TYPE(data->pytype) == metatype) {
      repair_class(data->pytype);
    }
  }
%}
%enddef

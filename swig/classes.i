// classes.i: classes that SWIG wraps (-builtin), without the faults of its own ones.
// %include it after types.i, and end the interface with PKG_REPAIR_CLASSES; a class held
// by std::shared_ptr is announced with PKG_SHARED(Class).  The package itself has no such
// class; tests/border/ shows the use, tests/test_swig_faults.py each repair.
//
// Repaired: None for a pointer (a crash), wrong objects (SWIG's own error format), use
// before __init__ (a crash), class attributes in Python subclasses (refused by SWIG's
// metaclass), cycles through an instance's __dict__ (never collected), and one reference
// to the class leaked by each object.
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

// SWIG's deallocator of each class, which forgets that the object referred to its class.
std::unordered_map<PyTypeObject *, destructor> *deallocators() {
  static auto *map = new std::unordered_map<PyTypeObject *, destructor>;
  return map;
}

void dealloc_and_drop_class(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self), *wrapped = type;
  while (!deallocators()->count(wrapped)) wrapped = wrapped->tp_base;
  deallocators()->at(wrapped)(self);
  Py_DECREF(type);
}

void repair_class(PyTypeObject *type) {
  // Class attributes can be set again, and Generic, ABC and dataclass work.
  SwigPyBuiltin_SetMetaType(type, &PyType_Type);
  (*deallocators())[type] = type->tp_dealloc;
  type->tp_dealloc = dealloc_and_drop_class;
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

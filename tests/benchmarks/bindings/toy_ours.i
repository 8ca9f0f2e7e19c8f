// SPDX-License-Identifier: Apache-2.0
// toy_ours.i: toy.h by SWIG as pkg uses it: the package's own options, typemaps
// (swig/types.i), exception handling (swig/errors.i) and METH_FASTCALL.  What the
// package has no need for so far (vectors, callables, classes) is added here.
%module toy_swig_ours

%include "errors.i"
%include "types.i"

// Slots take no keywords, and SWIG's output would not compile.
%feature("kwargs", "0") operator+;
%feature("kwargs", "0") operator==;

%{
#include "toy.h"

#include <stdexcept>

namespace {

using pkg::python::PyRef;

// The Python error is set, and stays so until the wrapper returns.
struct PythonFailed {};

// A Python callable, to be called from any thread.
struct PythonFunction {
  PyRef callable;

  double operator()(double x) const {
    pkg::python::GilAcquire gil;
    PyRef argument(PyFloat_FromDouble(x));
    PyObject *arguments[] = {nullptr, argument.get()};
    PyRef result(argument ? PyObject_Vectorcall(
                                callable.get(), arguments + 1,
                                1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)
                          : nullptr);
    const double value = result ? PyFloat_AsDouble(result.get()) : -1.0;
    if (value == -1.0 && PyErr_Occurred()) throw PythonFailed();
    return value;
  }
};

bool to_vector(PyObject *object, std::vector<double> &values,
               pkg::python::Argument where) {
  if (!PySequence_Check(object) || PyUnicode_Check(object)) {
    return pkg::python::refuse(where, "a sequence of numbers", object);
  }
  PyRef items(PySequence_Fast(object, "not a sequence"));
  if (!items) return false;
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(items.get());
  values.resize(size_t(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(items.get(), i);
    if (pkg::python::to_cpp(item, values[size_t(i)], where)) continue;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      const std::string name = where.name + ("[" + std::to_string(i) + "]");
      pkg::python::refuse({where.function, name.c_str()}, "a number", item);
    }
    return false;
  }
  return true;
}

PyObject *to_list(const std::vector<double> &values) {
  PyRef list(PyList_New(Py_ssize_t(values.size())));
  if (!list) return nullptr;
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject *item = PyFloat_FromDouble(values[i]);
    if (!item) return nullptr;
    PyList_SET_ITEM(list.get(), Py_ssize_t(i), item);
  }
  return list.release();
}

}  // namespace

// The package's table (swig/python/py_error.cc) needs its core library; this is the
// same for the classes that toy.h throws.
void pkg::python::translate() noexcept {
  try {
    throw;
  } catch (const PythonFailed &) {
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::invalid_argument &error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
}
%}

%typemap(in) const std::vector<double> & (std::vector<double> converted) {
  if (!to_vector($input, converted, {"$symname", "$1_name"})) SWIG_fail;
  $1 = &converted;
}
%typemap(out) std::vector<double> { $result = to_list($1); }
%typemap(in) const std::function<double(double)> & (std::function<double(double)> f) {
  if (!PyCallable_Check($input)) {
    pkg::python::refuse({"$symname", "$1_name"}, "a callable", $input);
    SWIG_fail;
  }
  f = PythonFunction{PyRef::borrow($input)};
  $1 = &f;
}

// An object whose __init__ was not called has no type as yet, which SWIG would follow.
%{
#ifdef __cplusplus
static swig_type_info no_type = {"an object without __init__", nullptr, nullptr,
                                 nullptr, nullptr, 0};
static PyObject *safe_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  PyObject *self = PyType_GenericNew(type, args, keywords);
  if (self) ((SwigPyObject *)self)->ty = &no_type;
  return self;
}
#endif
%}
%feature("python:tp_new") toy::Point "safe_new";

%include "toy.h"

// SWIG's metaclass refuses new class attributes, in Python subclasses too.
%init %{
  for (size_t k = 0; k < swig_module.size; ++k) {
    SwigPyClientData *data = (SwigPyClientData *)swig_module.types[k]->clientdata;
    if (!data || !data->pytype || Py_TYPE(data->pytype) != metatype) continue;
    SwigPyBuiltin_SetMetaType(data->pytype, &PyType_Type);
    PyType_Modified(data->pytype);
  }
%}

// SPDX-License-Identifier: Apache-2.0
// swigkit/call.h: calls of overloaded functions.  The functions with one signature are
// called by what swig/kit/build/step.py writes, with fastcall.h alone.
#pragma once

#include "argument.h"
#include "fastcall.h"
#include "objects.h"

#include <algorithm>

namespace [[gnu::visibility("hidden")]] swigkit {

/// What an argument is, as far as its type alone tells it.
enum ArgumentKind : unsigned {
  kUnknown = 0,
  kInt = 1,
  kFloat = 2,
  kText = 4,
  kBool = 8,
  kSequence = 16,  // a list or a tuple
  kDict = 32,
  kObject = 64,  // of a wrapped class
};
inline unsigned kind_of(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  if (type == &PyLong_Type) return kInt;
  if (type == &PyFloat_Type) return kFloat;
  if (type == &PyUnicode_Type) return kText;
  if (type == &PyBool_Type) return kBool;
  if (type == &PyList_Type || type == &PyTuple_Type) return kSequence;
  if (type == &PyDict_Type) return kDict;
  return is_instance(object) ? kObject : kUnknown;
}

/// One signature of an overloaded function.
struct Overload {
  Parameters parameters;
  PyObject* (*run)(PyObject* self, PyObject** slots, Matching* matching);
  const char* signature;  // for errors: "(a: int, b: float = 1.5)"
  unsigned refused;       // kinds that its first parameter does not take as they are
};

inline constexpr Py_ssize_t kMaxParameters = 32;

/// The arguments in their slots; false, without an error, when they do not fit.
inline bool fit(const Parameters& p, PyObject* const* args, Py_ssize_t nargs,
                PyObject* keywords, PyObject** slots) {
  if (!keywords && nargs == p.total && nargs == p.positional) {
    if (nargs == 1) return slots[0] = args[0], true;  // operators
    for (Py_ssize_t i = 0; i < nargs; ++i) slots[i] = args[i];
    return true;
  }
  if (nargs > p.positional) return false;
  for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < nargs ? args[i] : nullptr;
  const Py_ssize_t given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  Py_ssize_t guess = nargs;
  for (Py_ssize_t k = 0; k < given; ++k) {
    const Py_ssize_t at = find_parameter(p, PyTuple_GET_ITEM(keywords, k), guess);
    if (at == p.total || slots[at]) return false;
    slots[at] = args[nargs + k];
    guess = at + 1;
  }
  for (Py_ssize_t i = 0; i < p.required; ++i) {
    if (!slots[i]) return false;
  }
  return true;
}

[[gnu::cold, gnu::noinline]] inline PyObject* refuse_overloads(const Overload* overloads,
                                                               size_t count,
                                                               PyObject* const* args,
                                                               Py_ssize_t nargs,
                                                               PyObject* keywords) {
  const char* function = overloads->parameters.function;
  std::string text = std::string(function) + "(): no overload takes (";
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < nargs + named; ++i) {
    if (i) text += ", ";
    if (i >= nargs) {
      const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(keywords, i - nargs));
      text += std::string(name ? name : "?") + "=";
      if (!name) PyErr_Clear();
    }
    text += Py_TYPE(args[i])->tp_name;
  }
  text += "). There are:";
  for (size_t k = 0; k < count; ++k) {
    const auto same = [&](const Overload& other) {  // one for const objects, and another
      return std::strcmp(other.signature, overloads[k].signature) == 0;
    };
    if (std::any_of(overloads, overloads + k, same)) continue;
    text += std::string("\n    ") + function + overloads[k].signature;
  }
  PyErr_SetString(PyExc_TypeError, text.c_str());
  return nullptr;
}

/// Calls the first overload that takes the arguments as they are, else the first that
/// can convert them.  `self` stands before them, or is null; `operator_`: NotImplemented
/// instead of an error.
inline PyObject* call_overload(const Overload* overloads, size_t count, PyObject* object,
                               PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* keywords, bool is_operator = false) {
  PyObject* slots[kMaxParameters + 1];
  slots[0] = self;
  const unsigned kind = nargs > 0 ? kind_of(args[0]) : kUnknown;
  for (const bool exact : {true, false}) {
    for (size_t k = 0; k < count; ++k) {
      const Overload& one = overloads[k];
      if (exact && (one.refused & kind)) continue;
      if (!fit(one.parameters, args, nargs, keywords, slots + (self != nullptr))) continue;
      Matching matching{exact, false, is_operator};
      PyObject* result = one.run(object, slots, &matching);
      if (!matching.refused) return result;
    }
  }
  if (is_operator) Py_RETURN_NOTIMPLEMENTED;
  return refuse_overloads(overloads, count, args, nargs, keywords);
}

}  // namespace swigkit

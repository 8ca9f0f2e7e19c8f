// SPDX-License-Identifier: Apache-2.0
// swig/python/fastcall.h: sorts the arguments of a METH_FASTCALL function into slots, one
// per parameter.  Called by SWIG's wrapper as swig/build/fastcall.py rewrites it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace pkg::python {

/// A wrapped function's parameters: `names` (ASCII) or, without keywords, null.
struct Parameters {
  const char* function;
  char* const* names;
  Py_ssize_t required;
  Py_ssize_t total;
};

/// The general case of take_arguments.
[[gnu::noinline]] inline bool sort_arguments(const Parameters& p, PyObject* const* args,
                                             Py_ssize_t nargs, PyObject* keywords,
                                             PyObject** slots) {
  if (nargs > p.total) {
    PyErr_Format(PyExc_TypeError, "%s() takes %s %zd argument%s (%zd given)", p.function,
                 p.required == p.total ? "exactly" : "at most", p.total,
                 p.total == 1 ? "" : "s", nargs);
    return false;
  }
  for (Py_ssize_t i = 0; i < nargs; ++i) slots[i] = args[i];
  const Py_ssize_t given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  Py_ssize_t guess = nargs;  // most callers keep the order of the parameters
  for (Py_ssize_t k = 0; k < given; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    Py_ssize_t at = guess;
    if (at >= p.total || PyUnicode_CompareWithASCIIString(name, p.names[at]) != 0) {
      for (at = 0; at < p.total; ++at) {
        if (PyUnicode_CompareWithASCIIString(name, p.names[at]) == 0) break;
      }
    }
    if (at == p.total) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                   p.function, name);
      return false;
    }
    if (slots[at]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'",
                   p.function, name);
      return false;
    }
    slots[at] = args[nargs + k];
    guess = at + 1;
  }
  for (Py_ssize_t i = 0; i < p.required; ++i) {
    if (slots[i]) continue;
    if (p.names) {
      PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (pos %zd)",
                   p.function, p.names[i], i + 1);
    } else {
      PyErr_Format(PyExc_TypeError, "%s() takes %s %zd argument%s (%zd given)",
                   p.function, p.required == p.total ? "exactly" : "at least",
                   p.required, p.required == 1 ? "" : "s", nargs);
    }
    return false;
  }
  return true;
}

/// Puts the arguments (borrowed) into `slots`, null where none was given; false with
/// TypeError set when they do not fit.  `keywords` may be null, as the interpreter passes.
inline bool take_arguments(const Parameters& p, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* keywords, PyObject** slots) {
  if (!keywords && nargs >= p.required && nargs <= p.total) {
    for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < nargs ? args[i] : nullptr;
    return true;
  }
  for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = nullptr;
  return sort_arguments(p, args, nargs, keywords, slots);
}

}  // namespace pkg::python

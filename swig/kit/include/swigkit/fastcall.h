// SPDX-License-Identifier: Apache-2.0
// swigkit/fastcall.h: sorts the arguments of a METH_FASTCALL function into slots,
// one per parameter.  Called by SWIG's wrapper as swig/build/fastcall.py rewrites it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <atomic>
#include <cstring>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A parameter's name: the text (ASCII), and the interned string once it was needed.
struct Name {
  const char* text;
  std::atomic<PyObject*> interned{nullptr};

  /// The interned string; null, without an error, if there is no memory for it.
  PyObject* object() {
    PyObject* known = interned.load(std::memory_order_acquire);
    if (!known) {
      known = PyUnicode_InternFromString(text);  // kept as long as the process
      if (!known) PyErr_Clear();
      interned.store(known, std::memory_order_release);
    }
    return known;
  }
};

/// A wrapped function's parameters; `names` is null when it takes no keywords.
struct Parameters {
  const char* function;
  Name* names;
  Py_ssize_t required;
  Py_ssize_t total;
};

/// TypeError: the number of arguments is wrong.
[[gnu::cold, gnu::noinline]] inline bool refuse_count(const Parameters& p,
                                                      Py_ssize_t given) {
  const bool too_many = given > p.total;
  const Py_ssize_t wanted = too_many ? p.total : p.required;
  PyErr_Format(PyExc_TypeError, "%s() takes %s %zd argument%s (%zd given)", p.function,
               p.required == p.total ? "exactly"
               : too_many            ? "at most"
                                     : "at least",
               wanted, wanted == 1 ? "" : "s", given);
  return false;
}

/// Whether it is this name; "from_" is also "from", which is a word of Python's.
inline bool is_name(PyObject* name, const char* text) {
  if (PyUnicode_CompareWithASCIIString(name, text) == 0) return true;
  const size_t size = std::strlen(text);
  Py_ssize_t given;
  if (text[size - 1] != '_') return false;
  const char* utf8 = PyUnicode_AsUTF8AndSize(name, &given);
  if (!utf8) PyErr_Clear();
  return utf8 && size_t(given) == size - 1 && std::strncmp(utf8, text, size - 1) == 0;
}

/// The place of a parameter, p.total if there is none of this name.  Begins at `guess`.
inline Py_ssize_t find_parameter(const Parameters& p, PyObject* name, Py_ssize_t guess) {
  // Callers nearly always pass the interned string itself.
  for (Py_ssize_t i = guess; i < p.total; ++i) {
    if (p.names[i].object() == name) return i;
  }
  for (Py_ssize_t i = 0; i < p.total; ++i) {
    if (is_name(name, p.names[i].text)) return i;
  }
  return p.total;
}

/// Puts one keyword argument into its slot.  `guess` is where it is likely to belong,
/// and becomes the place after it.
inline bool take_keyword(const Parameters& p, PyObject* name, PyObject* value,
                         Py_ssize_t& guess, PyObject** slots) {
  const Py_ssize_t at = find_parameter(p, name, guess);
  if (at == p.total) {
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                 p.function, name);
    return false;
  }
  if (slots[at]) {
    PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", p.function,
                 name);
    return false;
  }
  slots[at] = value;
  guess = at + 1;
  return true;
}

/// True when every argument that must be given was.
inline bool check_required(const Parameters& p, PyObject* const* slots) {
  for (Py_ssize_t i = 0; i < p.required; ++i) {
    if (slots[i]) continue;
    PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (pos %zd)",
                 p.function, p.names[i].text, i + 1);
    return false;
  }
  return true;
}

/// The general case of take_arguments.
[[gnu::noinline]] inline bool sort_arguments(const Parameters& p, PyObject* const* args,
                                             Py_ssize_t nargs, PyObject* keywords,
                                             PyObject** slots) {
  if (nargs > p.total || !p.names) return refuse_count(p, nargs);
  for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < nargs ? args[i] : nullptr;
  const Py_ssize_t given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  Py_ssize_t guess = nargs;  // most callers keep the order of the parameters
  for (Py_ssize_t k = 0; k < given; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keywords, k);
    if (!take_keyword(p, name, args[nargs + k], guess, slots)) return false;
  }
  return check_required(p, slots);
}

/// Puts the arguments (borrowed) into `slots`, null where none was given; false with
/// TypeError set when they do not fit.  `keywords` may be null, as the interpreter
/// passes.
inline bool take_arguments(const Parameters& p, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* keywords, PyObject** slots) {
  if (!keywords && nargs >= p.required && nargs <= p.total) {
    for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < nargs ? args[i] : nullptr;
    return true;
  }
  return sort_arguments(p, args, nargs, keywords, slots);
}

/// The same for a constructor, which gets a tuple, and a dict or null.
inline bool take_tuple(const Parameters& p, PyObject* args, PyObject* keywords,
                       PyObject** slots) {
  PyObject* const* items = &PyTuple_GET_ITEM(args, 0);
  const Py_ssize_t nargs = PyTuple_GET_SIZE(args);
  if (!keywords) return take_arguments(p, items, nargs, nullptr, slots);
  if (nargs > p.total) return refuse_count(p, nargs);
  for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < nargs ? items[i] : nullptr;
  Py_ssize_t guess = nargs, position = 0;
  PyObject *name, *value;
  while (PyDict_Next(keywords, &position, &name, &value)) {
    if (!take_keyword(p, name, value, guess, slots)) return false;
  }
  return check_required(p, slots);
}

}  // namespace swigkit

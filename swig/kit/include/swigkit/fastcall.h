// SPDX-License-Identifier: Apache-2.0
// swigkit/fastcall.h: sorts the arguments of a METH_FASTCALL function into slots,
// one per parameter.  Called by what swig/kit/build/step.py writes.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <atomic>
#include <cstring>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A parameter's name: the text (ASCII), and the interned string once it was needed.  That
/// of one that is positional only begins with '/', so that no keyword is equal to it.
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
  Py_ssize_t positional;  // how many may be passed by position
  bool rest = false;      // further ones are taken too, as Args
};

/// TypeError: the number of arguments is wrong.
[[gnu::cold, gnu::noinline]] inline bool refuse_count(const Parameters& p,
                                                      Py_ssize_t given) {
  const bool too_many = given > p.positional;
  const Py_ssize_t wanted = too_many ? p.positional : p.required;
  PyErr_Format(PyExc_TypeError, "%s() takes %s %zd %sargument%s (%zd given)", p.function,
               p.required == p.total ? "exactly"
               : too_many            ? "at most"
                                     : "at least",
               wanted, p.positional < p.total ? "positional " : "", wanted == 1 ? "" : "s",
               given);
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
                 p.function, p.names[i].text + (*p.names[i].text == '/'), i + 1);
    return false;
  }
  return true;
}

/// The general case of take_arguments.
[[gnu::noinline]] inline bool sort_arguments(const Parameters& p, PyObject* const* args,
                                             Py_ssize_t nargs, PyObject* keywords,
                                             PyObject** slots) {
  if ((nargs > p.positional && !p.rest) || !p.names) return refuse_count(p, nargs);
  const Py_ssize_t placed = nargs < p.positional ? nargs : p.positional;
  for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < placed ? args[i] : nullptr;
  const Py_ssize_t given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  Py_ssize_t guess = placed;  // most callers keep the order of the parameters
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
  if (!keywords && nargs >= p.required && nargs <= p.positional) {
    for (Py_ssize_t i = 0; i < p.total; ++i) slots[i] = i < nargs ? args[i] : nullptr;
    return true;
  }
  return sort_arguments(p, args, nargs, keywords, slots);
}

/// What stands beyond the first `count` positional arguments, as a tuple.
inline PyObject* rest_of(PyObject* const* args, Py_ssize_t nargs, Py_ssize_t count) {
  PyObject* tuple = PyTuple_New(nargs > count ? nargs - count : 0);
  for (Py_ssize_t i = count; tuple && i < nargs; ++i) {
    Py_INCREF(args[i]);
    PyTuple_SET_ITEM(tuple, i - count, args[i]);
  }
  return tuple;
}

}  // namespace swigkit

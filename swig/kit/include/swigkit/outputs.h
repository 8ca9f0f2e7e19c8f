// SPDX-License-Identifier: Apache-2.0
// swigkit/outputs.h: results of functions that write into their parameters.
#pragma once

#include "results.h"

#include <array>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Where C++ writes an output, a value of nothing before, of a parameter of this type.
template <class Parameter>
struct Output;
template <class T>
struct Output<T*> {
  T value{};
  T* pointer() { return &value; }
};
template <class T>
struct Output<T&> : Output<T*> {};
template <class T, size_t size>
struct Output<T[size]> {
  std::array<T, size> value{};
  T* pointer() { return value.data(); }
};

namespace detail {
template <class Parameter>
struct Pointee : std::type_identity<std::remove_cv_t<std::remove_pointer_t<Parameter>>> {};
template <class T>
struct Pointee<T&> : std::type_identity<std::remove_cv_t<T>> {};
template <class T, size_t size>
struct Pointee<T[size]> : std::type_identity<std::array<std::remove_cv_t<T>, size>> {};
}  // namespace detail
/// What a parameter of a name that others have for outputs is read from.
template <class Parameter>
using Pointee = typename detail::Pointee<Parameter>::type;

/// Where an override's output goes.
template <class T>
T& written(T& parameter) {
  return parameter;
}
template <class T>
T& written(T*& parameter) {
  return *parameter;
}

/// What an override returned where C++ gets several values.
class Items {
 public:
  Items(PyObject* result, Py_ssize_t count, const Argument& where)
      : tuple_(PyRef::borrow(result)) {
    if (PyTuple_Check(result) && PyTuple_GET_SIZE(result) == count) return;
    refuse(where, "a tuple of " + std::to_string(count), result);
    throw_python_error();
  }
  PyObject* operator[](Py_ssize_t i) const { return PyTuple_GET_ITEM(tuple_.get(), i); }

 private:
  PyRef tuple_;
};

/// Of one call.
class Outputs {
 public:
  /// The result with one more output, a new reference for both: a lone one is itself,
  /// several are a tuple.
  PyObject* add(PyObject* result, PyObject* output, bool is_void) {
    PyRef before(result), last(output);
    if (!result || !output) return nullptr;
    if (!std::exchange(begun_, true) && is_void) return last.release();
    // A result that C++ gives as a tuple is one item.
    const bool more = std::exchange(grown_, true);
    const Py_ssize_t size = more ? PyTuple_GET_SIZE(result) : 1;
    PyObject* tuple = PyTuple_New(size + 1);
    if (!tuple) return nullptr;
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyTuple_SET_ITEM(tuple, i, new_ref(more ? PyTuple_GET_ITEM(result, i) : result));
    }
    PyTuple_SET_ITEM(tuple, size, last.release());
    return tuple;
  }

 private:
  bool begun_ = false;
  bool grown_ = false;
};

}  // namespace swigkit

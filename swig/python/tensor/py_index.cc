// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_index.cc: x[key] and x[key] = value: Python's keys taken apart.
#include "ops/functions.h"
#include "ops/indexing.h"
#include "py_tensor.h"

namespace pkg::python {
namespace {

bool is_sequence(PyObject* key) { return PyList_Check(key) || PyTuple_Check(key); }

// Neither None, ..., a slice, an int nor a tensor: what makes a key's part an array.
bool is_array_like(PyObject* part) {
  return part != Py_None && part != Py_Ellipsis && !PySlice_Check(part) &&
         !PyLong_CheckExact(part) && !is_tensor(part);
}

Tensor index_from(PyObject* part) {
  try {
    return tensor_from_data(part, std::nullopt);
  } catch (const IntTooBig& error) {
    throw error.named("index", "key");
  } catch (const TypeError& error) {
    Indexing::refuse(Py_TYPE(part)->tp_name, error.message());
  } catch (const PyError& error) {  // of pkg/arrays.py
    error.restore();
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw_python_error();
    PyErr_Clear();
    Indexing::refuse(Py_TYPE(part)->tp_name, error.message());
  }
}

// A part of a key as one of the five: numbers become ints, all else tensors.
PyObject* as_part(PyObject* part) {
  // Arrays have __index__, too: those of one integer answer, but keep their dimensions.
  if (!PyBool_Check(part) && PyIndex_Check(part) && is_dimensionless(part)) {
    if (PyObject* number = call_python(PyNumber_Index, part)) return number;
    if (!is_array(part)) throw_python_error();
    PyErr_Clear();
  }
  Tensor index = index_from(part);
  if (is_sequence(part) && index.numel() == 0) {
    index = ops::to_dtype(index, DType::Int64);  // x[[]]
  }
  return wrap(index);
}

// The key as a tuple of None, ..., slices, ints and tensors.
PyRef parts_of(PyObject* key) {
  PyRef tuple(PyTuple_Check(key) ? (Py_INCREF(key), key) : checked(PyTuple_Pack(1, key)));
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple.get());
  bool ready = true;
  for (Py_ssize_t i = 0; i < n; ++i) {
    ready = ready && !is_array_like(PyTuple_GET_ITEM(tuple.get(), i));
  }
  if (ready) return tuple;
  return PyRef(make_tuple(size_t(n), [&](size_t i) {
    PyObject* part = PyTuple_GET_ITEM(tuple.get(), i);
    return is_array_like(part) ? as_part(part) : new_ref(part);
  }));
}

int64_t dims_used(PyObject* part) {
  if (part == Py_None || part == Py_Ellipsis) return 0;
  return is_tensor(part) ? Indexing::dims_of(unwrap(part)) : 1;
}

std::optional<int64_t> bound(PyObject* value) {
  if (value == Py_None) return std::nullopt;
  const Py_ssize_t n = call_python(PyNumber_AsSsize_t, value, nullptr);
  if (n == -1 && PyErr_Occurred()) throw_python_error();
  return n;
}

Indexing applied(const Tensor& self, PyObject* key) {
  const PyRef keys = parts_of(key);
  const Py_ssize_t n = PyTuple_GET_SIZE(keys.get());
  int64_t dims = 0;
  for (Py_ssize_t i = 0; i < n; ++i) dims += dims_used(PyTuple_GET_ITEM(keys.get(), i));
  Indexing at(self, dims);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* part = PyTuple_GET_ITEM(keys.get(), i);
    if (part == Py_Ellipsis) {
      at.ellipsis();
    } else if (part == Py_None) {
      at.new_dim();
    } else if (PySlice_Check(part)) {
      auto* s = reinterpret_cast<PySliceObject*>(part);
      const int64_t step = bound(s->step).value_or(1);
      at.slice(bound(s->start), bound(s->stop), step);
    } else if (!is_tensor(part) || Indexing::is_number(unwrap(part))) {
      at.select(*bound(part));
    } else {
      at.index(unwrap(part));
    }
  }
  return at;
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* key) {
  return guarded([&] { return wrap(applied(unwrap(self), key).get()); });
}

int tensor_setitem(PyObject* self, PyObject* key, PyObject* value) {
  const auto put = [&] {
    PKG_CHECK(value, TypeError, "Tensor does not support deleting items");
    Tensor source;
    try {
      if (!parse_tensor(value, &source)) source = tensor_from_data(value, std::nullopt);
    } catch (const IntTooBig& error) { throw error.named("__setitem__", "value"); }
    applied(unwrap(self), key).put(std::move(source));
    return 0;
  };
  return guarded(put, -1);
}

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_index.cc: x[key] and x[key] = value as sequences of ops.
#include "ops/functions.h"
#include "py_tensor.h"

namespace pkg::python {
namespace {

bool is_sequence(PyObject* key) { return PyList_Check(key) || PyTuple_Check(key); }

// The basic part of a key applied as views; advanced indices are left in `indices`,
// one per dimension of the view they belong to.
struct Indexed {
  Tensor view;
  TensorList indices;  // undefined: the dimension is kept
  bool advanced = false;
};

// Neither None, ..., a slice, an int nor a tensor: what makes a key's part an array.
bool is_array_like(PyObject* part) {
  return part != Py_None && part != Py_Ellipsis && !PySlice_Check(part) &&
         !PyLong_CheckExact(part) && !is_tensor(part);
}

[[noreturn]] void refuse_part(PyObject* part, const Error& error) {
  detail::raise<IndexError>("[index] expected ints, slices, ..., None, or Tensors, arrays "
                            "or lists of ints or bools as indices, got ",
                            Py_TYPE(part)->tp_name, ": ", error.message());
}

Tensor index_from(PyObject* part) {
  try {
    return tensor_from_data(part, std::nullopt);
  } catch (const IntTooBig& error) {
    throw error.named("index", "key");
  } catch (const TypeError& error) {
    refuse_part(part, error);
  } catch (const PyError& error) {  // of pkg/arrays.py
    error.restore();
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw_python_error();
    PyErr_Clear();
    refuse_part(part, error);
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
  PyRef parts(checked(PyTuple_New(n)));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* part = PyTuple_GET_ITEM(tuple.get(), i);
    if (is_array_like(part)) part = as_part(part);
    else Py_INCREF(part);
    PyTuple_SET_ITEM(parts.get(), i, part);
  }
  return parts;
}

int64_t dims_used(PyObject* part) {
  if (part == Py_None || part == Py_Ellipsis) return 0;
  if (is_tensor(part) && unwrap(part).dtype() == DType::Bool) return unwrap(part).ndim();
  return 1;
}

std::optional<int64_t> bound(PyObject* value) {
  if (value == Py_None) return std::nullopt;
  const Py_ssize_t n = call_python(PyNumber_AsSsize_t, value, nullptr);
  if (n == -1 && PyErr_Occurred()) throw_python_error();
  return n;
}

// One integer: it selects, as an int does, and its dimension is gone.
bool is_number(PyObject* part) {
  return !is_tensor(part) ||
         (unwrap(part).ndim() == 0 && unwrap(part).dtype() != DType::Bool &&
          !is_floating(unwrap(part).dtype()));
}

Indexed apply(const Tensor& self, PyObject* key) {
  const PyRef keys = parts_of(key);
  const Py_ssize_t n = PyTuple_GET_SIZE(keys.get());
  int64_t used = 0;
  for (Py_ssize_t i = 0; i < n; ++i) used += dims_used(PyTuple_GET_ITEM(keys.get(), i));
  PKG_CHECK(used <= self.ndim(), IndexError, "too many indices for tensor of dimension ",
            self.ndim());
  Indexed out{self, {}, false};
  int64_t dim = 0;
  const auto keep = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) out.indices.push_back(Tensor());
    dim += count;
  };
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* part = PyTuple_GET_ITEM(keys.get(), i);
    if (part == Py_Ellipsis) {
      keep(self.ndim() - used);
    } else if (part == Py_None) {
      out.view = ops::unsqueeze(out.view, dim);
      keep(1);
    } else if (PySlice_Check(part)) {
      auto* s = reinterpret_cast<PySliceObject*>(part);
      const int64_t step = bound(s->step).value_or(1);
      if (s->start != Py_None || s->stop != Py_None || step != 1) {
        out.view = ops::slice(out.view, dim, bound(s->start), bound(s->stop), step);
      }
      keep(1);
    } else if (is_number(part)) {
      out.view = ops::select(out.view, dim, *bound(part));
    } else {
      Tensor index = unwrap(part);
      out.advanced = true;
      if (index.dtype() == DType::Bool && index.ndim() == 0) {
        // A mask of no dimension keeps all or nothing of a new one.
        out.view = ops::unsqueeze(out.view, dim);
        index = ops::reshape(index, Shape{1});
      }
      out.indices.push_back(index);
      dim += index.dtype() == DType::Bool ? index.ndim() : 1;
    }
  }
  return out;
}

// Without the leading dimensions of size 1 that a value may have in excess.
Tensor without_leading_ones(Tensor value) {
  while (value.ndim() > 0 && value.sizes()[0] == 1) value = ops::select(value, 0, 0);
  return value;
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* key) {
  return guarded([&] {
    const Indexed at = apply(unwrap(self), key);
    if (at.advanced) return wrap(ops::index(at.view, at.indices));
    // x[:] is a new tensor over the same memory, never x itself.
    if (at.view.is_same(unwrap(self))) {
      return wrap(ops::expand(at.view, at.view.sizes()));
    }
    return wrap(at.view);
  });
}

int tensor_setitem(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* done = guarded([&]() -> PyObject* {
    PKG_CHECK(value, TypeError, "Tensor does not support deleting items");
    Tensor source;
    try {
      if (!parse_tensor(value, &source)) { source = tensor_from_data(value, std::nullopt); }
    } catch (const IntTooBig& error) { throw error.named("__setitem__", "value"); }
    const Indexed at = apply(unwrap(self), key);
    if (at.advanced || source.ndim() > at.view.ndim()) {
      source = without_leading_ones(source);
    }
    if (at.advanced) ops::index_put_(at.view, at.indices, source, false);
    else ops::copy_(at.view, source);
    Py_RETURN_NONE;
  });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

}  // namespace pkg::python

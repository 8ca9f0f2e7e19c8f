// SPDX-License-Identifier: Apache-2.0
// swig/python/py_index.cc: x[key] and x[key] = value as sequences of ops.
#include "ops/functions.h"
#include "py_tensor.h"

namespace pkg::python {
namespace {

const Op<Tensor(const Tensor&, const TensorList&)> index_op{"index"};
const Op<Tensor(const Tensor&, const TensorList&, const Tensor&, bool)> index_put_{
    "index_put_"};

bool is_sequence(PyObject* key) { return PyList_Check(key) || PyTuple_Check(key); }

// The basic part of a key applied as views; advanced indices are left in `indices`,
// one per dimension of the view they belong to.
struct Indexed {
  Tensor view;
  TensorList indices;  // undefined: the dimension is kept
  bool advanced = false;
};

int64_t dims_used(PyObject* key) {
  if (key == Py_None || key == Py_Ellipsis || PyBool_Check(key)) return 0;
  if (is_tensor(key) && unwrap(key).dtype() == DType::Bool) return unwrap(key).ndim();
  return 1;
}

Tensor as_index(PyObject* key) {
  Tensor index;
  if (is_tensor(key)) index = unwrap(key);
  else index = tensor_from_data(key, std::nullopt);
  if (index.numel() == 0 && is_floating(index.dtype())) {
    index = ops::to_dtype(index, DType::Int64);  // x[[]]
  }
  return index;
}

std::optional<int64_t> bound(PyObject* value) {
  if (value == Py_None) return std::nullopt;
  const Py_ssize_t n = PyNumber_AsSsize_t(value, nullptr);
  if (n == -1 && PyErr_Occurred()) throw_python_error();
  return n;
}

Indexed apply(const Tensor& self, PyObject* key) {
  PyRef keys;
  if (PyTuple_Check(key)) {
    Py_INCREF(key);
    keys = PyRef(key);
  } else {
    keys = PyRef(checked(PyTuple_Pack(1, key)));
  }
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
    } else if (PyBool_Check(part)) {
      out.view = ops::unsqueeze(out.view, dim);
      out.indices.push_back(ops::reshape(
          ops::to_dtype(Tensor(part == Py_True), DType::Bool), Shape{1}));
      out.advanced = true;
      ++dim;
    } else if (PySlice_Check(part)) {
      auto* s = reinterpret_cast<PySliceObject*>(part);
      const int64_t step = bound(s->step).value_or(1);
      if (s->start != Py_None || s->stop != Py_None || step != 1) {
        out.view = ops::slice(out.view, dim, bound(s->start), bound(s->stop), step);
      }
      keep(1);
    } else if (!is_sequence(part) && !is_tensor(part) && PyIndex_Check(part)) {
      out.view = ops::select(out.view, dim, *bound(part));
    } else if (is_tensor(part) && unwrap(part).ndim() == 0 &&
               unwrap(part).dtype() != DType::Bool) {
      out.view = ops::select(out.view, dim, *bound(part));
    } else {
      const Tensor index = as_index(part);
      out.indices.push_back(index);
      out.advanced = true;
      dim += index.dtype() == DType::Bool ? index.ndim() : 1;
    }
  }
  return out;
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* key) {
  return guarded([&] {
    const Indexed at = apply(unwrap(self), key);
    if (at.advanced) return wrap(index_op(at.view, at.indices));
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
    if (!parse_tensor(value, &source)) source = tensor_from_data(value, std::nullopt);
    const Indexed at = apply(unwrap(self), key);
    if (at.advanced) index_put_(at.view, at.indices, source, false);
    else ops::copy_(at.view, source);
    Py_RETURN_NONE;
  });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/op/py_parse.cc: one Python object to one boxed argument, and results back.
#include "py_operator.h"

namespace pkg::python {
namespace {

// Whether a tensor can stand for an int.
bool counts(const Tensor& t) { return t.ndim() == 0 && is_integral(t.dtype()); }

bool parse_int(PyObject* object, int64_t* out) {
  if (PyLong_CheckExact(object)) {  // nearly always
    *out = PyLong_AsLongLong(object);
    if (*out == -1 && PyErr_Occurred()) throw IntTooBig(object);
    return true;
  }
  // True is no size: x.var(False) means unbiased=False, not dim=0.
  if (PyFloat_Check(object) || PyBool_Check(object) || !PyIndex_Check(object)) return false;
  if (is_tensor(object) && !counts(unwrap(object))) return false;
  PyRef index(call_python(PyNumber_Index, object));
  if (!index) {
    PyErr_Clear();
    return false;
  }
  *out = PyLong_AsLongLong(index.get());
  if (*out == -1 && PyErr_Occurred()) throw IntTooBig(index.get());
  return true;
}

// A number as a double; ints of any length have one, unlike a Scalar's.
bool parse_double(PyObject* object, double* out) {
  Scalar scalar;
  try {
    if (!parse_scalar(object, &scalar)) return false;
    *out = scalar.to<double>();
  } catch (const IntTooBig&) {
    const PyRef index(call_python(PyNumber_Index, object));
    *out = index ? PyLong_AsDouble(index.get()) : -1.0;
    if (*out == -1.0 && PyErr_Occurred()) throw_python_error();
  }
  return true;
}

template <class F>
bool for_each_item(PyObject* object, F f) {
  if (!PyList_Check(object) && !PyTuple_Check(object)) return false;
  // An item's __index__ may change the list, and drop the item itself.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    const PyRef item = PyRef::borrow(PySequence_Fast_GET_ITEM(object, i));
    if (!f(item.get())) return false;
  }
  return true;
}

bool parse_list(const Argument& argument, PyObject* object, Value* out) {
  if (argument.type == ArgType::Tensor) {
    TensorList list;
    const bool fits = for_each_item(object, [&](PyObject* item) {
      if (item == Py_None && argument.optional_item) {
        list.push_back(Tensor());
        return true;
      }
      if (!is_tensor(item)) return false;
      list.push_back(unwrap(item));
      return true;
    });
    if (fits) *out = std::move(list);
    return fits;
  }
  if (argument.type == ArgType::Float) {
    std::vector<double> values;
    const bool fits = for_each_item(object, [&](PyObject* item) {
      double value;
      if (!parse_double(item, &value)) return false;
      values.push_back(value);
      return true;
    });
    if (fits) *out = std::move(values);
    return fits;
  }
  Shape ints;
  int64_t value;
  if (parse_int(object, &value)) {  // one number for all, or a list of one
    *out = Shape(size_t(std::max<int64_t>(argument.length, 1)), value);
    return true;
  }
  const bool fits = for_each_item(object, [&](PyObject* item) {
    if (!parse_int(item, &value)) return false;
    ints.push_back(value);
    return true;
  });
  if (!fits) return false;
  if (ints.size() == 1 && argument.length > 1) {
    *out = Shape(size_t(argument.length), ints[0]);
    return true;
  }
  if (argument.length >= 0 && int64_t(ints.size()) != argument.length) return false;
  *out = std::move(ints);
  return true;
}

}  // namespace

bool parse_value(const Argument& argument, PyObject* object, Value* out) {
  if (object == Py_None && argument.optional) {
    *out = Value();
    return true;
  }
  if (argument.list) return parse_list(argument, object, out);
  switch (argument.type) {
    case ArgType::Tensor: {
      if (is_tensor(object)) {
        *out = unwrap(object);
        return true;
      }
      // What an op writes to must be a real tensor.
      if (argument.written) return false;
      Tensor tensor;
      if (!parse_tensor(object, &tensor)) return false;
      *out = std::move(tensor);
      return true;
    }
    case ArgType::Scalar: {
      Scalar scalar;
      if (!parse_scalar(object, &scalar)) return false;
      *out = scalar;
      return true;
    }
    case ArgType::Int: {
      int64_t value;
      if (!parse_int(object, &value)) return false;
      *out = Scalar(value);
      return true;
    }
    case ArgType::Float: {
      double value;
      if (!parse_double(object, &value)) return false;
      *out = Scalar(value);
      return true;
    }
    case ArgType::Bool: {
      Scalar scalar;
      if (!parse_scalar(object, &scalar) || scalar.is_float()) return false;
      *out = Scalar(scalar.to<bool>());
      return true;
    }
    case ArgType::Str: {
      if (!PyUnicode_Check(object)) return false;
      Py_ssize_t size;
      const char* text = PyUnicode_AsUTF8AndSize(object, &size);
      if (!text) throw_python_error();
      *out = std::string(text, size_t(size));
      return true;
    }
    case ArgType::DType: {
      DType dtype;
      if (!load_dtype(object, dtype)) return false;
      *out = dtype;
      return true;
    }
    case ArgType::Device: {
      Device device;
      if (!load_device(object, device)) return false;
      *out = device;
      return true;
    }
  }
  return false;
}

PyObject* wrap_value(Value&& value) {
  if (auto* tensor = std::get_if<Tensor>(&value)) return wrap(std::move(*tensor));
  if (auto* list = std::get_if<TensorList>(&value)) return wrap_list(*list);
  if (auto* scalar = std::get_if<Scalar>(&value)) return wrap_scalar(*scalar);
  if (auto* shape = std::get_if<Shape>(&value)) return wrap_shape(*shape);
  if (auto* dtype = std::get_if<DType>(&value)) return wrap_dtype(*dtype);
  if (auto* text = std::get_if<std::string>(&value)) {
    return PyUnicode_FromStringAndSize(text->data(), Py_ssize_t(text->size()));
  }
  Py_RETURN_NONE;
}

}  // namespace pkg::python

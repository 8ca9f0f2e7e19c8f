// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_new.cc: tensor(data) from numbers, nested sequences, arrays and tensors.
#include <string_view>

#include "functions.h"
#include "ops/functions.h"
#include "py_tensor.h"
#include "tensor/copy.h"
#include "tensor/layout.h"
#include "tensor/nested_numbers.h"

namespace pkg::python {
namespace {

// The dtype of NumPy scalars; `other` for what has none, or none of ours.  All of a type
// have the same, which is remembered for the next one.
class ScalarTypes {
 public:
  DType dtype_of(PyObject* object, DType other) {
    if (Py_TYPE(object) == type_) return dtype_;
    const bool numpy = std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.");
    if (!numpy) return other;
    const PyRef attribute(call_python(PyObject_GetAttrString, object, "dtype"));
    DType dtype = other;
    if (!attribute) PyErr_Clear();
    else if (!load_dtype(attribute.get(), &dtype)) dtype = other;
    type_ = Py_TYPE(object);
    return dtype_ = dtype;
  }

 private:
  PyTypeObject* type_ = nullptr;  // compared only
  DType dtype_{};
};

// Gives the numbers of `data`, which is inside of `depth` sequences.
void collect(PyObject* data, size_t depth, NestedNumbers& numbers, ScalarTypes& types) {
  const bool plain = PyList_Check(data) || PyTuple_Check(data) || PyUnicode_Check(data) ||
                     PyFloat_CheckExact(data) || PyLong_CheckExact(data);
  const bool tensor = !plain && is_tensor(data);
  const bool sequence = !tensor && PySequence_Check(data) && !PyUnicode_Check(data);
  // What pandas has goes by labels as a sequence, or by columns.
  const bool array = !plain && !tensor && !PyBytes_Check(data) && is_array(data);
  Scalar number;
  if (array && (sequence || !parse_scalar(data, &number))) {
    return numbers.add(depth, over_array(data));
  }
  if (sequence) {
    const Py_ssize_t n = call_python(PySequence_Size, data);
    if (n < 0) throw_python_error();
    numbers.begin(depth, n);
    for (Py_ssize_t i = 0; i < n; ++i) {
      const PyRef entry = check(call_python(PySequence_GetItem, data, i));
      collect(entry.get(), depth + 1, numbers, types);
    }
    return;
  }
  if (tensor && unwrap(data).numel() == 1) {
    return numbers.add(depth, item(unwrap(data)), unwrap(data).dtype());
  }
  PKG_CHECK(parse_scalar(data, &number), TypeError,
            "[tensor] expected numbers or nested sequences of them, got ",
            Py_TYPE(data)->tp_name);
  const DType own = number.dtype();
  numbers.add(depth, number, plain ? own : types.dtype_of(data, own));
}

}  // namespace

Tensor tensor(PyObject* data, std::optional<DType> dtype, std::optional<Device> device,
              bool requires_grad) {
  Tensor made = [&] {
    try {
      return tensor_from_data(data, dtype);
    } catch (const IntTooBig& error) { throw error.named("tensor", "data"); }
  }();
  if (device) made = ops::to_device(made, *device);
  if (requires_grad) set_requires_grad(made, true);
  return made;
}

Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype) {
  if (is_tensor(data) || is_array(data)) {
    PKG_CHECK(!PyBytes_Check(data), TypeError,
              "[tensor] cannot convert bytes; use "
              "from_numpy(numpy.frombuffer(...)).");
    const Tensor source = is_tensor(data) ? unwrap(data) : over_array(data);
    source.wait();
    Tensor copy = empty_as(source, dtype.value_or(source.dtype()), source.device());
    if (!source.is_meta()) copy_into(copy, source);
    return copy;
  }
  NestedNumbers numbers;
  ScalarTypes types;
  collect(data, 0, numbers, types);
  return numbers.tensor(dtype);
}

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_tensor.h: the Python type of a tensor, and tensors from Python.
#pragma once

#include "py_dtype.h"
#include "python/py_error.h"
#include "swigkit/arrays.h"
#include "swigkit/containers.h"
#include "tensor/tensor.h"

namespace pkg::python {

/// A Python tensor is a reference to a C++ one and nothing else.
struct PyTensor {
  PyObject_HEAD PyObject* weakrefs;
  Tensor tensor;
};

/// Base type `_pywrap_core.Tensor`; results are of the class registered by Python.
extern PyTypeObject* g_tensor_base;
extern PyTypeObject* g_tensor_class;

/// TypeError for the tensor of another binding that is loaded beside this one.
void refuse_foreign(PyObject* object);

inline bool is_tensor(PyObject* object) {
  if (Py_TYPE(object) == g_tensor_class) return true;
  if (PyObject_TypeCheck(object, g_tensor_base)) return true;
  // Numbers, strings, lists and arrays, which come often, have static types.
  if (Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) refuse_foreign(object);
  return false;
}
/// The tensor inside; RuntimeError when the object was never initialised.
const Tensor& unwrap(PyObject* object);
/// New reference to the Python object of a tensor; the same object while it lives.
/// An undefined tensor is None.
PyObject* wrap(Tensor tensor);
PyObject* wrap_list(const TensorList& tensors);
PyObject* wrap_scalar(const Scalar& scalar);
PyObject* wrap_shape(const Shape& shape);

/// An int that no dtype holds, thrown before the op and the parameter are known.
class IntTooBig : public OverflowError {
 public:
  /// Takes the number, and the place of Python's own error.
  explicit IntTooBig(PyObject* number);
  OverflowError named(std::string_view function, std::string_view parameter) const;

 private:
  std::string number_;
};

/// Number of Python: bool, int, float, NumPy scalars.
bool parse_scalar(PyObject* object, Scalar* out);
/// Whatever may stand where a Tensor is wanted: a tensor, a number, a NumPy array.
bool parse_tensor(PyObject* object, Tensor* out);

/// A tensor operand of a call in progress: borrowed from its Python object, which the
/// caller keeps alive, or made from a number or an array.
class TensorArg {
 public:
  /// False when the object is nothing of the kind.
  bool parse(PyObject* object) {
    if (is_tensor(object)) {
      tensor_ = &unwrap(object);
      return true;
    }
    tensor_ = &made_;
    return parse_tensor(object, &made_);
  }
  /// Also takes a number, as the dtype it will be computed in beside `other`.
  bool parse_beside(PyObject* object, const Tensor& other);
  const Tensor& operator*() const { return *tensor_; }

 private:
  const Tensor* tensor_ = nullptr;
  Tensor made_;
};

/// Tensors of a tuple or list; None, where it is allowed, is an undefined one.
bool load_tensors(PyObject* sequence, TensorList& list, const Argument& where,
                  bool or_none);
/// Where None is allowed.  One Tensor alone is a list of it.
struct MaybeTensors : TensorList {};

void add_tensor_type(PyObject* module);

// Slots and methods, one table per file.
extern PyType_Slot g_number_slots[];    // py_number.cc, ended by {0, nullptr}
extern PyMethodDef g_tensor_methods[];  // py_methods.cc
extern PyGetSetDef g_tensor_getset[];   // py_methods.cc
PyObject* tensor_getitem(PyObject* self, PyObject* key);             // py_index.cc
int tensor_setitem(PyObject* self, PyObject* key, PyObject* value);  // py_index.cc
PyObject* tensor_dlpack(const Tensor& tensor, std::optional<int64_t> stream,
                        std::optional<std::pair<int, int>> max_version,
                        std::optional<std::pair<int, int>> dl_device,
                        std::optional<bool> copy);  // py_dlpack.cc

/// Tensor over the memory of a NumPy array, or of anything with a buffer; py_memory.cc.
Tensor over_buffer(PyObject* object, bool* read_only = nullptr);
/// Tensor over the values of what is_array(), even if it is a sequence or a mapping too; they
/// may be a copy that NumPy made.
Tensor over_array(PyObject* object);
/// Copy of a number, nested sequences, an array or a tensor; py_new.cc.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype);

/// The node behind a tensor as a Python object, or None; autograd/engine.cc.
PyObject* wrap_grad_fn(const Tensor& tensor);

inline bool load_tensor(PyObject* object, Tensor* tensor) {
  if (!is_tensor(object)) return false;
  *tensor = unwrap(object);
  return true;
}

}  // namespace pkg::python

template <>
struct swigkit::Convert<pkg::Tensor>
    : ConvertBy<pkg::Tensor, pkg::python::load_tensor, pkg::python::wrap, "a Tensor"> {};
template <>
struct swigkit::Convert<pkg::Scalar> : ConvertBy<pkg::Scalar, pkg::python::parse_scalar,
                                                 pkg::python::wrap_scalar, "a number"> {};
template <>
struct swigkit::Convert<pkg::DType>
    : ConvertBy<pkg::DType, pkg::python::load_dtype, pkg::python::wrap_dtype, "a dtype"> {};
template <>
struct swigkit::Convert<pkg::Device> : ConvertBy<pkg::Device, pkg::python::load_device,
                                                 pkg::python::wrap_device, "a device"> {};

template <>
struct swigkit::Convert<pkg::TensorList> {
  static std::string expected() { return "a tuple of Tensors"; }
  static bool load(PyObject* object, pkg::TensorList& list, const Argument& where) {
    return pkg::python::load_tensors(object, list, where, false);
  }
  static PyObject* cast(const pkg::TensorList& value) {
    return pkg::python::wrap_list(value);
  }
};
template <>
struct swigkit::Convert<pkg::python::MaybeTensors> : swigkit::Convert<pkg::TensorList> {
  static bool load(PyObject* object, pkg::python::MaybeTensors& list,
                   const Argument& where) {
    if (!pkg::python::is_tensor(object)) {
      return pkg::python::load_tensors(object, list, where, true);
    }
    list.push_back(pkg::python::unwrap(object));
    return true;
  }
};

// As a result only.
template <>
struct swigkit::Convert<pkg::Shape> {
  static PyObject* cast(const pkg::Shape& value) { return pkg::python::wrap_shape(value); }
};

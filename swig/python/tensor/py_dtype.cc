// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_dtype.cc: dtypes and devices, and what else means one.
#include "py_dtype.h"

#include "py_tensor.h"

namespace pkg::python {
namespace {

PyObject* g_dtypes[kNumDTypes];
PyObject* g_devices[2];

bool load_name(const char* name, DType* dtype) {
  if (!name) throw_python_error();
  const auto found = dtype_from_name(name);
  if (found) *dtype = *found;
  return found.has_value();
}

}  // namespace

PyRef DTypeObject::find(PyObject* name) {
  DType dtype;
  if (load_dtype(name, &dtype)) return PyRef(wrap_dtype(dtype));
  if (PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "dtype(): %R names no element type", name);
  } else {
    refuse({"dtype", "name"}, "a dtype or its name", name);
  }
  throw_python_error();
}
PyRef DeviceObject::find(PyObject* type) {
  Device device;
  if (load_device(type, &device)) return PyRef(wrap_device(device));
  refuse({"device", "type"}, "a device or its name", type);
  throw_python_error();
}

PyRef DTypeObject::__reduce_ex__(Self self, int) const {
  return check(Py_BuildValue("O(s)", Py_TYPE(self.object), name().c_str()));
}
PyRef DeviceObject::__reduce_ex__(Self self, int) const {
  return check(Py_BuildValue("O(s)", Py_TYPE(self.object), type().c_str()));
}

long DeviceObject::__hash__() const {
  return PyObject_Hash(check(to_python(type())).get());  // equals the string
}

PyRef DeviceObject::__eq__(PyObject* other) const {
  const auto* device = exactly<DeviceObject>(other);
  if (!device && !PyUnicode_Check(other)) return PyRef::borrow(Py_NotImplemented);
  const bool same = device ? value == device->value
                           : !PyUnicode_CompareWithASCIIString(other, type().c_str());
  return PyRef(PyBool_FromLong(same));
}

PyObject* wrap_dtype(DType dtype) { return new_ref(g_dtypes[int(dtype)]); }
PyObject* wrap_device(Device device) { return new_ref(g_devices[int(device.type)]); }

bool is_dtype_or_device(PyObject* object) {
  return exactly<DTypeObject>(object) || exactly<DeviceObject>(object);
}

bool load_dtype(PyObject* object, DType* dtype) {
  const auto is = [&](DType found) { return *dtype = found, true; };
  if (const auto* own = exactly<DTypeObject>(object)) return is(own->value);
  if (PyUnicode_Check(object)) return load_name(PyUnicode_AsUTF8(object), dtype);
  const auto* type = reinterpret_cast<PyTypeObject*>(object);
  if (type == &PyFloat_Type) return is(DType::Float64);  // as in NumPy and PyTorch
  if (type == &PyLong_Type) return is(DType::Int64);
  if (type == &PyBool_Type) return is(DType::Bool);
  if (exactly<DeviceObject>(object) || is_tensor(object)) return false;
  PyRef keep;
  const char* name = dtype_name(object, keep);
  return name && load_name(name, dtype);
}

bool load_device(PyObject* object, Device* device) {
  if (const auto* own = exactly<DeviceObject>(object)) {
    *device = own->value;
    return true;
  }
  if (!PyUnicode_Check(object)) return false;
  const char* text = PyUnicode_AsUTF8(object);
  if (!text) throw_python_error();
  *device = Device::parse(text);
  return true;
}

void init_dtype(PyObject* module) {
  for (int i = 0; i < kNumDTypes; ++i) {
    g_dtypes[i] = check(to_python(DTypeObject{DType(i)})).release();
    check(PyObject_SetAttrString(module, name_of(DType(i)), g_dtypes[i]));
  }
  for (int i = 0; i < 2; ++i) {
    g_devices[i] = check(to_python(DeviceObject{{DeviceType(i)}})).release();
  }
}

}  // namespace pkg::python

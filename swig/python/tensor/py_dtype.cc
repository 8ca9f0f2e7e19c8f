// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_dtype.cc: the types `dtype` and `device`.
#include "py_dtype.h"
#include "python/py_type.h"

#include "python/expect.h"

#include <string>

#include "py_tensor.h"
#include "python/py_error.h"

namespace pkg::python {
namespace {

struct DTypeObject {
  PyObject_HEAD DType value;
};
struct DeviceObject {
  PyObject_HEAD Device value;
};

PyTypeObject* g_dtype_type = nullptr;
PyTypeObject* g_device_type = nullptr;
PyObject* g_dtypes[kNumDTypes];
PyObject* g_devices[2];

DType dtype_of_object(PyObject* self) {
  return reinterpret_cast<DTypeObject*>(self)->value;
}
Device device_of_object(PyObject* self) {
  return reinterpret_cast<DeviceObject*>(self)->value;
}

// "dtype": any name load_dtype() takes; the objects themselves are made once.
PyObject* dtype_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"name", nullptr};
  PyObject* given;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:dtype", const_cast<char**>(names),
                                   &given)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    DType dtype;
    if (load_dtype(given, dtype)) return wrap_dtype(dtype);
    if (!PyUnicode_Check(given)) {
      return refuse({"dtype", "name"}, "a dtype or its name", given), nullptr;
    }
    PyErr_Format(PyExc_TypeError, "dtype(): %R names no element type", given);
    return nullptr;
  });
}
PyObject* dtype_repr(PyObject* self) {
  return PyUnicode_FromFormat("pkg.%s", name_of(dtype_of_object(self)));
}
PyObject* dtype_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(s)", Py_TYPE(self), name_of(dtype_of_object(self)));
}
PyObject* dtype_name(PyObject* self, void*) {
  return PyUnicode_FromString(name_of(dtype_of_object(self)));
}
PyObject* dtype_itemsize(PyObject* self, void*) {
  return PyLong_FromLongLong(itemsize(dtype_of_object(self)));
}
PyObject* dtype_is_floating(PyObject* self, void*) {
  return PyBool_FromLong(is_floating(dtype_of_object(self)));
}

PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyGetSetDef dtype_getsets[] = {
    {"name", dtype_name, nullptr, "Name, such as 'float32'.", nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", dtype_is_floating, nullptr, "Is it a float type?", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot dtype_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(dtype_new)},
    {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
    {Py_tp_methods, dtype_methods},
    {Py_tp_getset, dtype_getsets},
    {Py_tp_doc, const_cast<char*>("dtype(name)\n--\n\nElement type of a tensor.")},
    {0, nullptr}};
PyType_Spec dtype_spec = {"pkg.dtype", sizeof(DTypeObject), 0, Py_TPFLAGS_DEFAULT,
                          dtype_slots};

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"type", nullptr};
  PyObject* given;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:device", const_cast<char**>(names),
                                   &given)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Device device;
    if (load_device(given, device)) return wrap_device(device);
    return refuse({"device", "type"}, "a device or its name", given), nullptr;
  });
}
PyObject* device_str(PyObject* self) {
  return PyUnicode_FromString(device_of_object(self).str().c_str());
}
PyObject* device_repr(PyObject* self) {
  return PyUnicode_FromFormat("device(type='%s')", device_of_object(self).str().c_str());
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(s)", Py_TYPE(self), device_of_object(self).str().c_str());
}
PyObject* device_type(PyObject* self, void*) { return device_str(self); }
PyObject* device_index(PyObject*, void*) { return new_ref(Py_None); }
Py_hash_t device_hash(PyObject* self) {
  PyRef text(device_str(self));  // equals the string, so it hashes like it
  return text ? PyObject_Hash(text.get()) : -1;
}
PyObject* device_compare(PyObject* self, PyObject* other, int op) {
  if (op != Py_EQ && op != Py_NE) return new_ref(Py_NotImplemented);
  bool equal;
  if (Py_TYPE(other) == g_device_type) {
    equal = device_of_object(self) == device_of_object(other);
  } else if (PyUnicode_Check(other)) {
    equal = PyUnicode_CompareWithASCIIString(other, device_of_object(self).str().c_str()) ==
            0;
  } else {
    return new_ref(Py_NotImplemented);
  }
  return PyBool_FromLong(equal == (op == Py_EQ));
}

PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyGetSetDef device_getsets[] = {
    {"type", device_type, nullptr, "'cpu' or 'meta'.", nullptr},
    {"index", device_index, nullptr, "None: there is one of each.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot device_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(device_new)},
    {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
    {Py_tp_str, reinterpret_cast<void*>(device_str)},
    {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
    {Py_tp_methods, device_methods},
    {Py_tp_getset, device_getsets},
    {Py_tp_doc,
     const_cast<char*>("device(type)\n--\n\nWhere a tensor lives; equals its name.")},
    {0, nullptr}};
PyType_Spec device_spec = {"pkg.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT,
                           device_slots};

bool load_name(PyObject* text, DType& dtype) {
  const char* name = PyUnicode_AsUTF8(text);
  if (!name) throw_python_error();
  const auto found = dtype_from_name(name);
  if (found) dtype = *found;
  return found.has_value();
}

}  // namespace

PyObject* wrap_dtype(DType dtype) { return new_ref(g_dtypes[int(dtype)]); }
PyObject* wrap_device(Device device) { return new_ref(g_devices[int(device.type)]); }

bool is_dtype_or_device(PyObject* object) {
  return Py_TYPE(object) == g_dtype_type || Py_TYPE(object) == g_device_type;
}

bool load_dtype(PyObject* object, DType& dtype) {
  if (Py_TYPE(object) == g_dtype_type) {
    dtype = dtype_of_object(object);
    return true;
  }
  if (PyUnicode_Check(object)) return load_name(object, dtype);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    dtype = default_dtype();
    return true;
  }
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    dtype = DType::Int64;
    return true;
  }
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    dtype = DType::Bool;
    return true;
  }
  if (Py_TYPE(object) == g_device_type || is_tensor(object)) return false;
  // NumPy: a scalar type such as np.float32 or an instance of np.dtype.
  PyObject* owner = PyType_Check(object) ? object
                                         : reinterpret_cast<PyObject*>(Py_TYPE(object));
  PyRef module(call_python(PyObject_GetAttrString, owner, "__module__"));
  if (!module) {
    PyErr_Clear();
    return false;
  }
  const char* text = PyUnicode_Check(module.get()) ? PyUnicode_AsUTF8(module.get()) : "";
  if (!text || std::string_view(text).substr(0, 5) != "numpy") return false;
  const char* attribute = PyType_Check(object) ? "__name__" : "name";
  PyRef name(call_python(PyObject_GetAttrString, object, attribute));
  if (!name) {
    PyErr_Clear();
    return false;
  }
  if (!PyUnicode_Check(name.get())) return false;
  if (PyUnicode_CompareWithASCIIString(name.get(), "bool_") == 0) {
    dtype = DType::Bool;
    return true;
  }
  return load_name(name.get(), dtype);
}

bool load_device(PyObject* object, Device& device) {
  if (Py_TYPE(object) == g_device_type) {
    device = device_of_object(object);
    return true;
  }
  if (!PyUnicode_Check(object)) return false;
  const char* text = PyUnicode_AsUTF8(object);
  if (!text) throw_python_error();
  device = Device::parse(text);
  return true;
}

void init_dtype(PyObject* module) {
  g_dtype_type = add_type(module, &dtype_spec);
  for (int i = 0; i < kNumDTypes; ++i) {
    PyRef object = check(g_dtype_type->tp_alloc(g_dtype_type, 0));
    reinterpret_cast<DTypeObject*>(object.get())->value = DType(i);
    check(PyObject_SetAttrString(module, name_of(DType(i)), object.get()));
    g_dtypes[i] = object.release();
  }
  g_device_type = add_type(module, &device_spec);
  for (int i = 0; i < 2; ++i) {
    PyRef object = check(g_device_type->tp_alloc(g_device_type, 0));
    reinterpret_cast<DeviceObject*>(object.get())->value = Device{DeviceType(i)};
    g_devices[i] = object.release();
  }
}

}  // namespace pkg::python

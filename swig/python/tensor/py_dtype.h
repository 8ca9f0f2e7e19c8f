// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_dtype.h: the small immutable objects pkg.float32 ... and pkg.device,
// one of each value.  swig/tensor.i wraps the classes as they stand here.
#pragma once

#include "base/device.h"
#include "base/dtype.h"
#include "swigkit/plain.h"

namespace pkg::python {

/// Element type of a tensor.
class DTypeObject {
 public:
  static swigkit::PyRef find(PyObject* name);
  /// Name, such as 'float32'.
  std::string name() const { return name_of(value); }
  /// Bytes of one element.
  int64_t itemsize() const { return pkg::itemsize(value); }
  /// Is it a float type?
  bool is_floating_point() const { return is_floating(value); }
  std::string __repr__() const { return "pkg." + name(); }
  swigkit::PyRef __reduce_ex__(swigkit::Self self, int protocol) const;

#ifndef SWIG
  DType value;
#endif
};

/// Where a tensor lives; equals its name.
class DeviceObject {
 public:
  static swigkit::PyRef find(PyObject* type);
  /// 'cpu' or 'meta'.
  std::string type() const { return value.str(); }
  /// None: there is one of each.
  std::optional<int> index() const { return std::nullopt; }
  std::string __str__() const { return type(); }
  std::string __repr__() const { return "device(type='" + type() + "')"; }
  long __hash__() const;
  swigkit::PyRef __eq__(PyObject* other) const;
  swigkit::PyRef __reduce_ex__(swigkit::Self self, int protocol) const;

#ifndef SWIG
  Device value;
#endif
};

#ifndef SWIG
/// New reference to the one object of this element type, or of this device.
PyObject* wrap_dtype(DType dtype);
PyObject* wrap_device(Device device);

/// Whether the object is one of these.
bool is_dtype_or_device(PyObject* object);
/// Reads pkg.float32, "float32", float, np.float32 or np.dtype("float32").  False when
/// the object means no dtype; throws only what Python code of the object throws.
bool load_dtype(PyObject* object, DType* dtype);
/// Reads pkg.device("cpu") or "cpu"; RuntimeError for a string that names none.
bool load_device(PyObject* object, Device* device);

/// Makes the objects, and adds the dtypes to the module.
void init_dtype(PyObject* module);
#endif

}  // namespace pkg::python

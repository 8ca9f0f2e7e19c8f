// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/py_dtype.h: the small immutable objects pkg.float32 ... and pkg.device.
#pragma once

#include "swigkit/ref.h"

#include "base/device.h"
#include "base/dtype.h"

namespace pkg::python {

/// New reference to the one object of this element type.
PyObject* wrap_dtype(DType dtype);
PyObject* wrap_device(Device device);

/// Whether the object is one of these.
bool is_dtype_or_device(PyObject* object);
/// Reads pkg.float32, "float32", float, np.float32 or np.dtype("float32").  False when
/// the object means no dtype; throws only what Python code of the object throws.
bool load_dtype(PyObject* object, DType& dtype);
/// Reads pkg.device("cpu") or "cpu"; RuntimeError for a string that names none.
bool load_device(PyObject* object, Device& device);

/// Adds the types dtype and device and the dtype objects to the module.
void init_dtype(PyObject* module);

}  // namespace pkg::python

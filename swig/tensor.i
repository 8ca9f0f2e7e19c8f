// tensor.i: dtypes, devices, and tensors from what Python has; Tensor itself is made by hand.
%{
#include "python/tensor/functions.h"
#include "python/tensor/py_tensor.h"
%}

%rename(dtype) pkg::python::DTypeObject;
%rename(device) pkg::python::DeviceObject;
%public_module(pkg::python::DTypeObject, "pkg")
%public_module(pkg::python::DeviceObject, "pkg")
%made_by(pkg::python::DTypeObject, find)
%made_by(pkg::python::DeviceObject, find)
%final(pkg::python::DTypeObject)
%final(pkg::python::DeviceObject)
%properties(pkg::python::DTypeObject, name, itemsize, is_floating_point)
%properties(pkg::python::DeviceObject, type, index)
%remark(pkg::python::DTypeObject, "kept value")
%remark(pkg::python::DeviceObject, "kept value")
%include "python/tensor/py_dtype.h"

%without_names
%positional_only(pkg::python::tensor, 0)
%keyword_only(pkg::python::tensor, device)
PKG_WAITS(pkg::python::tensor)
%remark(pkg::python::from_numpy, "kept memory")
%remark(pkg::python::_memory, "waits memory")
%remark(pkg::python::_from_dlpack, "kept memory")
%include "python/tensor/functions.h"
%with_names

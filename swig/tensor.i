// tensor.i: dtypes, devices, and tensors from what Python has; Tensor itself is made by hand.
%{
#include "python/tensor/functions.h"
#include "python/tensor/py_tensor.h"
%}

PKG_CLASSES
%rename(dtype) pkg::python::DTypeObject;
%rename(device) pkg::python::DeviceObject;
%public_module(pkg::python::DTypeObject, "pkg")
%public_module(pkg::python::DeviceObject, "pkg")
%made_by(pkg::python::DTypeObject, find)
%made_by(pkg::python::DeviceObject, find)
%final(pkg::python::DTypeObject)
%final(pkg::python::DeviceObject)
%property(pkg::python::DTypeObject, std::string, name, name)
%property(pkg::python::DTypeObject, int64_t, itemsize, itemsize)
%property(pkg::python::DTypeObject, bool, is_floating_point, is_floating_point)
%property(pkg::python::DeviceObject, std::string, type, type)
%property(pkg::python::DeviceObject, std::optional<int>, index, index)
%include "python/tensor/py_dtype.h"
PKG_FUNCTIONS

%keyword_only(pkg::python::tensor, device)
%positional_only(pkg::python::from_numpy, 1)
%positional_only(pkg::python::_memory, 1)
%positional_only(pkg::python::_from_dlpack, 2)
%positional_only(pkg::python::register_tensor_class, 1)
%positional_only(pkg::python::register_symbol_class, 1)
PKG_WAITS(pkg::python::tensor)
PKG_CALL("kept", "memory", pkg::python::from_numpy)
PKG_CALL("waits", "memory", pkg::python::_memory)
PKG_CALL("kept", "memory", pkg::python::_from_dlpack)
%include "python/tensor/functions.h"

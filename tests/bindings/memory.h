// SPDX-License-Identifier: Apache-2.0
// tests/bindings/memory.h: tensors over and from buffers; bind_memory.cc.
#pragma once

#include "casters.h"

namespace pkg::pybind {

/// Tensor over the memory of an array, which lives as long as the tensor.
Tensor borrow_buffer(const py::buffer& array);
/// Tensor with a copy of the array.
Tensor copy_of_buffer(const py::buffer& array);

/// Tensor with a copy of a number, nested sequences, an array or a tensor; bind_new.cc.
Tensor tensor_from_data(py::handle data, std::optional<DType> dtype);

}  // namespace pkg::pybind

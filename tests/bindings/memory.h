// SPDX-License-Identifier: Apache-2.0
// tests/bindings/memory.h: tensors over and from buffers; bind_memory.cc.
#pragma once

#include "casters.h"

namespace pkg::pybind {

/// Tensor over the memory of an array, which lives as long as the tensor.
Tensor borrow_buffer(const py::buffer& array);
/// Whether it says that it is an array: by a buffer, NumPy's protocols or DLPack.
bool is_array(py::handle object);
/// Tensor over the values of such, which may be a copy that NumPy made.
Tensor over_array(py::handle object);

/// Tensor with a copy of a number, nested sequences, an array or a tensor; bind_new.cc.
Tensor tensor_from_data(py::handle data, std::optional<DType> dtype);

}  // namespace pkg::pybind

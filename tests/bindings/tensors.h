// SPDX-License-Identifier: Apache-2.0
// tests/bindings/tensors.h: sequences of tensors from Python; casters.cc.
#pragma once

#include "casters.h"

namespace pkg::pybind {

/// Tensors of a tuple or list; None, where it is allowed, is an undefined one.
TensorList parse_tensors(const char* function, const char* parameter, py::handle sequence,
                         bool or_none = true);

/// The class of results, that Python registered; bind_tensor.cc.
py::handle tensor_class();

inline bool is_callable(py::handle object) { return py::isinstance<py::function>(object); }

}  // namespace pkg::pybind

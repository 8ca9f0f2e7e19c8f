// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/symbol.h: the Python class of symbols of a graph.
#pragma once

#include "swigkit/ref.h"

namespace pkg::python {

/// Makes every symbol of a graph an instance of cls, whose _begin() is then called.
void register_symbol_class(PyObject* cls);

}  // namespace pkg::python

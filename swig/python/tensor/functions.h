// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/functions.h: tensors made of what Python has, and their memory for
// others.  swig/tensor.i wraps what stands here.
#pragma once

#include "swigkit/ref.h"
#include "tensor/tensor.h"

namespace pkg::python {

/// Tensor with a copy of `data`: a number, nested sequences, an array or a tensor.
pkg::Tensor tensor(PyObject* data, std::optional<pkg::DType> dtype = std::nullopt,
                   std::optional<pkg::Device> device = std::nullopt,
                   bool requires_grad = false);
/// Tensor over the array's memory; both see writes.
pkg::Tensor from_numpy(PyObject* array);
/// The memory as a buffer.
swigkit::PyRef _memory(PyObject* tensor);
/// Tensor over a DLPack capsule's memory.
pkg::Tensor _from_dlpack(PyObject* capsule, std::optional<bool> copy = std::nullopt);
/// Makes every result an instance of cls.
void register_tensor_class(PyObject* cls);
/// Makes every symbol of a graph an instance of cls, whose _begin() is then called.
void register_symbol_class(PyObject* cls);

}  // namespace pkg::python

// SPDX-License-Identifier: Apache-2.0
// swig/python/tensor/functions.h: tensors made of what Python has, and their memory for
// others.  swig/tensor.i wraps what stands here.
#pragma once

#include "swigkit/buffers.h"
#include "tensor/exported.h"

namespace pkg::python {

/// What numpy() hands out: a buffer that keeps the tensor alive, and its storage marked as
/// exported.
class TensorMemory {
 public:
  swigkit::Buffer buffer() const;

#ifndef SWIG
  /// Waits for pending work; TypeError for a tensor that no buffer can show.
  explicit TensorMemory(const pkg::Tensor& tensor);

 private:
  const char* format_;
  pkg::ExportedTensor tensor_;
#endif
};

/// Tensor with a copy of `data`: a number, nested sequences, an array or a tensor.
pkg::Tensor tensor(PyObject* data, std::optional<pkg::DType> dtype = std::nullopt,
                   std::optional<pkg::Device> device = std::nullopt,
                   bool requires_grad = false);
/// Tensor over the array's memory; both see writes.
pkg::Tensor from_numpy(PyObject* array);
/// The memory as a buffer.
std::unique_ptr<TensorMemory> _memory(const pkg::Tensor& tensor);
/// Tensor over a DLPack capsule's memory.
pkg::Tensor _from_dlpack(PyObject* capsule, std::optional<bool> copy = std::nullopt);
/// Makes every result an instance of cls.
void register_tensor_class(PyObject* cls);

}  // namespace pkg::python

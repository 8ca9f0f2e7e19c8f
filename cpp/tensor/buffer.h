// SPDX-License-Identifier: Apache-2.0
// tensor/buffer.h: memory as Python's buffer protocol describes it (a format, sizes, strides
// in bytes), which is what NumPy and its like show and ask for.  Used by the bindings.
#pragma once

#include <functional>
#include <optional>

#include "tensor/tensor.h"

namespace pkg {

/// The element type of a format, which is as in Python's struct (null: bytes); nullopt for one
/// that tensors do not have.
std::optional<DType> dtype_of_format(const char* format, int64_t itemsize);

/// What another library shows of its memory.
struct ForeignBuffer {
  void* data;
  std::optional<DType> dtype;  // nullopt: no tensor can show it
  const char* format;          // or a name, for errors; null: bytes
  int64_t itemsize;
  Shape sizes;
  const int64_t* byte_strides;  // null: row-major
};

/// Tensor over that memory.  `release` is called once: when the last tensor over it dies, or
/// before this throws, as it does for what no tensor can show.
Tensor over_foreign_buffer(const ForeignBuffer& buffer,
                           const std::function<void()>& release);

/// The format of a dtype; TypeError for one that Python's struct does not have.
const char* buffer_format(DType dtype);
/// The strides in bytes; those of an empty tensor may wrap: they lead nowhere.
Shape byte_strides(const Tensor& tensor);

}  // namespace pkg

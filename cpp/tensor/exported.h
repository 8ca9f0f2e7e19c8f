// SPDX-License-Identifier: Apache-2.0
// tensor/exported.h: a tensor whose memory is shown to somebody outside for a while, as
// NumPy arrays and DLPack capsules do.  Used by the bindings and tensor/dlpack.cc.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// Keeps the memory alive, and marked as exported, for as long as it lives.
class ExportedTensor {
 public:
  /// Waits for pending work on the memory, and rethrows its error.
  explicit ExportedTensor(const Tensor& tensor)
      // A tensor of its own: `x.data = y` changes what the user's tensor shows.
      : tensor_(share(tensor)) {
    // Marked first, so that nothing is scheduled on the memory while this waits.
    tensor_.storage().add_export();
    try {
      tensor_.storage().wait_writable();
    } catch (...) {
      tensor_.storage().drop_export();
      throw;
    }
  }
  ~ExportedTensor() { tensor_.storage().drop_export(); }
  ExportedTensor(const ExportedTensor&) = delete;
  ExportedTensor& operator=(const ExportedTensor&) = delete;

  const Tensor& operator*() const { return tensor_; }
  const Tensor* operator->() const { return &tensor_; }

 private:
  const Tensor tensor_;
};

/// The address of the first element, which may be used until the memory dies: from now
/// on it counts as exported.
inline void* exposed_data(const Tensor& tensor) {
  tensor.storage().expose();
  tensor.storage().wait_writable();
  return tensor.data();
}

}  // namespace pkg

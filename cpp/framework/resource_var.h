// SPDX-License-Identifier: Apache-2.0
// framework/resource_var.h: a resource that is a tensor.
#pragma once

#include <atomic>

#include "framework/mutex.h"
#include "framework/resource_mgr.h"

namespace pkg::framework {

/// A tensor that kernels share by a handle, and write to while they hold mu().
class Var : public ResourceBase {
 public:
  explicit Var(DataType type) : tensor_(type, TensorShape({0})) {}
  mutex* mu() { return &mutex_; }
  Tensor* tensor() { return &tensor_; }
  std::string DebugString() const override;
  int64_t MemoryUsed() const override { return int64_t(tensor_.TotalBytes()); }

  bool is_initialized = false;                 ///< under mu()
  std::atomic<bool> copy_on_read_mode{false};  ///< of who uses it; nothing here reads it

 private:
  mutex mutex_;
  Tensor tensor_;
};

}  // namespace pkg::framework

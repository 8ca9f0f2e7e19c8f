// SPDX-License-Identifier: Apache-2.0
// tensor/autograd_meta.cc: what needs to know what a TensorImpl is.
#include "tensor/autograd_meta.h"

#include <mutex>
#include <utility>

#include "scheduler/fork_locks.h"
#include "tensor/tensor.h"

namespace pkg {

AutogradMeta::~AutogradMeta() = default;
GradSlot::~GradSlot() = default;

GradCell& AutogradMeta::grad_cell() {
  std::lock_guard lock(detail::object_lock(this));
  return retained ? retained->grad : grad;
}

Ref<TensorImpl> GradCell::get() const {
  std::lock_guard lock(detail::object_lock(this));
  return value_;
}

Ref<TensorImpl> GradCell::exchange(Ref<TensorImpl> with) {
  std::lock_guard lock(detail::object_lock(this));
  return std::exchange(value_, std::move(with));
}

bool GradCell::fill(const Ref<TensorImpl>& with) {
  std::lock_guard lock(detail::object_lock(this));
  if (value_) return false;
  value_ = with;
  return true;
}

}  // namespace pkg

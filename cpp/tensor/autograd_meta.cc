// SPDX-License-Identifier: Apache-2.0
// tensor/autograd_meta.cc: what needs to know what a TensorImpl is.
#include "tensor/autograd_meta.h"

#include <utility>

#include "tensor/tensor.h"

namespace pkg {

AutogradMeta::~AutogradMeta() = default;
GradSlot::~GradSlot() = default;

Ref<TensorImpl> GradCell::get() const {
  SpinGuard guard(lock_);
  return value_;
}

Ref<TensorImpl> GradCell::exchange(Ref<TensorImpl> with) {
  SpinGuard guard(lock_);
  return std::exchange(value_, std::move(with));
}

bool GradCell::fill(const Ref<TensorImpl>& with) {
  SpinGuard guard(lock_);
  if (value_) return false;
  value_ = with;
  return true;
}

}  // namespace pkg

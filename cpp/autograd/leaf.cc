// SPDX-License-Identifier: Apache-2.0
// autograd/leaf.cc: requires_grad and grad of a leaf.
#include "autograd/leaf.h"

namespace pkg {

void set_requires_grad(const Tensor& tensor, bool wanted) {
  if (wanted) {
    PKG_CHECK(is_floating(tensor.dtype()), RuntimeError,
              "only Tensors of floating point dtype can require gradients, got ",
              tensor.dtype());
  } else {
    PKG_CHECK(tensor.is_leaf(), RuntimeError,
              "you can only change requires_grad flags of leaf variables. Use detach().");
  }
  tensor.make_autograd().requires_grad = wanted;
  KeySet& keys = tensor.impl()->keys;
  keys = wanted ? keys | DispatchKey::Autograd : keys.without(DispatchKey::Autograd);
}

void detach_in_place(const Tensor& tensor) {
  PKG_CHECK(!tensor.is_view(), RuntimeError,
            "Can't detach views in-place. Use detach() instead.");
  AutogradMeta* meta = tensor.autograd();
  if (!meta) return;
  if (meta->retained) meta->grad = std::move(std::exchange(meta->retained, nullptr)->grad);
  meta->grad_fn = nullptr;
  meta->output_nr = 0;
  meta->requires_grad = false;
  tensor.impl()->keys = tensor.impl()->keys.without(DispatchKey::Autograd);
}

void set_grad(const Tensor& tensor, const Tensor& grad) {
  if (!grad.defined()) {
    if (tensor.autograd()) tensor.autograd()->grad_slot() = nullptr;
    return;
  }
  PKG_CHECK(grad.sizes() == tensor.sizes() && grad.dtype() == tensor.dtype(),
            RuntimeError, "assigned grad has data of a different size or type: expected ",
            tensor.sizes(), " ", tensor.dtype(), ", got ", grad.sizes(), " ",
            grad.dtype());
  PKG_CHECK(!grad.is_same(tensor), RuntimeError, "can't assign Variable as its own grad");
  tensor.make_autograd().grad_slot() = grad.ref();
}

}  // namespace pkg

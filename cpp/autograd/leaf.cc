// SPDX-License-Identifier: Apache-2.0
// autograd/leaf.cc: the gradient of a leaf, and how a tensor becomes one.
#include "autograd/leaf.h"

namespace pkg {

void detach_in_place(const Tensor& tensor) {
  PKG_CHECK(!tensor.is_view(), RuntimeError,
            "Can't detach views in-place. Use detach() instead.");
  // Views that were written since they were made are now views of a leaf.
  if (tensor.storage().use_count() > 1) tensor.storage().note_rebased_views();
  forget_history(tensor);
}

void forget_history(const Tensor& tensor) {
  if (AutogradMeta* meta = tensor.autograd()) {
    if (meta->retained) {
      meta->grad.exchange(std::exchange(meta->retained, nullptr)->grad.get());
    }
    meta->grad_fn = nullptr;
    meta->output_nr = 0;
  }
  set_requires_grad(tensor, false);
}

void set_grad(const Tensor& tensor, const Tensor& grad) {
  if (!grad.defined()) {
    if (tensor.autograd()) tensor.autograd()->grad_cell().exchange(nullptr);
    return;
  }
  PKG_CHECK(grad.sizes() == tensor.sizes() && grad.dtype() == tensor.dtype(), RuntimeError,
            "assigned grad has data of a different size or type: expected ", tensor.sizes(),
            " ", tensor.dtype(), ", got ", grad.sizes(), " ", grad.dtype());
  PKG_CHECK(!grad.is_same(tensor), RuntimeError, "can't assign Variable as its own grad");
  PKG_CHECK(
      !grad.storage().is_symbolic() || tensor.storage().is_symbolic(), TypeError,
      "[set_grad] expected a tensor with values, got a symbol, which has none outside "
      "of its graph.");
  tensor.make_autograd().grad_cell().exchange(grad.ref());
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/accumulate_grad.cc: leaves and their gradients.
#include "autograd/accumulate_grad.h"

#include "dispatcher/dispatcher.h"
#include "ops/functions.h"

namespace pkg {
namespace {

// Short critical sections: pointer exchange only.
class SpinGuard {
 public:
  explicit SpinGuard(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~SpinGuard() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag& flag_;
};

}  // namespace

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.requires_grad()) return {};
  AutogradMeta& meta = tensor.make_autograd();
  if (meta.grad_fn) {
    PKG_CHECK(!tensor.impl()->is_view || meta.version == tensor.version(), RuntimeError,
              "a view that requires grad was modified in place through its base or "
              "another view (version ", tensor.version(), "; expected ", meta.version,
              "). Take the view again after the modification.");
    return {grad_fn(tensor), meta.output_nr};
  }
  // The leaf knows its node without owning it, since the node owns the leaf.
  SpinGuard guard(meta.lock);
  if (meta.accumulator && meta.accumulator->try_retain()) {
    return {Ref<Node>::adopt(static_cast<Node*>(meta.accumulator)), 0};
  }
  auto node = Ref<AccumulateGrad>::make(tensor);
  meta.accumulator = node.get();
  return {std::move(node), 0};
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta& meta = *variable.autograd();
  SpinGuard guard(meta.lock);
  if (meta.accumulator == this) meta.accumulator = nullptr;
}

TensorList AccumulateGrad::apply(TensorList grads) {
  Tensor& grad = grads[0];
  if (!grad.defined()) return {};
  PKG_CHECK(grad.sizes() == variable.sizes(), RuntimeError,
            "[backward] a gradient of shape ", grad.sizes(),
            " arrived at a leaf of shape ", variable.sizes(), ".");
  if (grad.dtype() != variable.dtype()) grad = ops::to_dtype(grad, variable.dtype());
  AutogradMeta& meta = *variable.autograd();
  // A gradient that nobody else holds becomes .grad itself.
  const bool own = grad.ref()->use_count() == 1 && !grad.impl()->is_view &&
                   grad.is_contiguous() && !grad.storage().exported();
  if (!own && !grad_enabled()) grad = ops::clone(grad);
  Tensor before, sum = grad;
  while (true) {
    {
      SpinGuard guard(meta.lock);
      // Another pass may have added meanwhile: add to what is there now.
      if (meta.grad == before.ref()) {
        meta.grad = sum.ref();
        return {};
      }
      before = Tensor(meta.grad);
    }
    sum = before.defined() ? ops::add(before, grad) : grad;
  }
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/accumulate_grad.cc: leaves and their gradients.
#include "autograd/accumulate_grad.h"

#include <mutex>

#include "autograd/views.h"
#include "dispatcher/dispatcher.h"
#include "ops/functions.h"
#include "scheduler/fork_locks.h"
#include "tensor/layout.h"

namespace pkg {
namespace {

// A gradient that nobody else holds becomes .grad itself; others are copied, so that
// .grad can be changed in place.  It lies in memory as its leaf does, so that steps of
// optimisers walk both alike; row-major where that has gaps or repeats elements.
Tensor own(Tensor grad, const Tensor& leaf) {
  const bool row_major = leaf.is_contiguous() || !is_dense(leaf);
  const bool fits = row_major ? grad.is_contiguous() : lie_alike(grad, leaf);
  const TensorImpl& impl = *grad.impl();
  const uint32_t holders = grad.is_view() ? 2 : 1;  // of the memory: the view, its base
  const bool alone = impl.use_count() == 1 && impl.storage->held_by(holders) &&
                     (!grad.is_view() || impl.base->use_count() == 1) &&
                     impl.storage->nbytes() == grad.numel() * itemsize(grad.dtype());
  // A view with a history keeps it in the copy; another need not keep its base.
  const bool recorded = grad.is_view() && grad.requires_grad();
  if (!alone || recorded || !fits || grad.storage().exported()) {
    if (!row_major) {
      return ops::copy_(empty_as(leaf, grad.dtype(), grad.device()), grad);
    }
    return grad.is_contiguous() ? ops::clone(grad) : ops::contiguous(grad);
  }
  return grad.is_view() ? share(grad) : grad;
}

}  // namespace

// The cell is empty while the sum is made; a pass of another thread that finds it so puts
// its own gradient there, which we then add as well.
void accumulate(const Tensor& variable, GradCell& cell, Tensor sum, bool in_place) {
  for (bool owned = false;; owned = true) {
    const Tensor before(cell.exchange(nullptr));
    if (before.defined()) {
      try {
        sum = in_place ? ops::add_(before, sum) : ops::add(before, sum);
      } catch (...) {
        cell.exchange(before.ref());
        throw;
      }
    } else if (!owned) {
      sum = own(std::move(sum), variable);
    }
    if (cell.fill(sum.ref())) return;
  }
}

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.defined() || !requires_grad(tensor)) return {};
  AutogradMeta& meta = tensor.make_autograd();
  if (meta.grad_fn) { return {grad_fn(tensor), meta.output_nr}; }
  // The leaf knows its node without owning it, since the node owns the leaf.
  std::lock_guard guard(detail::object_lock(&meta));
  if (meta.accumulator && meta.accumulator->try_retain()) {
    return {Ref<Node>::adopt(static_cast<Node*>(meta.accumulator)), 0};
  }
  auto node = Ref<AccumulateGrad>::make(tensor);
  meta.accumulator = node.get();
  return {std::move(node), 0};
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta& meta = *variable.autograd();
  std::lock_guard guard(detail::object_lock(&meta));
  if (meta.accumulator == this) meta.accumulator = nullptr;
}

TensorList AccumulateGrad::apply(TensorList grads) {
  Tensor& grad = grads[0];
  // requires_grad was switched off after the graph was recorded.
  if (!grad.defined() || !variable.requires_grad()) return {};
  PKG_CHECK(grad.sizes() == variable.sizes(), RuntimeError,
            "[backward] a gradient of shape ", grad.sizes(), " arrived at a leaf of shape ",
            variable.sizes(), ".");
  if (grad.dtype() != variable.dtype()) grad = ops::to_dtype(grad, variable.dtype());
  AutogradMeta& meta = *variable.autograd();
  accumulate(variable, meta.grad, std::move(grad), /*in_place=*/!grad_enabled());
  if (const HookList* hooks = hooks_or_null()) hooks->run_accumulated(variable);
  return {};
}

}  // namespace pkg

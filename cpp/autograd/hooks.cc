// SPDX-License-Identifier: Apache-2.0
// autograd/hooks.cc: lists of hooks, and where tensors keep theirs.
#include "autograd/hooks.h"

#include <algorithm>

#include "autograd/accumulate_grad.h"
#include "autograd/views.h"
#include "ops/functions.h"
#include "scheduler/fork_locks.h"

namespace pkg {

namespace {
constinit std::mutex g_making, g_asking;
const detail::HeldOverFork g_making_held[] = {{detail::ForkLock::LeafHooks, g_making},
                                              {detail::ForkLock::RetainGrad, g_asking}};
}  // namespace

HookList::~HookList() = default;

int64_t HookList::add(HookKind kind, uint32_t output_nr, HookFunction function) {
  std::lock_guard lock(detail::object_lock(this));
  hooks_.push_back({next_id_, kind, output_nr, std::move(function)});
  return next_id_++;
}

bool HookList::remove(int64_t id) {
  HookFunction dying;  // destroyed after the lock: that may run the user's code
  std::lock_guard lock(detail::object_lock(this));
  const auto found = std::find_if(hooks_.begin(), hooks_.end(),
                                  [id](const Hook& hook) { return hook.id == id; });
  if (found == hooks_.end()) return false;
  dying = std::move(found->function);
  hooks_.erase(found);
  return true;
}

std::vector<HookList::Hook> HookList::of_kind(HookKind kind) const {
  std::lock_guard lock(detail::object_lock(this));
  std::vector<Hook> chosen;
  for (const Hook& hook : hooks_) {
    if (hook.kind == kind) chosen.push_back(hook);
  }
  return chosen;
}

void HookList::run_on_tensors(TensorList& grads) const {
  const auto run_single = [&](HookKind kind) {
    for (const Hook& hook : of_kind(kind)) {
      if (hook.output_nr >= grads.size() || !grads[hook.output_nr].defined()) continue;
      TensorList one{grads[hook.output_nr]};
      hook.function(one, {});
      grads[hook.output_nr] = std::move(one[0]);
    }
  };
  run_single(HookKind::Tensor);
  run_single(HookKind::Retain);
}

void HookList::run_before(TensorList& grads) const {
  for (const Hook& hook : of_kind(HookKind::Pre)) hook.function(grads, {});
}

void HookList::run_after(TensorList& grad_inputs, const TensorList& grad_outputs) const {
  for (const Hook& hook : of_kind(HookKind::Post)) {
    hook.function(grad_inputs, grad_outputs);
  }
}

void HookList::run_accumulated(const Tensor& leaf) const {
  for (const Hook& hook : of_kind(HookKind::Accumulated)) {
    TensorList one{leaf};
    hook.function(one, {});
  }
}

HookList& leaf_hooks(const Tensor& leaf) {
  AutogradMeta& meta = leaf.make_autograd();
  std::lock_guard lock(g_making);
  if (!meta.hooks) meta.hooks = Ref<HookList>::make();
  return static_cast<HookList&>(*meta.hooks);
}

namespace {

// The list that is consulted for the gradient of this tensor, and its place there.
std::pair<HookList*, uint32_t> hooks_of(const Tensor& tensor) {
  if (Ref<Node> node = grad_fn(tensor)) {
    return {&node->hooks(), tensor.autograd()->output_nr};
  }
  return {&leaf_hooks(tensor), 0};
}

void retain_from(HookList& list, uint32_t output_nr, const Ref<GradSlot>& slot) {
  slot->hook = list.add(HookKind::Retain, output_nr,
                        [slot](TensorList& grads, const TensorList&) {
                          accumulate(grads[0], slot->grad, grads[0], /*in_place=*/false);
                        });
}

}  // namespace

HookHandle register_hook(const Tensor& tensor, std::function<Tensor(const Tensor&)> hook) {
  PKG_CHECK(requires_grad(tensor), RuntimeError,
            "cannot register a hook on a tensor that doesn't require gradient");
  const auto [list, output_nr] = hooks_of(tensor);
  const int64_t id = list->add(
      HookKind::Tensor, output_nr,
      [hook = std::move(hook)](TensorList& grads, const TensorList&) {
        Tensor replaced = hook(grads[0]);
        if (!replaced.defined()) return;
        PKG_CHECK(replaced.sizes() == grads[0].sizes(), RuntimeError,
                  "hook '' has changed the size of value: expected ", grads[0].sizes(),
                  ", got ", replaced.sizes());
        grads[0] = std::move(replaced);
      });
  return {Ref<HookList>::share(list), id};
}

HookHandle register_accumulated_hook(const Tensor& leaf,
                                     std::function<void(const Tensor&)> hook) {
  PKG_CHECK(requires_grad(leaf) && leaf.is_leaf(), RuntimeError,
            "post accumulate grad hooks cannot be registered on non-leaf tensors");
  HookList& list = leaf_hooks(leaf);
  const int64_t id = list.add(
      HookKind::Accumulated, 0,
      [hook = std::move(hook)](TensorList& grads, const TensorList&) { hook(grads[0]); });
  return {Ref<HookList>::share(&list), id};
}

void retain_grad(const Tensor& tensor) {
  PKG_CHECK(requires_grad(tensor), RuntimeError,
            "can't retain_grad on Tensor that has requires_grad=False");
  AutogradMeta& meta = tensor.make_autograd();
  // Threads of backward(inputs=) ask for the same tensor.
  std::lock_guard lock(g_asking);
  if (!meta.grad_fn || meta.retained) return;
  const auto slot = Ref<GradSlot>::make();
  const auto [list, output_nr] = hooks_of(tensor);
  retain_from(*list, output_nr, slot);
  std::lock_guard guard(detail::object_lock(&meta));
  meta.retained = slot;
}

void move_retained(AutogradMeta& meta, Node& node, uint32_t output_nr) {
  static_cast<Node&>(*meta.grad_fn).hooks().remove(meta.retained->hook);
  retain_from(node.hooks(), output_nr, meta.retained);
}

}  // namespace pkg

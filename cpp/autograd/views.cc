// SPDX-License-Identifier: Apache-2.0
// autograd/views.cc: see Note [History of views] in views.h.
#include "autograd/views.h"

#include <atomic>
#include <mutex>

#include "autograd/leaf.h"
#include "dispatcher/checks.h"
#include "dispatcher/dispatcher.h"
#include "ops/functions.h"
#include "scheduler/fork_locks.h"
#include "tensor/layout.h"

namespace pkg {
namespace {

// Grad mode on, whatever the caller's: history of what was recorded is being completed.
class Recording {
 public:
  Recording() : saved_(t_local_keys) {
    t_local_keys.excluded = t_local_keys.excluded.without(DispatchKey::Autograd);
  }
  ~Recording() { t_local_keys = saved_; }

 private:
  LocalKeys saved_;
};

using Layout = std::optional<Shape>;  // strides; none: row-major

// The layout that offsets of views refer to.
Layout layout_of(const Tensor& base) {
  return base.is_contiguous() ? Layout() : Layout(base.strides());
}

// A place in memory that is two elements of the base has no single gradient.
void check_layout(const Tensor& base) {
  if (base.is_contiguous()) return;
  PKG_CHECK(!may_overlap(base.sizes(), base.strides()), NotImplementedError,
            "[backward] a tensor that repeats its elements (shape ", base.sizes(),
            ", strides ", base.strides(),
            ") was changed through a view under autograd. "
            "clone() it first.");
}

// Whether a view is still a part of its base: not when `.data =` gave either of them other
// memory, or the base another place in it.
bool shows_its_base(const Tensor& view) {
  const TensorImpl &impl = *view.impl(), &base = *impl.base;
  return impl.storage == base.storage && impl.dtype == base.dtype && holds(base, impl);
}

// The history "part of the base".
Ref<Node> part_of_base(const Tensor& view) {
  const Tensor base(view.impl()->base);
  check_layout(base);
  Recording on;
  return grad_fn(ops::strided_view(base, view.sizes(), view.strides(),
                                   view.offset() - base.offset(), layout_of(base)));
}

// Whether the history is of what the memory holds now.
bool is_fresh(const Tensor& view) {
  AutogradMeta* meta = view.autograd();
  return meta &&
         std::atomic_ref(meta->version).load(std::memory_order_acquire) == view.version();
}

constinit std::mutex g_renewing;
const detail::HeldOverFork g_held{detail::ForkLock::RenewHistory, g_renewing};

// Otherwise it gets a new one: the base's, or none where detach_() took that away.
void renew(const Tensor& view) {
  if (is_fresh(view)) return;
  if (!shows_its_base(view)) return;  // it keeps the history of what it showed
  const Tensor base(view.impl()->base);
  // Such a base is never written under autograd: what its views are stays as it was.
  if (may_overlap(base.sizes(), base.strides())) return;
  if (view.is_leaf() && (base.is_leaf() || !base.requires_grad())) return;
  const Ref<Node> made = base.requires_grad() ? part_of_base(view) : Ref<Node>();
  // Several threads may ask for one view.  What is replaced is destroyed after the lock.
  Ref<Node> before;
  const AutogradMeta* meta = view.autograd();
  const Ref<TensorImpl> gradient = meta ? meta->grad.get() : Ref<TensorImpl>();
  std::lock_guard lock(g_renewing);
  if (is_fresh(view)) return;
  before = grad_fn(view);
  if (made) set_history(view, made, 0);
  else forget_history(view);
}

// Other tensors over this memory have to check their history again.
void note_written(const Tensor& self) {
  if (self.is_view() || self.storage().use_count() > 1) {
    self.storage().note_rebased_views();
  }
}

// Records on the base of a written view: the base as it was, with `part` in place of the
// view.  `part` has the history of the write.
void replace_in_base(const Tensor& view, const Tensor& part) {
  const Tensor base(view.impl()->base);
  const Value args[] = {base,
                        part,
                        view.sizes(),
                        view.strides(),
                        Scalar(view.offset() - base.offset()),
                        box(layout_of(base))};
  set_history(base, Ref<OpNode>::make(ops::strided_scatter.record(), args), 0);
  // Whatever its version is: a Function has written already.
  set_history(view, part_of_base(view), 0);
}

}  // namespace

bool requires_grad(const Tensor& tensor) {
  // A history is stale when the memory was written since; a view gets one that it did not
  // have only when that write was recorded.
  if (tensor.is_view() &&
      (tensor.requires_grad() || tensor.storage().has_rebased_views())) {
    renew(tensor);
  }
  return tensor.requires_grad();
}

void prepare_in_place(std::string_view name, const Tensor& self) {
  detail::check_no_leaf_written(name, self);
  if (self.is_view()) {
    const Tensor base(self.impl()->base);
    // One with a history of its own shows a leaf that is a view, or what was detached.
    PKG_CHECK(!base.is_leaf() || !(base.requires_grad() || requires_grad(self)),
              RuntimeError,
              "a view of a leaf Variable that requires grad is being used in an in-place "
              "operation ([",
              name, "]). Use no_grad() to change it outside the graph.");
    if (base.requires_grad()) renew(self);  // one made under no_grad has no history yet
  }
}

void check_recordable(std::string_view name, const Tensor& self) {
  if (!self.is_view()) return;
  PKG_CHECK(shows_its_base(self), RuntimeError, "[", name,
            "] expected a view of what its "
            "base is now, got one from before `.data = ...` gave one of them other memory, "
            "so that the write has no place in the history of the base. Hint: make the "
            "view again, or write under no_grad().");
  check_layout(Tensor(self.impl()->base));
}

void record_in_place(const Tensor& self, const Ref<OpNode>& node, const Stack& stack) {
  note_written(self);
  if (!self.is_view()) return node->set_results(stack);
  const Tensor part = share(self);
  Stack written;
  written.push(part);
  node->set_results(written);
  replace_in_base(self, part);
}

void rebase_history(const Tensor& self, Ref<Node> node, uint32_t output_nr) {
  note_written(self);
  if (!self.is_view()) return set_history(self, std::move(node), output_nr);
  const Tensor part = share(self);
  set_history(part, std::move(node), output_nr);
  replace_in_base(self, part);
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// tensor/autograd_meta.h: what a tensor remembers for autograd.  The tensor only
// stores it; autograd/ gives it meaning.
#pragma once

#include <cstdint>

#include "base/intrusive.h"
#include "tensor/allocator.h"

namespace pkg {

class TensorImpl;

/// A gradient that passes of several threads add to while others read it.
class GradCell {
 public:
  Ref<TensorImpl> get() const;
  /// What was there before.
  Ref<TensorImpl> exchange(Ref<TensorImpl> with);
  /// False, and nothing done, when there is a gradient.
  bool fill(const Ref<TensorImpl>& with);

 private:
  Ref<TensorImpl> value_;  // under its object_lock()
};

/// Where retain_grad() puts a gradient: shared with the graph, which must not own the
/// tensor it belongs to.
struct GradSlot final : Intrusive {
  GradCell grad;
  int64_t hook = 0;  ///< number of the hook that fills it, among those of the node

 private:
  ~GradSlot() override;
};

struct AutogradMeta : PoolAllocated {
  uint32_t output_nr = 0;  ///< which output of grad_fn this tensor is
  uint32_t version = 0;    ///< of the storage when grad_fn was set
  Ref<Intrusive> grad_fn;  ///< autograd::Node that made it; null on a leaf
  GradCell grad;           ///< accumulated gradient of a leaf
  Ref<GradSlot> retained;  ///< gradient of a tensor that is no leaf, when asked for
  Ref<Intrusive> hooks;    ///< autograd::HookList of a leaf

  // The AccumulateGrad node of a leaf, not owned: the node owns the tensor.  Guarded
  // by our object_lock(), since the node may be dying while another graph asks for it; so
  // is `retained`, which passes of several threads may be the first to ask for.
  Intrusive* accumulator = nullptr;

  GradCell& grad_cell();
  ~AutogradMeta();
};

}  // namespace pkg

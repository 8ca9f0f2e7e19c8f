// SPDX-License-Identifier: Apache-2.0
// autograd/views.h: keeping the history of views and of what they show in step when
// either is written in place.
//
// Note [History of views]
// A view and its base share memory, so a write through one changes the other.  The base
// is the one place where history is kept right: writing to a view records "the base with
// the view's part replaced" as the history of the base.  A view whose memory was written
// since its own history was made gets a new one, "a strided view of the base", the next
// time somebody asks.
#pragma once

#include "autograd/op_node.h"
#include "dispatcher/operator.h"

namespace pkg {

/// Whether gradients flow through the tensor now, after all writes to its memory.
bool requires_grad(const Tensor& tensor);

/// Makes the history of an op that has written to its first argument.  `node` recorded
/// the call, with the values and history from before; `stack` holds the results.
void record_in_place(const Tensor& self, const Ref<OpNode>& node, const Stack& stack);

/// Makes output `output_nr` of `node` the history of `self`, which it has written and
/// whose version says so: of a view, through its base.
void rebase_history(const Tensor& self, Ref<Node> node, uint32_t output_nr);

/// Before `name` is recorded as writing to `self`: refuses what would lose or corrupt a
/// gradient, and gives a view its part in the history of its base.
void prepare_in_place(std::string_view name, const Tensor& self);
/// Refuses a view whose part in its base cannot be described: before `name` is recorded as
/// writing to it.
void check_recordable(std::string_view name, const Tensor& self);

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/fallback.cc: the Autograd key, one boxed function for all ops: record a node,
// then go on down.
#include "autograd/op_node.h"
#include "dispatcher/library.h"

namespace pkg {
namespace {

bool any_requires_grad(std::span<const Value> args) {
  bool any = false;
  for (const Value& value : args) {
    for_each_tensor(value, [&](const Tensor& t) { any |= t.requires_grad(); });
  }
  return any;
}

// What would lose or corrupt a gradient is refused before anything is written.
void check_in_place_target(const Operator& op, const Tensor& self) {
  PKG_CHECK(!(self.requires_grad() && self.is_leaf()), RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "Use no_grad() to change it outside the graph.");
  PKG_CHECK(!self.impl()->is_view, NotImplementedError, "[", op.schema.name,
            "] an in-place operation on a view is not recorded by autograd yet. Use the "
            "out-of-place form (where, cat, index_put), or detach().");
}

void autograd_fallback(const Operator& op, const Kernel&, KeySet keys, Stack& stack) {
  const Dispatcher& dispatcher = Dispatcher::get();
  const KeySet below = keys & KeySet::below(DispatchKey::Autograd);
  const Operator& definition = op.definition();
  if (definition.non_differentiable || !any_requires_grad(stack.args)) {
    return dispatcher.redispatch_boxed(op, below, stack);
  }
  PKG_CHECK(definition.gradient.formula, NotImplementedError, "[", op.schema.name,
            "] has no gradient formula, so the gradient of its input would be lost. Give "
            "it one with .grad(...) where it is defined (", op.where,
            "), or detach() the input.");
  if (op.in_place()) check_in_place_target(op, std::get<Tensor>(stack.args[0]));
  auto node = Ref<OpNode>::make(op, stack.args);
  dispatcher.redispatch_boxed(op, below, stack);
  node->set_results(stack);
}

PKG_LIBRARY_IMPL(_, Autograd, m) { m.fallback(autograd_fallback); }

}  // namespace
}  // namespace pkg

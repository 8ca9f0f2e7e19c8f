// SPDX-License-Identifier: Apache-2.0
// autograd/fallback.cc: the Autograd key, one boxed function for all ops: record a node,
// then go on down.
#include "autograd/views.h"
#include "dispatcher/library.h"

namespace pkg {
namespace {

bool any_requires_grad(std::span<const Value> args) {
  bool any = false;
  for (const Value& value : args) {
    for_each_tensor(value, [&](const Tensor& t) { any |= requires_grad(t); });
  }
  return any;
}

// Integers never have a gradient, even when a float with one is written to them.
bool writes_integers(const Operator& op, const Stack& stack) {
  return op.in_place() && !is_floating(std::get<Tensor>(stack.args[0]).dtype());
}

void autograd_fallback(const Operator& op, const Kernel&, KeySet keys, Stack& stack) {
  const Dispatcher& dispatcher = Dispatcher::get();
  const KeySet below = keys & KeySet::below(DispatchKey::Autograd);
  const Operator& definition = op.definition();
  if (op.in_place()) prepare_in_place(op.schema.name, std::get<Tensor>(stack.args[0]));
  if (definition.non_differentiable || writes_integers(op, stack) ||
      !any_requires_grad(stack.args)) {
    return dispatcher.redispatch_boxed(op, below, stack);
  }
  PKG_CHECK(definition.gradient.defined(), NotImplementedError, "[", op.schema.name,
            "] has no gradient formula, so the gradient of its input would be lost. Give "
            "it one with .derivative(...) where it is defined (",
            op.where, "), or with pkg.library.register_autograd, or detach() the input.");
  if (!op.in_place()) {
    auto node = Ref<OpNode>::make(op, stack.args);
    dispatcher.redispatch_boxed(op, below, stack);
    return node->set_results(stack);
  }
  const Tensor self = std::get<Tensor>(stack.args[0]);
  check_recordable(op.schema.name, self);
  auto node = Ref<OpNode>::make(op, stack.args);
  dispatcher.redispatch_boxed(op, below, stack);
  record_in_place(self, node, stack);
}

PKG_LIBRARY_IMPL(_, Autograd, m) { m.fallback(autograd_fallback); }

}  // namespace
}  // namespace pkg

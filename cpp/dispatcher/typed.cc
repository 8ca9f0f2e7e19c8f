// SPDX-License-Identifier: Apache-2.0
// dispatcher/typed.cc: the templates of the usual signatures, and handles finding ops.
#include "dispatcher/adapter.h"

namespace pkg {

const Operator& OpHandle::resolve(const detail::Signature& signature) const {
  const Operator& op = Dispatcher::get().find(name_, ns_);
  detail::check_handle(op, signature);
  op_.store(&op, std::memory_order_release);
  return op;
}

namespace detail {

#define PKG_COMPILED_HERE(R, ...)          \
  template struct Adapter<R, __VA_ARGS__>; \
  template R call<R, __VA_ARGS__>(const Operator& op, __VA_ARGS__);
PKG_USUAL_SIGNATURES(PKG_COMPILED_HERE)
#undef PKG_COMPILED_HERE

}  // namespace detail
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// c_api/op.cc: finding, describing and calling ops from C.
#include <array>

#include "c_api/boundary.h"

namespace pkg::c {

const Operator& required(const char* function, const pkg_op* handle) {
  PKG_CHECK(handle, TypeError, "[", function, "] expected an op, got NULL.");
  return *reinterpret_cast<const Operator*>(handle);
}

namespace {

static_assert(kMaxResults == PKG_MAX_RESULTS);

// One overload alone answers to its bare name, too.
const Operator& find(std::string_view name) {
  const Dispatcher& dispatcher = Dispatcher::get();
  if (const Operator* op = dispatcher.find_or_null(name)) return *op;
  const size_t colons = name.find("::");
  const auto overloads = colons == name.npos ? dispatcher.overloads(name)
                                             : dispatcher.overloads(name.substr(colons + 2),
                                                                    name.substr(0, colons));
  if (overloads.size() == 1) return *overloads[0];
  return dispatcher.find(name);  // says what is near
}

// Arguments and results of one call.
struct BoxedCall {
  std::array<Value, kMaxParameters> values;
  Stack stack{};

  BoxedCall(const Operator& op, const pkg_arg* args, size_t n_args) {
    const size_t n = op.schema.arguments.size();
    PKG_CHECK(args || n_args == 0, TypeError, "[pkg_op_call] expected ", n_args,
              " arguments, got NULL.");
    stack.args = std::span(values.data(), n);
    bind_arguments(op, std::span(args, n_args), stack.args);
    Dispatcher::get().call_boxed(op, stack);
  }
};

}  // namespace
}  // namespace pkg::c

using namespace pkg;
using namespace pkg::c;

extern "C" {

const pkg_op* pkg_op_find(const char* name, pkg_status* status) {
  return guarded<const pkg_op*>(status, nullptr, [&] {
    PKG_CHECK(name, TypeError, "[pkg_op_find] expected a name, got NULL.");
    return handle_of(find(name));
  });
}

size_t pkg_op_list(const pkg_op** ops, size_t capacity) {
  return guarded<size_t>(nullptr, 0, [&] {
    const auto all = Dispatcher::get().all();
    for (size_t i = 0; ops && i < std::min(capacity, all.size()); ++i) {
      ops[i] = handle_of(*all[i]);
    }
    return all.size();
  });
}

size_t pkg_op_name(const pkg_op* op, char* text, size_t capacity) {
  return write_text(text, capacity,
                    [&] { return required("pkg_op_name", op).qualified_name(); });
}
size_t pkg_op_schema(const pkg_op* op, char* text, size_t capacity) {
  return write_text(text, capacity,
                    [&] { return required("pkg_op_schema", op).schema.str(); });
}
size_t pkg_op_doc(const pkg_op* op, char* text, size_t capacity) {
  return write_text(text, capacity, [&] { return required("pkg_op_doc", op).doc; });
}

int32_t pkg_op_call(const pkg_op* handle, const pkg_arg* args, size_t n_args,
                    pkg_value* results, pkg_status* status) {
  return guarded(status, int32_t{-1}, [&] {
    const Operator& op = required("pkg_op_call", handle);
    PKG_CHECK(results, TypeError,
              "[pkg_op_call] expected room for the results, got "
              "NULL.");
    const BoxedCall call(op, args, n_args);
    size_t made = 0;
    try {
      for (; made < call.stack.results.size(); ++made) {
        results[made] = own_value(call.stack.results[made]);
      }
    } catch (...) {
      while (made) pkg_value_clear(&results[--made]);
      throw;
    }
    return int32_t(call.stack.results.size());
  });
}

pkg_tensor* pkg_op_call_tensor(const pkg_op* handle, const pkg_arg* args, size_t n_args,
                               pkg_status* status) {
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    const Operator& op = required("pkg_op_call_tensor", handle);
    const auto& returns = op.schema.returns;
    PKG_CHECK(returns.size() == 1 && returns[0].type == ArgType::Tensor && !returns[0].list,
              TypeError,
              "[pkg_op_call_tensor] expected an op that returns one Tensor, got ",
              op.schema.str(), ". Hint: pkg_op_call().");
    BoxedCall call(op, args, n_args);
    return own(std::get<Tensor>(std::move(call.stack.results[0])));
  });
}

}  // extern "C"

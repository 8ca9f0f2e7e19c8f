// SPDX-License-Identifier: Apache-2.0
// dispatcher/builder.cc: what an op's description puts into its record.
#include "dispatcher/derivative.h"
#include "dispatcher/library.h"

namespace pkg {

OpBuilder& OpBuilder::kernel(DispatchKey key, Kernel kernel) {
  kernel.where = *origin_.where ? origin_.where : op_.where;
  Dispatcher::get().set_kernel(op_, key, kernel);
  return *this;
}

OpBuilder& OpBuilder::doc(const char* text) {
  op_.doc = text;
  return *this;
}

OpBuilder& OpBuilder::of_kind(OpKind kind) {
  op_.kind = kind;
  Kernel none;
  none.fallthrough = true;
  if (kind == OpKind::Composite) kernel(DispatchKey::Autograd, none);
  kernel(DispatchKey::Plan, none);
  return kernel(DispatchKey::Async, none);
}

OpBuilder& OpBuilder::add_rule(const detail::Signature& given, const std::type_info& args,
                               void* rule, void (*boxed)(void*, const Value*, Spec*)) {
  detail::check_signature(op_, ".shape", origin_.where, given, true);
  op_.kind = OpKind::Structured;
  op_.shape = rule;
  op_.shape_boxed = boxed;
  op_.signature = &args;
  Kernel meta;
  meta.boxed = &detail::run_structured;
  return kernel(DispatchKey::Meta, meta);
}

// Chooses the entry by the memory order.
OpBuilder& OpBuilder::add_kernel(const char* stage, const detail::Signature& given,
                                 const std::type_info* args, DispatchKey key,
                                 const Kernel& function, MemoryOrder order) {
  const bool as_rule = !args || (op_.signature && *op_.signature == *args);
  detail::check_signature(op_, stage, origin_.where, given, as_rule);
  const bool rows = order == kRowMajor ||
                    (order == MemoryOrder::Default && origin_.outside);
  if (!rows || key != DispatchKey::CPU) return kernel(key, function);
  Kernel made = function;
  made.strided = made.converts = false;
  made.unboxed = nullptr;
  made.rows = made.boxed;
  made.boxed = made.compute ? &detail::run_structured : &detail::run_rows;
  if (made.compute) kernel(DispatchKey::Meta, made);
  return kernel(key, made);
}

const char* OpBuilder::stage_of(DispatchKey key) {
  return key == DispatchKey::CPU ? ".cpu" : ".impl";
}

OpBuilder& OpBuilder::dtypes(DTypeSet common) {
  op_.domain.common = common;
  op_.domain.declared = true;
  Dispatcher::get().refresh(op_);
  return *this;
}

OpBuilder& OpBuilder::dtypes(std::string_view parameter, DTypeSet own) {
  const int index = op_.schema.index_of(parameter);
  PKG_CHECK(index >= 0 && op_.schema.arguments[size_t(index)].type == ArgType::Tensor,
            ValueError, "[register] .dtypes of ", op_.schema.str(), " at ", origin_.where,
            ": expected a Tensor parameter, got '", parameter, "'.");
  op_.domain.own[size_t(index)] = own;
  op_.domain.declared = true;
  Dispatcher::get().refresh(op_);
  return *this;
}

OpBuilder& OpBuilder::grad(std::string_view saves, Gradient::Formula formula) {
  Saves masks;
  const auto argument = [this](std::string_view name) {
    const int index = op_.schema.index_of(name);
    PKG_CHECK(index >= 0, ValueError, "[register] .grad of ", op_.schema.str(), " at ",
              origin_.where, ": expected names of parameters or 'result', got '", name,
              "'.");
    return size_t(index);
  };
  while (!saves.empty()) {
    const size_t space = std::min(saves.find(' '), saves.size());
    const std::string_view token = saves.substr(0, space);
    saves.remove_prefix(std::min(space + 1, saves.size()));
    const size_t mark = token.find('?');
    const std::string_view name = token.substr(0, mark);
    const uint64_t wanted_by = mark == token.npos
                                   ? ~uint64_t{0}
                                   : uint64_t{1} << argument(token.substr(mark + 1));
    const int result = detail::number_of(name, "result");
    if (result >= 0 && size_t(result) < op_.schema.returns.size()) {
      masks.results[size_t(result)] |= wanted_by;
    } else {
      masks.arguments[argument(name)] |= wanted_by;
    }
  }
  Dispatcher::get().set_gradient(op_, masks, formula, origin_.where);
  return *this;
}

// The in-place form has the base's rule, formula and kernels; only where the result
// goes differs, which the structured entry decides.
OpBuilder& OpBuilder::in_place() {
  Schema schema = op_.schema;
  schema.name += '_';
  schema.arguments[0].written = true;
  schema.returns[0].written = true;
  Operator& form = Dispatcher::get().define(op_.ns, std::move(schema), op_.where);
  form.base = &op_;
  form.doc = "In-place form of " + op_.schema.name + ": the result is written to self.";
  form.kind = op_.kind;
  form.pointwise = op_.pointwise;
  form.signature = op_.signature;
  form.non_differentiable = op_.non_differentiable;
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    if (op_.has_kernel(key)) Dispatcher::get().set_kernel(form, key, op_.kernel(key));
  }
  return *this;
}

#define PKG_COMPILED_HERE(R, ...)                                                    \
  template OpBuilder& OpBuilder::add_rule<Spec, __VA_ARGS__>(Spec (*)(__VA_ARGS__)); \
  template OpBuilder& OpBuilder::add_kernel<R, __VA_ARGS__>(                         \
      const char*, DispatchKey, R (*)(__VA_ARGS__), MemoryOrder);                    \
  template OpBuilder& OpBuilder::add_kernel<void, R&, __VA_ARGS__>(                  \
      const char*, DispatchKey, void (*)(R&, __VA_ARGS__), MemoryOrder);
PKG_USUAL_SIGNATURES(PKG_COMPILED_HERE)
#undef PKG_COMPILED_HERE

}  // namespace pkg

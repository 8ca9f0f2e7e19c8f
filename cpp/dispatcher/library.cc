// SPDX-License-Identifier: Apache-2.0
// dispatcher/library.cc: running registration blocks.
#include "dispatcher/library.h"

#include <algorithm>
#include <mutex>

namespace pkg {
namespace {

struct Block {
  Library::Kind kind;
  const char* ns;
  const char* key;
  const char* where;
  void (*run)(Library&);
};

struct Pending {
  std::recursive_mutex mutex;
  std::vector<Block> blocks;
  std::atomic<bool> any{false};
};
Pending& pending() {
  static Pending* instance = new Pending;
  return *instance;
}

}  // namespace

Registration::Registration(Library::Kind kind, const char* ns, const char* key,
                           const char* where, void (*block)(Library&)) {
  std::lock_guard lock(pending().mutex);
  pending().blocks.push_back({kind, ns, key, where, block});
  pending().any.store(true, std::memory_order_release);
}

void run_pending_registrations(Dispatcher&) {
  Pending& p = pending();
  if (!p.any.load(std::memory_order_acquire)) return;
  std::lock_guard lock(p.mutex);
  std::vector<Block> blocks = std::move(p.blocks);
  p.blocks.clear();
  p.any.store(false, std::memory_order_release);
  // Kernels and fallbacks may be linked before the definitions they belong to.
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return (a.kind == Library::Kind::Implementation) <
           (b.kind == Library::Kind::Implementation);
  });
  for (const Block& block : blocks) {
    std::optional<DispatchKey> key;
    if (block.key) {
      key = dispatch_key_from_name(block.key);
      PKG_CHECK(key, ValueError, "could not parse dispatch key: ", block.key, " (at ",
                block.where, ").");
    }
    Library library(block.kind, block.ns, key, block.where);
    block.run(library);
  }
}

Library::Library(Kind kind, const char* ns, std::optional<DispatchKey> key,
                 const char* where)
    : kind_(kind), ns_(ns), key_(key), where_(where) {
  if (kind == Kind::Definition) Dispatcher::get().claim_namespace(ns, where);
}

OpBuilder Library::def(std::string_view schema) {
  PKG_CHECK(kind_ != Kind::Implementation, RuntimeError,
            "[def] not allowed in a PKG_LIBRARY_IMPL block (at ", where_, ").");
  return OpBuilder(Dispatcher::get().define(ns_, parse_schema(schema), where_));
}

OpBuilder Library::impl_builder(std::string_view name) {
  PKG_CHECK(kind_ == Kind::Implementation && std::string_view(ns_) != "_", RuntimeError,
            "[impl] belongs in a PKG_LIBRARY_IMPL block of a real namespace (at ",
            where_, ").");
  return OpBuilder(Dispatcher::get().find_mutable(name, ns_));
}

void Library::fallback(Kernel::Boxed function) {
  PKG_CHECK(kind_ == Kind::Implementation && std::string_view(ns_) == "_", RuntimeError,
            "[fallback] belongs in PKG_LIBRARY_IMPL(_, Key, m) (at ", where_, ").");
  Kernel kernel;
  kernel.boxed = function;
  kernel.where = where_;
  Dispatcher::get().set_fallback(*key_, kernel);
}

OpBuilder& OpBuilder::kernel(DispatchKey key, Kernel kernel) {
  kernel.where = op_.where;
  Dispatcher::get().set_kernel(op_, key, kernel);
  return *this;
}

OpBuilder& OpBuilder::grad(std::string_view saves, Gradient::Formula formula) {
  op_.gradient.formula = formula;
  while (!saves.empty()) {
    const size_t space = std::min(saves.find(' '), saves.size());
    const std::string_view name = saves.substr(0, space);
    saves.remove_prefix(std::min(space + 1, saves.size()));
    if (name == "result") {
      op_.gradient.saves_results = true;
      continue;
    }
    const int index = op_.schema.index_of(name);
    PKG_CHECK(index >= 0, ValueError, "[grad] ", op_.schema.str(),
              " has no parameter named '", name, "'.");
    op_.gradient.saved_args |= uint64_t{1} << index;
  }
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

namespace detail {

void check_signature(const Operator& op, bool ok, const std::type_info* given) {
  PKG_CHECK(ok, ValueError, "[register] the C++ signature (", given->name(),
            ") does not fit the schema ", op.schema.str(), " registered at ", op.where,
            ".");
}

void check_in_place(const Operator& op, const Tensor& self, const Spec& spec) {
  PKG_CHECK(self.sizes() == spec.sizes, RuntimeError, "[", op.schema.name,
            "] output with shape ", self.sizes(), " doesn't match the broadcast shape ",
            spec.sizes, ".");
  const bool loses = is_floating(spec.dtype) && !is_floating(self.dtype());
  PKG_CHECK(!loses && !(self.dtype() == DType::Bool && spec.dtype != DType::Bool),
            RuntimeError, "[", op.schema.name, "] result type ", spec.dtype,
            " can't be cast to the desired output type ", self.dtype(), ".");
}

}  // namespace detail
}  // namespace pkg

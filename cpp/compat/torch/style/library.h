// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/library.h: TORCH_LIBRARY and its sisters, which fill the one registry.
// Blocks run when it is first used, or when the library is loaded: a fault in one is an
// exception there, and all that the library has registered is taken back.
#pragma once

#include "compat/torch/style/kernel.h"
#include "dispatcher/library.h"

namespace at {
/// PyTorch's tags of ops; nothing here depends on them.
enum class Tag { pt2_compliant_tag, needs_fixed_stride_order, flexible_layout };
}  // namespace at

namespace torch {

/// A kernel with what is said of it.
class CppFunction {
 public:
  template <class F>
    requires std::is_constructible_v<at::detail::AnyFunction, F>
  CppFunction(F function) : function_(function) {}
  static CppFunction makeFallthrough() { return CppFunction(); }

  const at::detail::AnyFunction& function() const { return function_; }
  bool falls_through() const { return !function_.function; }
  const std::optional<c10::DispatchKey>& key() const { return key_; }
  CppFunction at_key(c10::DispatchKey key) && {
    key_ = key;
    return std::move(*this);
  }

 private:
  CppFunction() = default;
  at::detail::AnyFunction function_;
  std::optional<c10::DispatchKey> key_;
};
inline CppFunction dispatch(c10::DispatchKey key, CppFunction function) {
  return std::move(function).at_key(key);
}

/// The `m` of a block.
class Library {
 public:
  using Kind = ::pkg::Library::Kind;
  Library(Kind kind, const char* ns, const char* key, const char* where)
      : kind_(kind), ns_(ns), where_(where) {
    if (kind == Kind::Definition) claim();
    if (!key) return;
    key_ = c10::parse_key(key);
    PKG_CHECK(key_, ValueError, "could not parse dispatch key: ", key, " (at ", where_,
              ").");
  }

  /// Declares an op.
  Library& def(const std::string& schema, const std::vector<at::Tag>& = {}) {
    define(schema);
    return *this;
  }
  /// Declares it with a kernel for all keys, which calls other ops; without parentheses the
  /// schema follows from the function.
  Library& def(const std::string& schema, CppFunction function) {
    const bool named = schema.find('(') == schema.npos;
    auto& op = define(named ? at::detail::schema_of(schema, function.function().signature())
                            : schema);
    add(op, function.key().value_or(c10::DispatchKey::CompositeImplicitAutograd), function);
    return *this;
  }
  /// Gives an op a kernel at the key of the block, or of torch::dispatch.
  Library& impl(const std::string& name, CppFunction function) {
    const auto otherwise = c10::DispatchKey::CompositeImplicitAutograd;
    add(find(name), function.key().value_or(key_.value_or(otherwise)), function);
    return *this;
  }
  Library& impl(const std::string& name, c10::DispatchKey key, CppFunction function) {
    add(find(name), key, function);
    return *this;
  }
  /// Python modules with the rest of an op's registration are imported by whoever loads.
  void impl_abstract_pystub(const char*, const char* = "") {}
  void set_python_module(const char*, const char* = "") {}

 private:
  void claim() {
    try {
      ::pkg::Dispatcher::get().claim_namespace(ns_, where_);
    } catch (const ::pkg::RuntimeError& error) {
      std::string text = error.message();
      for (size_t at = 0; (at = text.find("PKG_LIBRARY", at)) != text.npos; at += 13) {
        text.replace(at, 3, "TORCH");
      }
      throw ::pkg::RuntimeError(text);
    }
  }
  ::pkg::Operator& define(std::string_view schema) {
    PKG_CHECK(kind_ != Kind::Implementation, RuntimeError,
              "[def] expected a TORCH_LIBRARY or TORCH_LIBRARY_FRAGMENT block, got a "
              "TORCH_LIBRARY_IMPL block (at ",
              where_, ").");
    const size_t colons = schema.substr(0, schema.find('(')).find("::");
    if (colons != schema.npos) {
      PKG_CHECK(schema.substr(0, colons) == ns_, ValueError, "[def] expected an op of ",
                ns_, ", the namespace of the block, got ", schema, " (at ", where_, ").");
      schema.remove_prefix(colons + 2);
    }
    return ::pkg::Dispatcher::get().define(ns_, ::pkg::parse_schema(schema), where_);
  }
  ::pkg::Operator& find(const std::string& name) {
    PKG_CHECK(std::string_view(ns_) != "_", RuntimeError,
              "[impl] expected a block of a real namespace, got one of _ (at ", where_,
              ").");
    ::pkg::Dispatcher& dispatcher = ::pkg::Dispatcher::get();
    PKG_CHECK(dispatcher.find_or_null(name, ns_), LookupError,
              "[impl] expected an op that ", "is declared, got ", ns_, "::", name, " (at ",
              where_, "). Hint: m.def(\"", name,
              "(...) -> ...\") in a TORCH_LIBRARY block, which "
              "must be loaded first.");
    return dispatcher.find_mutable(name, ns_);
  }
  void add(::pkg::Operator& op, c10::DispatchKey key, const CppFunction& function) {
    using c10::DispatchKey;
    if (key == DispatchKey::Absent) return;
    const auto& f = function.function();
    if (function.falls_through()) {
      ::pkg::Kernel none;
      none.fallthrough = true;
      none.where = where_;
      return ::pkg::Dispatcher::get().set_kernel(op, core_key(key), none);
    }
    const at::detail::Signature given = f.signature();
    const std::string expected = at::detail::misfit(given, op.schema);
    PKG_CHECK(expected.empty(), ValueError, "[register] .impl of ", op.schema.str(), " at ",
              where_, ": expected ", expected, ", got ", given.str(), " (declared at ",
              op.where, ").");
    if (key == DispatchKey::CompositeImplicitAutograd) {
      return ::pkg::detail::set_composite_kernel(op, f.boxed, f.function, f.unboxed,
                                                 where_);
    }
    const auto at_key = [&](::pkg::DispatchKey core) {
      ::pkg::detail::set_plain_kernel(op, core, f.boxed, f.function, f.unboxed, where_);
    };
    at_key(core_key(key));
    if (key == DispatchKey::CompositeExplicitAutograd) at_key(::pkg::DispatchKey::Meta);
  }
  static ::pkg::DispatchKey core_key(c10::DispatchKey key) {
    if (key == c10::DispatchKey::Meta) return ::pkg::DispatchKey::Meta;
    return key == c10::DispatchKey::Autograd ? ::pkg::DispatchKey::Autograd
                                             : ::pkg::DispatchKey::CPU;
  }

  Kind kind_;
  const char* ns_;
  const char* where_;
  std::optional<c10::DispatchKey> key_;
};

}  // namespace torch

// The name of the function makes a second TORCH_LIBRARY of a namespace in one file an error of
// the compiler.  The core's block of a definition is a fragment: torch::Library claims it.
#define PKG_TORCH_BLOCK_(kind, sorted_as, ns, key, m, function, id)         \
  static void function(::torch::Library&);                                  \
  static void PKG_CONCAT(pkg_torch_block_, id)(::pkg::Library&) {           \
    ::torch::Library library(::torch::Library::Kind::kind, #ns, key,        \
                             __FILE__ ":" PKG_STR(__LINE__));               \
    function(library);                                                      \
  }                                                                         \
  static const ::pkg::Registration PKG_CONCAT(pkg_torch_registration_, id)( \
      ::pkg::Library::Kind::sorted_as, #ns, nullptr,                        \
      ::pkg::Origin{__FILE__ ":" PKG_STR(__LINE__), true},                  \
      &PKG_CONCAT(pkg_torch_block_, id), PKG_STAMP_);                       \
  static void function([[maybe_unused]] ::torch::Library& m)
#define PKG_TORCH_NAMED_(kind, sorted_as, ns, key, m, prefix, id) \
  PKG_TORCH_BLOCK_(kind, sorted_as, ns, key, m, PKG_CONCAT(prefix, id), __COUNTER__)

#define TORCH_LIBRARY(ns, m) \
  PKG_TORCH_NAMED_(Definition, Fragment, ns, nullptr, m, TORCH_LIBRARY_init_, ns)
#define TORCH_LIBRARY_FRAGMENT(ns, m)                  \
  PKG_TORCH_NAMED_(Fragment, Fragment, ns, nullptr, m, \
                   PKG_CONCAT(TORCH_LIBRARY_part_, ns), __COUNTER__)
#define TORCH_LIBRARY_IMPL(ns, key, m)                          \
  PKG_TORCH_NAMED_(Implementation, Implementation, ns, #key, m, \
                   PKG_CONCAT(TORCH_LIBRARY_IMPL_, ns), __COUNTER__)
#define TORCH_FN(function) (&function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

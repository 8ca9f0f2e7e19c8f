// SPDX-License-Identifier: Apache-2.0
// dispatcher/foreign.cc: see foreign.h.
#include "dispatcher/foreign.h"

#include <set>

#include "dispatcher/dispatcher.h"
#include "dispatcher/explain.h"
#include "dispatcher/plain_kernel.h"
#include "scheduler/fork_locks.h"

namespace pkg {
namespace {

// Records keep pointers to their places, as long as the process lives.
auto& g_texts = *new std::set<std::string>();

// Note [Locks and fork] in scheduler/fork_locks.h
const char* kept(const std::string& text) {
  std::lock_guard lock(detail::object_lock(&g_texts));
  return g_texts.insert(text).first->c_str();
}

}  // namespace

void claim_namespace(const std::string& ns, const std::string& where) {
  Dispatcher::get().claim_namespace(ns, kept(where));
}

std::string define_op(const std::string& ns, const std::string& schema,
                      const std::string& doc, const std::string& where) {
  PKG_CHECK(!ns.empty() && ns.find_first_of(":. ") == ns.npos, ValueError,
            "[define] expected a namespace, such as mine, got '", ns, "'.");
  std::string_view text = schema;
  const size_t colons = text.substr(0, text.find('(')).find("::");
  if (colons != text.npos) {
    PKG_CHECK(text.substr(0, colons) == ns, ValueError, "[define] expected an op of ", ns,
              ", got ", schema, ".");
    text.remove_prefix(colons + 2);
  }
  Operator& op = Dispatcher::get().define(ns, parse_schema(text), kept(where));
  op.doc = doc;
  return op.qualified_name();
}

void set_foreign_kernel(const std::string& name, const std::string& key, Kernel::Boxed call,
                        void* function, const std::string& where) {
  Operator& op = Dispatcher::get().find_mutable(name, "");
  const char* place = kept(where);
  if (key == "CompositeImplicitAutograd") {
    return detail::set_composite_kernel(op, call, function, nullptr, place);
  }
  const bool both = key == "CompositeExplicitAutograd";
  const auto parsed = both ? DispatchKey::CPU : dispatch_key_from_name(key);
  PKG_CHECK(parsed, ValueError, "could not parse dispatch key: ", key);
  detail::set_plain_kernel(op, *parsed, call, function, nullptr, place);
  if (both) detail::set_plain_kernel(op, DispatchKey::Meta, call, function, nullptr, place);
  if (parsed == DispatchKey::CPU && !detail::writes(op)) {
    detail::Conduct conduct(op);
    conduct.in_program_order = true;
    detail::set_conduct(op, conduct);
  }
}

std::vector<std::vector<std::string>> dispatch_table(const std::string& name) {
  const Operator& op = Dispatcher::get().find(name, "");
  std::vector<std::vector<std::string>> rows;
  for (int k = kNumKeys; k-- > 0;) {
    const DispatchKey key{uint8_t(k)};
    std::string what = what_is_at(op, key);
    if (what == "kernel" && op.kind == OpKind::Composite && kBackendKeys.has(key)) {
      what = "composite";
    }
    rows.push_back({name_of(key), what, op.kernel(key).where});
  }
  return rows;
}

}  // namespace pkg

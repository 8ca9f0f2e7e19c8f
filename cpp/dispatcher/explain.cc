// SPDX-License-Identifier: Apache-2.0
// dispatcher/explain.cc: see explain.h.
#include "dispatcher/explain.h"

#include <dlfcn.h>

#include "dispatcher/dispatcher.h"
#include "dispatcher/domain.h"

namespace pkg {
namespace {

std::string names_of(KeySet keys) {
  std::string names;
  for (; !keys.empty(); keys = keys.without(keys.highest())) {
    names += (names.empty() ? "" : " ") + std::string(name_of(keys.highest()));
  }
  return names;
}

// The file that the function is in.
std::string library_of(const Kernel& kernel) {
  const void* code = kernel.function ? kernel.function
                                     : reinterpret_cast<const void*>(kernel.boxed);
  Dl_info info;
  return dladdr(code, &info) && info.dli_fname ? info.dli_fname : "";
}

}  // namespace

std::string what_is_at(const Operator& op, DispatchKey key) {
  const Kernel& kernel = op.kernel(key);
  if (op.has_kernel(key)) return kernel.fallthrough ? "falls through" : "kernel";
  if (!*kernel.where) return "nothing";
  return kernel.fallthrough ? "off" : "fallback";
}

std::vector<std::vector<std::string>> explain(const Operator& op,
                                              std::span<const Value> args) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"op", op.qualified_name(), op.kind_name(), op.where, op.schema.str()});
  for (size_t i = 0; i < args.size(); ++i) {
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      const bool symbol = tensor.keys().has(DispatchKey::Graph);
      const std::string what = symbol ? str(tensor.dtype(), " symbol")
                                      : str(tensor.dtype(), " ", tensor.sizes());
      rows.push_back(
          {"argument", op.schema.arguments[i].name, what, names_of(tensor.keys())});
    });
  }
  const KeySet given = keys_of(args);
  const KeySet call = effective_keys(op, with_local_keys(given));
  // Every thread adds the Profiler's, which mostly means nothing.
  const KeySet off = KeySet(DispatchKey::Profiler).without(op.mask());
  const KeySet added = t_local_keys.included.without(off);
  rows.push_back({"keys", "arguments", names_of(given)});
  rows.push_back({"keys", "added", names_of(added)});
  rows.push_back({"keys", "removed", names_of(t_local_keys.excluded)});
  rows.push_back({"keys", "call", names_of(call)});
  for (int k = kNumKeys; k-- > 0;) {
    const DispatchKey key{uint8_t(k)};
    rows.push_back({"key", name_of(key), call.has(key) ? "yes" : "", what_is_at(op, key),
                    op.kernel(key).where});
  }
  rows.push_back({"chosen", name_of(call.highest())});
  const KeySet backends = call & kBackendKeys;
  const DispatchKey last = (backends.empty() ? call : backends).highest();
  const Kernel& kernel = op.kernel(last);
  rows.push_back(
      {"kernel", name_of(last), kernel.where, *kernel.where ? library_of(kernel) : ""});
  try {
    if (op.restricted()) detail::check_dtypes(op, args);
  } catch (const Error& error) { rows.push_back({"refused", error.what()}); }
  return rows;
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// dispatcher/operator.cc: the dispatch table of one op.
#include "dispatcher/operator.h"

#include <utility>

namespace pkg {
namespace {

template <size_t... Key>
constexpr std::array<Kernel, kNumKeys> missing_kernels(std::index_sequence<Key...>) {
  return {Kernel{.boxed = [](const Operator& op, const Kernel&, KeySet, Stack&) {
    missing_kernel(op, DispatchKey(Key));
  }}...};
}
const std::array<Kernel, kNumKeys> kMissing = missing_kernels(
    std::make_index_sequence<kNumKeys>());

}  // namespace

Operator::Operator(std::string ns_in, Schema schema_in)
    : schema(std::move(schema_in)), ns(std::move(ns_in)), mask_(kBackendKeys.bits()) {
  for (size_t k = 0; k < kNumKeys; ++k) table_[k] = &kMissing[k];
}

std::string Domain::str(const Schema& schema) const {
  std::string text = common == kAllDTypes ? "" : common.str();
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (own[i].empty()) continue;
    text += (text.empty() ? "" : ", ") + schema.arguments[i].name + ": " + own[i].str();
  }
  return text.empty() ? "any" : text;
}

const char* Operator::kind_name() const {
  switch (kind) {
    case OpKind::Structured: return "structured";
    case OpKind::Composite: return "composite";
    case OpKind::View: return "view";
    case OpKind::Function: return "function";
  }
  return "";
}

const char* Operator::gradient_name() const {
  if (definition().non_differentiable) return "none";
  if (definition().gradient.defined()) return "formula";
  return definition().kind == OpKind::Composite ? "composed" : "missing";
}

std::string Operator::help() const {
  std::string text = schema.str() + "\n\n" + doc;
  if (definition().domain.declared)
    text += "\n\nTensors of these dtypes: " + dtypes() + ".";
  return text;
}

bool Operator::is_method() const {
  if (schema.arguments.empty()) return false;
  const Argument& first = schema.arguments[0];
  return first.name == "self" && first.type == ArgType::Tensor && !first.list;
}

bool Operator::is_unary() const {
  const auto one_tensor = [](const std::vector<Argument>& list) {
    return list.size() == 1 && list[0].type == ArgType::Tensor && !list[0].list;
  };
  return one_tensor(schema.arguments) && one_tensor(schema.returns);
}

const Kernel* Operator::set_kernel(DispatchKey key, const Kernel* kernel) {
  return std::exchange(own_[size_t(key)], kernel);
}

void Operator::refresh(std::span<const Kernel* const, kNumKeys> fallbacks) {
  uint16_t mask = 0;
  for (int k = 0; k < kNumKeys; ++k) {
    const Kernel* chosen = own_[size_t(k)] ? own_[size_t(k)] : fallbacks[size_t(k)];
    const bool backend = kBackendKeys.has(DispatchKey(k));
    if (chosen ? !chosen->fallthrough : backend) mask |= uint16_t(1u << k);
    table_[size_t(k)].store(chosen ? chosen : &kMissing[size_t(k)],
                            std::memory_order_release);
  }
  mask_.store(mask, std::memory_order_release);
  const Kernel* cpu = own_[size_t(DispatchKey::CPU)];
  restricted_.store(domain.declared || (cpu && cpu->domain), std::memory_order_relaxed);
}

void missing_kernel(const Operator& op, DispatchKey key) {
  std::string known;
  for (int k = 0; k < kNumKeys; ++k) {
    if (op.has_kernel(DispatchKey(k))) {
      known += (known.empty() ? "" : ", ") + std::string(name_of(DispatchKey(k)));
    }
  }
  throw NotImplementedError(str("Could not run '", op.qualified_name(),
                                "' with arguments from the '", name_of(key),
                                "' backend. It is only available for these backends: [",
                                known, "] (defined at ", op.where, ")."));
}

}  // namespace pkg

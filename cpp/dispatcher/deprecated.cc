// SPDX-License-Identifier: Apache-2.0
// dispatcher/deprecated.cc: see deprecated.h.
#include "dispatcher/deprecated.h"

namespace pkg {
namespace {

// Grows at its head only: readers need no lock.
constinit std::atomic<const DeprecatedSignature*> g_first{nullptr};

// "add(Tensor other, *, Number alpha)": without self, as a method is called.
std::string as_method(const Schema& schema) {
  std::string text;
  bool keywords = false;
  for (size_t i = 1; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    if (!text.empty()) text += ", ";
    if (argument.keyword_only && !keywords) text += "*, ";
    keywords = argument.keyword_only;
    const std::string type = argument.type_str();
    text += str(type == "Scalar" ? "Number" : type, ' ', argument.name);
  }
  return str(schema.name, '(', text, ')');
}

}  // namespace

DeprecatedSignature::DeprecatedSignature(std::string ns, const char* schema)
    : record_(std::move(ns), parse_schema(schema)) {}

bool DeprecatedSignature::arrange(const Operator& op, std::span<Value> given,
                                  std::span<Value> values) const {
  const auto& parameters = op.schema.arguments;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].has_default) values[i] = parameters[i].default_value;
  }
  for (size_t k = 0; k < given.size(); ++k) {
    const auto* tensor = std::get_if<Tensor>(&given[k]);
    if (tensor && tensor->defined() && tensor->impl()->wrapped_number) return false;
    const std::string& name = record_.schema.arguments[k].name;
    const int place = op.schema.index_of(name);
    PKG_CHECK(place >= 0, ValueError, "[deprecate] ", record_.schema.str(),
              ": expected parameters of ", op.schema.str(), ", got '", name, "'.");
    values[size_t(place)] = std::move(given[k]);
  }
  return true;
}

std::string DeprecatedSignature::warning(const Operator& op) const {
  return str(
      "This overload of ", op.schema.name, " is deprecated: ", as_method(record_.schema),
      " Consider using one of the following signatures instead: ", as_method(op.schema));
}

const DeprecatedSignature* DeprecatedSignature::first() {
  return g_first.load(std::memory_order_acquire);
}

void deprecate(std::string ns, const char* schema) {
  auto* added = new DeprecatedSignature(std::move(ns), schema);
  const DeprecatedSignature* head = g_first.load();
  do {
    added->next_ = head;
  } while (!g_first.compare_exchange_weak(head, added, std::memory_order_release));
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// dispatcher/signature.cc: parameters of several overloads as one list.
#include "dispatcher/signature.h"

#include <algorithm>

#include "dispatcher/default_text.h"
#include "dispatcher/dispatcher.h"

namespace pkg {
namespace {

struct Merged {
  const Argument* parameter;
  size_t count = 1;  // overloads that have it
  bool asked_for;    // by all of those
  std::string text(size_t overloads) const {
    const std::string name = parameter->name + (parameter->name == "from" ? "_" : "");
    if (asked_for && count == overloads) return name;  // "from" is a word of Python's
    return name + "=" + (parameter->has_default ? default_text(*parameter) : "None");
  }
};

std::string_view overload_name(const Operator& op) {
  const std::string& name = op.schema.overload;  // not of a temporary string, as ?: makes
  return name.empty() ? std::string_view("default") : std::string_view(name);
}

}  // namespace

std::string signature_text(std::span<const Operator* const> overloads) {
  std::vector<Merged> positional, keywords;
  const auto known = [&](const std::string& name) -> Merged* {
    for (auto* list : {&positional, &keywords}) {
      for (Merged& entry : *list) {
        if (entry.parameter->name == name) return &entry;
      }
    }
    return nullptr;
  };
  for (const Operator* op : overloads) {
    const auto& parameters = op->schema.arguments;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Argument& parameter = parameters[i];
      if (Merged* entry = known(parameter.name)) {
        ++entry->count;
        entry->asked_for &= !parameter.has_default;
        if (parameter.has_default && !entry->parameter->has_default) {
          entry->parameter = &parameter;
        }
        continue;
      }
      const bool in_line = !parameter.keyword_only && i == positional.size();
      (in_line ? positional : keywords).push_back({&parameter, 1, !parameter.has_default});
    }
  }
  // Behind a default there is none without.
  bool optional = false;
  std::string text;
  const auto put = [&](const std::string& part) {
    text += (text.empty() ? "" : ", ") + part;
  };
  for (Merged& entry : positional) {
    optional = optional || !entry.asked_for || entry.count < overloads.size();
    if (optional) entry.count = 0;
    put(entry.text(overloads.size()));
  }
  if (!keywords.empty()) put("*");
  for (const Merged& entry : keywords) put(entry.text(overloads.size()));
  return "(" + text + ")";
}

std::string help_text(std::span<const Operator* const> overloads) {
  std::string text;
  for (const Operator* op : overloads) text += (text.empty() ? "" : "\n\n") + op->help();
  return text;
}

std::vector<const Operator*> find_overloads(const std::string& name,
                                            const std::string& ns) {
  auto overloads = Dispatcher::get().overloads(name, ns);
  if (!overloads.empty()) return overloads;
  const Operator& op = Dispatcher::get().find(name, ns);  // raises, with hints
  detail::raise<LookupError>("[Operator] expected the name of an op alone, such as ",
                             op.schema.name, ", and its namespace, got ", name, " and ", ns,
                             ".");
}

const Operator* overload_of(std::span<const Operator* const> overloads,
                            std::string_view name) {
  for (const Operator* op : overloads) {
    if (overload_name(*op) == name) return op;
  }
  return nullptr;
}

std::vector<size_t> places_of(
    const Operator& op,
    const std::vector<std::pair<std::string, std::string>>& parameters) {
  const size_t count = op.schema.arguments.size();
  PKG_CHECK(parameters.size() == count, ValueError,
            "[OpWrapper] expected a dict with a name for each argument of ",
            op.schema.str(), ".");
  std::vector<size_t> places;
  for (const auto& [name, argument] : parameters) {
    const int at = op.schema.index_of(argument);
    PKG_CHECK(at >= 0 && std::ranges::find(places, size_t(at)) == places.end(), ValueError,
              "[OpWrapper] expected each argument of ", op.schema.str(), " once, got '",
              argument, "'.");
    places.push_back(size_t(at));
  }
  return places;
}

std::vector<std::string> schemas_of(std::span<const Operator* const> overloads) {
  std::vector<std::string> texts;
  for (const Operator* op : overloads) texts.push_back(op->schema.str());
  return texts;
}

std::string schema_of(std::span<const Operator* const> overloads) {
  if (overloads.size() == 1) return overloads[0]->ns + "::" + overloads[0]->schema.str();
  std::string names;
  for (const Operator* op : overloads) {
    names.append(names.empty() ? "" : ", ").append(overload_name(*op));
  }
  detail::raise<RuntimeError>("[_schema] expected one overload of ",
                              overloads[0]->schema.name, ", got all of them: ", names, ".");
}

std::vector<OpRecord> records_of(std::span<const Operator* const> overloads) {
  std::vector<OpRecord> records;
  for (const Operator* op : overloads) {
    std::vector<std::string> keys;
    for (int k = 0; k < kNumKeys; ++k) {
      if (op->has_kernel(DispatchKey(k))) keys.push_back(name_of(DispatchKey(k)));
    }
    records.push_back({{"schema", op->schema.str()},
                       {"doc", op->doc},
                       {"dtypes", op->dtypes()},
                       {"kind", op->kind_name()},
                       {"gradient", op->gradient_name()},
                       {"where", op->where},
                       {"dispatch_keys", keys}});
  }
  return records;
}

std::vector<std::string> operator_names(const std::string& ns) {
  std::vector<std::string> names;
  for (const Operator* op : Dispatcher::get().all()) {
    const std::string& name = op->schema.name;
    if (op->ns == ns && (names.empty() || names.back() != name)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> operator_namespaces() {
  std::vector<std::string> names;
  for (const Operator* op : Dispatcher::get().all()) {
    if (names.empty() || names.back() != op->ns) names.push_back(op->ns);
  }
  return names;
}

}  // namespace pkg

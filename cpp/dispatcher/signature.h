// SPDX-License-Identifier: Apache-2.0
// dispatcher/signature.h: what a language shows of the ops: their names, what callers with
// keywords may write, and what the records say.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dispatcher/operator.h"

namespace pkg {

/// "(self, dim=None, keepdim=False, *, other=None)": the parameters of all overloads.
/// Every name can be given by keyword; what not all overloads ask for has a default, and
/// what shares its place with another comes after the star.
std::string signature_text(std::span<const Operator* const> overloads);
/// The help of all overloads.
std::string help_text(std::span<const Operator* const> overloads);

/// What has this name; LookupError, with hints, when nothing has.
std::vector<const Operator*> find_overloads(const std::string& name, const std::string& ns);
/// The overload of a name, "default" being that of none; or null.
const Operator* overload_of(std::span<const Operator* const> overloads,
                            std::string_view name);
/// The places in its schema of the arguments that the parameters of a function, with names of
/// its own, stand for: {"x", "self"}.  ValueError unless it has one for each.
std::vector<size_t> places_of(
    const Operator& op, const std::vector<std::pair<std::string, std::string>>& parameters);
/// The schema of each.
std::vector<std::string> schemas_of(std::span<const Operator* const> overloads);
/// The schema with the namespace of the only one; RuntimeError for several.
std::string schema_of(std::span<const Operator* const> overloads);

/// What the registry knows of each, in words: "schema", "doc", "dtypes", "kind", "gradient",
/// "where", and in a list "dispatch_keys", those it has a kernel of its own for.
using OpRecord = std::map<std::string, std::variant<std::string, std::vector<std::string>>>;
std::vector<OpRecord> records_of(std::span<const Operator* const> overloads);

/// Names of the registered ops, sorted.
std::vector<std::string> operator_names(const std::string& ns);
/// Namespaces that have ops, sorted.
std::vector<std::string> operator_namespaces();

}  // namespace pkg

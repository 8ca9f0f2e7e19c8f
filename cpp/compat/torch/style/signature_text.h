// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/signature_text.h: signatures compared with schemas, and as text.
#pragma once

#include "compat/torch/style/signature.h"

namespace at::detail {

inline std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

inline std::string result_text(const std::vector<std::string>& names) {
  if (names.empty()) return "void";
  return names.size() == 1 ? names[0] : "std::tuple<" + listed(names) + ">";
}

inline std::string Signature::str() const {
  std::vector<std::string> in, out;
  for (const CppType& type : parameters) in.push_back(type.name);
  for (const CppType& type : results) out.push_back(type.name);
  return result_text(out) + "(" + listed(in) + ")";
}

// How a parameter or a result of the schema is usually written.
inline std::string usual_name(const ::pkg::Argument& argument, bool result) {
  constexpr const char* one[] = {"at::Tensor",     "at::Scalar", "int64_t",
                                 "double",         "bool",       "std::string",
                                 "at::ScalarType", "at::Device"};
  constexpr const char* many[] = {"at::TensorList",    "",
                                  "at::IntArrayRef",   "std::vector<double>",
                                  "std::vector<bool>", "std::vector<std::string>"};
  const auto type = size_t(argument.type);
  if (result) return argument.list ? "std::vector<at::Tensor>" : one[type];
  std::string name = argument.list ? many[type] : one[type];
  if (argument.optional) name = "std::optional<" + name + ">";
  const bool by_value = argument.list ? type < 3 : type == 2 || type == 3 || type == 4;
  if (argument.written && !argument.list) return name + "&";
  return by_value ? name : "const " + name + "&";
}

inline std::string misfit(const Signature& given, const ::pkg::Schema& schema) {
  const auto fits = [](const CppType& type, const ::pkg::Argument& argument) {
    if (type.type != argument.type || type.list != argument.list) return false;
    if (type.optional == argument.optional) return true;
    // An optional tensor may be a plain one, which is then undefined.
    return argument.optional && argument.type == ::pkg::ArgType::Tensor && !argument.list;
  };
  const auto all_fit = [&](const auto& types, const auto& arguments) {
    return std::equal(types.begin(), types.end(), arguments.begin(), arguments.end(), fits);
  };
  if (all_fit(given.parameters, schema.arguments) &&
      all_fit(given.results, schema.returns)) {
    return "";
  }
  std::vector<std::string> in, out;
  for (const auto& argument : schema.arguments) in.push_back(usual_name(argument, false));
  for (const auto& result : schema.returns) out.push_back(usual_name(result, true));
  return result_text(out) + "(" + listed(in) + ")";
}

inline std::string schema_of(std::string_view name, const Signature& signature) {
  const auto spelled = [](const CppType& type) {
    ::pkg::Argument argument;
    argument.type = type.type;
    argument.list = type.list;
    argument.optional = type.optional;
    return argument.type_str();
  };
  std::vector<std::string> in, out;
  for (const CppType& type : signature.parameters) {
    in.push_back(spelled(type) + " _" + std::to_string(in.size()));
  }
  for (const CppType& type : signature.results) out.push_back(spelled(type));
  return std::string(name) + "(" + listed(in) + ") -> " +
         (out.size() == 1 ? out[0] : "(" + listed(out) + ")");
}

}  // namespace at::detail

// SPDX-License-Identifier: Apache-2.0
// dispatcher/cpp_signature.cc: what is said about a C++ function that does not fit its schema.
#include "dispatcher/cpp_signature.h"

namespace pkg::detail {
namespace {

std::string spelled(const CppType& type) {
  std::string text = type.name;
  if (type.optional) text = "std::optional<" + text + ">";
  return (type.is_const ? "const " : "") + text + (type.reference ? "&" : "");
}

// How a parameter of the schema is usually written.
std::string wanted(const Argument& argument) {
  const auto by = [&](const char* name, bool big) {
    const bool optional = argument.optional && argument.type != ArgType::Tensor;
    return spelled({name, argument.type, argument.list, optional, big, big});
  };
  const bool list = argument.list;
  switch (argument.type) {
    case ArgType::Tensor: return by(list ? "TensorList" : "Tensor", true);
    case ArgType::Scalar: return by("Scalar", true);
    case ArgType::Int: return by(list ? "Shape" : "int64_t", list);
    case ArgType::Float: return by(list ? "std::vector<double>" : "double", list);
    case ArgType::Bool: return by(list ? "std::vector<bool>" : "bool", list);
    case ArgType::Str: return by(list ? "std::vector<std::string>" : "std::string", true);
    case ArgType::DType: return by("DType", false);
    case ArgType::Device: return by("Device", false);
  }
  return "?";
}

bool fits(const CppType& type, const Argument& argument) {
  // An optional Tensor is an undefined one, so both spellings are `const Tensor&`.
  return type.type == argument.type && type.list == argument.list &&
         (type.type == ArgType::Tensor || type.optional == argument.optional);
}

bool fits(const Signature& given, const Schema& schema) {
  const size_t n = schema.arguments.size();
  bool ok = given.parameters.size() == n &&
            size_t(given.n_results) == schema.returns.size();
  for (size_t i = 0; ok && i < n; ++i) ok = fits(given.parameters[i], schema.arguments[i]);
  return ok && (schema.returns.empty() || given.list == schema.returns[0].list);
}

// "Tensor& out, " and the like, before the parameters.
std::string outputs(size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    text += n == 1 ? "Tensor& out, " : str("Tensor& out", i, ", ");
  }
  return text;
}

std::string several(std::string_view one, size_t n) {
  if (n == 1) return std::string(one);
  if (one == "Spec") return str("std::array<Spec, ", n, ">");
  std::string text = "std::tuple<Tensor";
  for (size_t i = 1; i < n; ++i) text += ", Tensor";
  return text + ">";
}

std::string results(const std::string& one, const Schema& schema) {
  const bool list = one == "Tensor" && schema.returns.size() == 1 && schema.returns[0].list;
  return several(list ? "TensorList" : one, schema.returns.size());
}

std::string closed(std::string text) {
  if (text.ends_with(", ")) text.resize(text.size() - 2);
  return text + ")";
}

std::string of_schema(const std::string& result, const std::string& before,
                      const Schema& schema) {
  std::string text = result + "(" + before;
  for (const Argument& argument : schema.arguments) {
    text += wanted(argument) + " " + argument.name + ", ";
  }
  return closed(std::move(text));
}
std::string of_function(const std::string& result, const std::string& before,
                        std::span<const CppType> parameters) {
  std::string text = result + "(" + before;
  for (const CppType& type : parameters) text += spelled(type) + ", ";
  return closed(std::move(text));
}

}  // namespace

void check_handle(const Operator& op, const Signature& given) {
  if (fits(given, op.schema)) return;
  detail::raise<InternalError>(
      "[Op] the C++ handle of ", op.schema.str(), ": expected Op<",
      of_schema(results("Tensor", op.schema), "", op.schema), ">, got Op<",
      of_function(several(given.result, size_t(given.n_results)), "", given.parameters),
      ">.");
}

void check_signature(const Operator& op, const char* stage, const char* where,
                     const Signature& given, bool same_as_rule) {
  const Schema& schema = op.schema;
  const bool beside_rule = std::string_view(given.result) == "void";
  if (beside_rule && !op.shape) {
    detail::raise<ValueError>(
        "[register] ", stage, " of ", schema.str(), " at ", where,
        ": a kernel that returns "
        "nothing writes results that a shape rule described. Hint: put .shape(...) before ",
        stage, ", or return the results.");
  }
  if (fits(given, schema) && (!beside_rule || same_as_rule)) return;
  const bool rule = std::string_view(stage) == ".shape";
  const auto before = [&](size_t n) { return beside_rule ? outputs(n) : std::string(); };
  const std::string expected = of_schema(
      beside_rule ? "void" : results(rule ? "Spec" : "Tensor", schema),
      before(schema.returns.size()), schema);
  const std::string got = of_function(
      beside_rule ? "void" : several(given.result, size_t(given.n_results)),
      before(size_t(given.n_results)), given.parameters);
  detail::raise<ValueError>("[register] ", stage, " of ", schema.str(), " at ", where,
                            ": expected ", expected, ", got ", got, ".",
                            beside_rule && fits(given, schema)
                                ? " Hint: the same parameter types as in .shape."
                                : "");
}

}  // namespace pkg::detail

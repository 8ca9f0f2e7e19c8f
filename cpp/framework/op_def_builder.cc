// SPDX-License-Identifier: Apache-2.0
// framework/op_def_builder.cc: reads "T: {int32, float} = DT_FLOAT" and "values: N * T".
#include "framework/op_def_builder.h"

#include <algorithm>

#include "framework/scanner.h"

namespace pkg::framework {
namespace {

constexpr std::string_view kTypes[] = {"string", "int",   "float",  "bool",
                                       "type",   "shape", "tensor", "func"};

[[noreturn]] void refuse(const OpDef& def, const std::string& why) {
  pkg::detail::raise<ValueError>("[REGISTER_OP] ", def.name, ": ", why);
}

// Of "{int32, float}" or "{'apple', 'orange'}", from after the bracket.
AttrValue read_choices(Scanner& in) {
  if (in.peek('\'') || in.peek('"')) {
    std::vector<std::string> texts;
    do texts.push_back(in.quoted());
    while (in.accept(","));
    in.expect("}");
    return texts;
  }
  std::vector<DataType> types;
  do {
    const std::string word = in.identifier("a type or a string");
    if (const DataTypeVector* set = type_set(word)) {
      types.insert(types.end(), set->begin(), set->end());
      continue;
    }
    const auto type = data_type_from_name(word);
    if (!type) in.fail(str("a type such as float before here, not '", word, "',"));
    types.push_back(*type);
  } while (in.accept(",") && !in.peek('}'));
  in.expect("}");
  return types;
}

// The type, without "list()" around it, and what it allows.
std::string read_item_type(Scanner& in, AttrDef& attr) {
  if (in.accept("{")) {
    attr.allowed = read_choices(in);
    const bool types = std::holds_alternative<std::vector<DataType>>(attr.allowed);
    return types ? "type" : "string";
  }
  const std::string word = in.identifier("the type of an attr");
  if (const DataTypeVector* set = type_set(word)) {
    attr.allowed = *set;
    return "type";
  }
  if (std::find(std::begin(kTypes), std::end(kTypes), word) == std::end(kTypes)) {
    in.fail(str("string, int, float, bool, type, shape, tensor, func, list(...), {...} or "
                "numbertype before here, not '",
                word, "',"));
  }
  return word;
}

AttrDef read_attr(const std::string& spec) {
  Scanner in("attr", spec);
  AttrDef attr;
  attr.name = in.identifier("the name of an attr");
  in.expect(":");
  if (in.accept("list")) {
    in.expect("(");
    attr.type = "list(" + read_item_type(in, attr) + ")";
    in.expect(")");
  } else {
    attr.type = read_item_type(in, attr);
  }
  if (in.accept(">=")) {
    if (attr.type != "int" && !attr.type.starts_with("list(")) {
      in.fail("no minimum, which only int and list(...) have,");
    }
    attr.has_minimum = true;
    attr.minimum = std::get<int64_t>(parse_attr_value("int", in.until("= \t\n")));
  }
  if (in.accept("=")) attr.default_value = parse_attr_value(attr.type, in.rest());
  if (!in.done()) in.fail("the end");
  return attr;
}

ArgDef read_arg(const OpDef& def, const char* what, const std::string& spec) {
  Scanner in(what, spec);
  ArgDef arg;
  arg.name = in.identifier(str("the name of an ", what));
  in.expect(":");
  const auto attr_of_type = [&](const std::string& word, std::string_view type) {
    const AttrDef* attr = def.attr(word);
    return attr && attr->type == type;
  };
  const auto read_type = [&](std::string word) {
    if (word == "Ref" && in.accept("(")) {
      arg.is_ref = true;
      word = in.identifier("a type");
      in.expect(")");
    }
    if (attr_of_type(word, "type")) return arg.type_attr = word, true;
    if (attr_of_type(word, "list(type)")) return arg.type_list_attr = word, true;
    const auto type = data_type_from_name(word);
    if (type) arg.type = *type;
    return type.has_value();
  };
  std::string word = in.identifier("a type or an attr");
  if (in.accept("*")) {
    if (!attr_of_type(word, "int")) {
      in.fail(str("an attr of type int before '*', not '", word, "',"));
    }
    arg.number_attr = word;
    word = in.identifier("a type or an attr");
  }
  const bool found = read_type(word);
  if (!found)
    in.fail(str("a type or the name of an attr of type `type`, not '", word, "',"));
  if (!arg.number_attr.empty() && !arg.type_list_attr.empty()) {
    in.fail("one type after '*', not a list of them,");
  }
  if (!in.done()) in.fail("the end");
  return arg;
}

// "N * T" needs one at least, unless the attr says how many.
void set_minimum(OpDef& def, const std::string& name) {
  for (AttrDef& attr : def.attrs) {
    if (attr.name != name || attr.has_minimum) continue;
    attr.has_minimum = true;
    attr.minimum = 1;
  }
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// "Twice", "MyOps>Twice".
bool is_op_name(std::string_view name) {
  bool first = true;  // of a part
  for (const char c : name) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    if (c == '>' ? first : !letter && (first || c < '0' || c > '9')) return false;
    first = c == '>';
  }
  return !first;
}

}  // namespace

OpDefBuilder::OpDefBuilder(std::string name) : name_(std::move(name)) {}
OpDefBuilder::OpDefBuilder(const OpDefBuilder&) = default;
OpDefBuilder::OpDefBuilder(OpDefBuilder&&) noexcept = default;
OpDefBuilder& OpDefBuilder::operator=(const OpDefBuilder&) = default;
OpDefBuilder& OpDefBuilder::operator=(OpDefBuilder&&) noexcept = default;
OpDefBuilder::~OpDefBuilder() = default;

OpRegistrationData OpDefBuilder::Finalize() const {
  OpDef def = flags_;
  def.name = name_;
  if (!is_op_name(name_)) {
    refuse(def, "expected a name of letters, digits and '_', behind namespaces, as in "
                "'MyOps>Twice', or without.");
  }
  const auto fresh = [&](const std::string& what, const std::string& name, auto&... lists) {
    const auto taken = [&](const auto& list) {
      return std::any_of(list.begin(), list.end(),
                         [&](const auto& item) { return item.name == name; });
    };
    if ((taken(lists) || ...))
      refuse(def, str("two of the name '", name, "': ", what, "."));
  };
  for (const std::string& spec : attrs_) {
    AttrDef attr = read_attr(spec);
    fresh("attrs", attr.name, def.attrs);
    def.attrs.push_back(std::move(attr));
  }
  for (const std::string& spec : inputs_) {
    ArgDef arg = read_arg(def, "input", spec);
    fresh("inputs and attrs", arg.name, def.inputs, def.attrs);
    def.inputs.push_back(std::move(arg));
  }
  for (const std::string& spec : outputs_) {
    ArgDef arg = read_arg(def, "output", spec);
    fresh("outputs", arg.name, def.outputs);
    def.outputs.push_back(std::move(arg));
  }
  for (const auto* args : {&def.inputs, &def.outputs}) {
    for (const ArgDef& arg : *args) {
      set_minimum(def, arg.number_attr);
      set_minimum(def, arg.type_list_attr);
    }
  }
  for (const AttrDef& attr : def.attrs) {
    if (has_value(attr.default_value)) check_attr(def, attr, attr.default_value);
  }
  def.doc = trimmed(doc_);
  return {std::move(def), fn_};
}

}  // namespace pkg::framework

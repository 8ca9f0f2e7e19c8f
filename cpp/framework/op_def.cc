// SPDX-License-Identifier: Apache-2.0
// framework/op_def.cc: definitions as texts, as JSON and as schemas.
#include "framework/op_def.h"

#include <algorithm>

#include "base/json.h"

namespace pkg::framework {
namespace {

// An attr that comes from outside shall not decide how much memory is asked for.
constexpr int64_t kMostTensors = 65536;

size_t place_of(const OpDef& def, std::string_view attr) {
  size_t i = 0;
  while (i < def.attrs.size() && def.attrs[i].name != attr) ++i;
  PKG_ASSERT(i < def.attrs.size());
  return i;
}
template <class T>
const T& attr_as(const OpDef& def, const AttrValues& attrs, std::string_view name) {
  return std::get<T>(attrs[place_of(def, name)]);
}

template <class List, class F>
std::string joined(const List& list, const char* between, F text_of) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : between) + text_of(item);
  return text;
}

std::string json_of(const ArgDef& arg) {
  std::string text = "{\"name\": " + json_quoted(arg.name);
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += str(", \"", key, "\": ", json_quoted(value));
  };
  if (arg.type != DT_INVALID) add("type", dtype_name(arg.type));
  add("type_attr", arg.type_attr);
  add("number_attr", arg.number_attr);
  add("type_list_attr", arg.type_list_attr);
  if (arg.is_ref) text += ", \"is_ref\": true";
  return text + "}";
}
std::string json_of(const OpDef& def, const AttrDef& attr) {
  std::string text = str("{\"name\": ", json_quoted(attr.name),
                         ", \"type\": ", json_quoted(attr.type));
  if (has_value(attr.allowed)) text += ", \"allowed\": " + attr_json(attr.allowed);
  if (has_value(attr.default_value)) {
    text += ", \"default\": " + attr_json(attr.default_value);
  }
  if (attr.has_minimum) text += str(", \"minimum\": ", attr.minimum);
  return text + str(", \"inferred\": ", def.is_inferred(attr.name), "}");
}

bool contains(const AttrValue& allowed, const AttrValue& value) {
  if (auto* types = std::get_if<std::vector<DataType>>(&allowed)) {
    return std::find(types->begin(), types->end(), std::get<DataType>(value)) !=
           types->end();
  }
  const auto& texts = std::get<std::vector<std::string>>(allowed);
  return std::find(texts.begin(), texts.end(), std::get<std::string>(value)) != texts.end();
}

// The names that users of our dtypes know.
std::string words(const AttrValue& value) {
  if (auto* type = std::get_if<DataType>(&value)) return dtype_name(*type);
  if (auto* types = std::get_if<std::vector<DataType>>(&value)) {
    return joined(*types, ", ", [](DataType t) { return std::string(dtype_name(t)); });
  }
  if (auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    return joined(*texts, ", ", [](const std::string& t) { return json_quoted(t); });
  }
  return attr_text(value);
}

}  // namespace

std::string ArgDef::str() const {
  std::string text = name + ":";
  if (!number_attr.empty()) text += number_attr + "*";
  std::string kind = !type_list_attr.empty() ? type_list_attr
                     : !type_attr.empty()    ? type_attr
                                             : DataTypeString(type);
  return text + (is_ref ? "Ref(" + kind + ")" : kind);
}

std::string AttrDef::str() const {
  std::string text = name + ":" + type;
  if (has_value(default_value)) text += ",default=" + attr_text(default_value);
  if (has_minimum) text += pkg::str(",min=", minimum);
  if (has_value(allowed)) text += ",allowed=" + attr_text(allowed);
  return text;
}

const AttrDef* OpDef::attr(std::string_view attr_name) const {
  for (const AttrDef& found : attrs) {
    if (found.name == attr_name) return &found;
  }
  return nullptr;
}

bool OpDef::is_inferred(std::string_view attr_name) const {
  return std::any_of(inputs.begin(), inputs.end(), [&](const ArgDef& input) {
    return input.type_attr == attr_name || input.number_attr == attr_name ||
           input.type_list_attr == attr_name;
  });
}

bool OpDef::outputs_in_one_list() const {
  return outputs.size() > kMaxResults ||
         std::any_of(outputs.begin(), outputs.end(),
                     [](const ArgDef& output) { return output.is_list(); });
}

std::string OpDef::str() const {
  const auto list = [](const auto& items, const char* between) {
    return joined(items, between, [](const auto& item) { return item.str(); });
  };
  std::string text = "Op<name=" + name + "; signature=" + list(inputs, ", ") + " -> " +
                     list(outputs, ", ");
  for (const AttrDef& attr : attrs) text += "; attr=" + attr.str();
  if (is_commutative) text += "; is_commutative=true";
  if (is_aggregate) text += "; is_aggregate=true";
  if (is_stateful) text += "; is_stateful=true";
  if (allows_uninitialized_input) text += "; allows_uninitialized_input=true";
  return text + ">";
}

std::string OpDef::json() const {
  const auto list = [](const auto& items, auto of) {
    return "[" + joined(items, ", ", of) + "]";
  };
  const auto arg = [](const ArgDef& item) { return json_of(item); };
  return pkg::str("{\"name\": ", json_quoted(name), ", \"inputs\": ", list(inputs, arg),
                  ", \"outputs\": ", list(outputs, arg), ", \"attrs\": ",
                  list(attrs, [&](const AttrDef& attr) { return json_of(*this, attr); }),
                  ", \"one_list\": ", outputs_in_one_list(),
                  ", \"stateful\": ", is_stateful, ", \"doc\": ", json_quoted(doc), "}");
}

void append_types(const OpDef& def, const ArgDef& arg, const AttrValues& attrs,
                  DataTypeVector* types) {
  if (!arg.type_list_attr.empty()) {
    const auto& list = attr_as<std::vector<DataType>>(def, attrs, arg.type_list_attr);
    types->insert(types->end(), list.begin(), list.end());
    return;
  }
  const DataType type = arg.type_attr.empty()
                            ? arg.type
                            : attr_as<DataType>(def, attrs, arg.type_attr);
  types->insert(types->end(), size_t(count_of(def, arg, attrs)), type);
}

int64_t count_of(const OpDef& def, const ArgDef& arg, const AttrValues& attrs) {
  if (!arg.type_list_attr.empty()) {
    return int64_t(attr_as<std::vector<DataType>>(def, attrs, arg.type_list_attr).size());
  }
  if (arg.number_attr.empty()) return 1;
  const auto count = attr_as<int64_t>(def, attrs, arg.number_attr);
  PKG_CHECK(count <= kMostTensors, ValueError, "Attr '", arg.number_attr, "' of '",
            def.name, "' Op passed ", count, ", which is more than the ", kMostTensors,
            " tensors that an argument may have.");
  return std::max<int64_t>(count, 0);
}

void check_attr(const OpDef& op, const AttrDef& attr, const AttrValue& value) {
  if (attr.has_minimum) {
    if (auto* number = std::get_if<int64_t>(&value)) {
      PKG_CHECK(*number >= attr.minimum, ValueError, "Attr '", attr.name, "' of '", op.name,
                "' Op passed ", *number, " less than minimum ", attr.minimum, ".");
    } else {
      const size_t length = std::visit(
          []<class T>(const T& v) -> size_t {
            if constexpr (requires { v.begin(); }) return v.size();
            else return SIZE_MAX;
          },
          value);
      PKG_CHECK(length >= size_t(attr.minimum), ValueError, "Attr '", attr.name, "' of '",
                op.name, "' Op passed list of length ", length, " less than minimum ",
                attr.minimum, ".");
    }
  }
  if (!has_value(attr.allowed)) return;
  const auto check_one = [&](const AttrValue& one) {
    if (contains(attr.allowed, one)) return;
    const std::string text = str(
        "Value for attr '", attr.name, "' of ", words(one),
        " is not in the list of allowed values: ", words(attr.allowed));
    if (std::holds_alternative<DataType>(one)) throw TypeError(text);
    throw ValueError(text);
  };
  if (auto* types = std::get_if<std::vector<DataType>>(&value)) {
    for (DataType type : *types) check_one(type);
  } else if (auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& text : *texts) check_one(text);
  } else {
    check_one(value);
  }
}

Schema schema_of(const OpDef& def) {
  Schema schema;
  schema.name = def.name;
  for (const ArgDef& input : def.inputs) {
    Argument argument;
    argument.name = input.name;
    argument.list = input.is_list();
    argument.written = input.is_ref;
    schema.arguments.push_back(std::move(argument));
  }
  for (const AttrDef& attr : def.attrs) {
    if (def.is_inferred(attr.name)) continue;
    Argument argument = parameter_of(attr.type, attr.default_value);
    argument.name = attr.name;
    schema.arguments.push_back(std::move(argument));
  }
  if (def.outputs_in_one_list()) {
    Argument all;
    all.list = true;
    schema.returns.push_back(std::move(all));
    return schema;
  }
  for (const ArgDef& output : def.outputs) {
    Argument result;
    result.name = def.outputs.size() > 1 ? output.name : "";
    schema.returns.push_back(std::move(result));
  }
  return schema;
}

}  // namespace pkg::framework

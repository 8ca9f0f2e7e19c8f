// SPDX-License-Identifier: Apache-2.0
// framework/attr_value.cc: attributes as texts, JSON and parameters of schemas.
#include "framework/attr_value.h"

#include <charconv>
#include <cmath>

#include "base/json.h"
#include "framework/scanner.h"

namespace pkg::framework {
namespace {

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

// The two ways to write a value differ in words only.
struct Plain {
  static std::string of(const std::string& text) { return json_quoted(text); }
  static std::string of(double value) { return number_text(value); }
  static std::string of(DataType type) { return "DT_" + upper(DataTypeString(type)); }
  static std::string of(const PartialShape& shape) { return shape.str(); }
  static std::string of(const AttrText& text) { return text.text; }
  static std::string upper(std::string text) {
    for (char& c : text) c = c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
    return text;
  }
};
struct Json {
  static std::string of(const std::string& text) { return json_quoted(text); }
  static std::string of(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return number_text(value);
  }
  static std::string of(DataType type) { return json_quoted(dtype_name(type)); }
  static std::string of(const PartialShape& shape) { return json_quoted(shape.str()); }
  static std::string of(const AttrText& text) { return json_quoted(text.text); }
};

template <class Style, class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, std::monostate>) return "null";
  else if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_same_v<T, int64_t>) return str(value);
  else return Style::of(value);
}
template <class Style, class T>
std::string text_of(const std::vector<T>& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    text += (i ? ", " : "") + text_of<Style, T>(list[i]);
  }
  return text + "]";
}

template <class T>
T number(std::string_view what, const std::string& text) {
  T value{};
  const bool plus = text.starts_with('+') && !text.starts_with("+-");
  const char* begin = text.data() + (plus ? 1 : 0);
  const auto [end, bad] = std::from_chars(begin, text.data() + text.size(), value);
  PKG_CHECK(bad == std::errc() && end == text.data() + text.size(), ValueError,
            "[REGISTER_OP] expected ", what, ", got '", text, "'.");
  return value;
}

// "[2,?]", "<unknown>" or TensorFlow's "{ dim { size: 2 } dim { size: -1 } }".
PartialShape shape_of(const std::string& text) {
  PartialShape shape;
  Scanner in("shape", text);
  const auto size = [&](std::string_view ends) {
    const std::string word = in.until(ends);
    const int64_t found = word == "?" || word == "None" ? -1
                                                        : number<int64_t>("a size", word);
    PKG_CHECK(found >= -1, ValueError, "[REGISTER_OP] expected sizes, got ", text, ".");
    shape.sizes.push_back(found);
  };
  if (in.accept("<unknown>")) {
    shape.known_rank = false;
  } else if (in.accept("[")) {
    while (!in.accept("]")) {
      if (!shape.sizes.empty()) in.expect(",");
      size(",]");
    }
  } else {
    in.expect("{");
    while (!in.accept("}")) {
      if (in.accept("unknown_rank")) {
        in.expect(":");
        shape.known_rank = !in.accept("true");
        if (shape.known_rank) in.expect("false");
        continue;
      }
      in.expect("dim");
      in.accept(":");
      in.expect("{");
      if (in.peek('}')) shape.sizes.push_back(0);
      else {
        in.expect("size");
        in.expect(":");
        size("}");
      }
      in.expect("}");
      in.accept(",");
    }
  }
  if (!in.done()) in.fail("the end");
  PKG_CHECK(shape.known_rank || shape.sizes.empty(), ValueError,
            "[REGISTER_OP] expected either unknown_rank: true or sizes, got both: ", text,
            ".");
  return shape;
}

template <class T>
T parse_one(const std::string& text);
template <>
std::string parse_one(const std::string& text) {
  Scanner in("default", text);
  std::string found = in.quoted();
  if (!in.done()) in.fail("the end");
  return found;
}
template <>
int64_t parse_one(const std::string& text) {
  return number<int64_t>("an int", text);
}
template <>
double parse_one(const std::string& text) {
  return number<double>("a number", text);
}
template <>
bool parse_one(const std::string& text) {
  // What protocol buffers take.
  const auto is = [&](auto... words) { return ((text == words) || ...); };
  const bool yes = is("true", "True", "t", "1");
  PKG_CHECK(yes || is("false", "False", "f", "0"), ValueError,
            "[REGISTER_OP] expected true or false, got '", text, "'.");
  return yes;
}
template <>
DataType parse_one(const std::string& text) {
  const auto found = data_type_from_name(text);
  PKG_CHECK(found, ValueError, "[REGISTER_OP] expected a type such as DT_FLOAT, got '",
            text, "'.");
  return *found;
}
template <>
PartialShape parse_one(const std::string& text) {
  return shape_of(text);
}
template <>
AttrText parse_one(const std::string& text) {
  PKG_CHECK(!text.empty(), ValueError, "[REGISTER_OP] expected a literal, got nothing.");
  return {text};
}

template <class T>
AttrValue parse_list(const std::string& text) {
  std::vector<T> list;
  Scanner in("list", text);
  in.expect("[");
  while (!in.accept("]")) {
    if (!list.empty()) in.expect(",");
    if constexpr (std::is_same_v<T, std::string>) list.push_back(in.quoted());
    else list.push_back(parse_one<T>(in.until(",]")));
  }
  if (!in.done()) in.fail("the end");
  return list;
}

// Calls f(TypeTag<T>{}) with what the values of an attr's type are.
template <class F>
auto visit_type(std::string_view type, F f) {
  if (type == "string") return f(TypeTag<std::string>{});
  if (type == "int") return f(TypeTag<int64_t>{});
  if (type == "float") return f(TypeTag<double>{});
  if (type == "bool") return f(TypeTag<bool>{});
  if (type == "type") return f(TypeTag<DataType>{});
  if (type == "shape") return f(TypeTag<PartialShape>{});
  return f(TypeTag<AttrText>{});
}

bool is_list_type(std::string_view type) { return type.starts_with("list("); }
std::string_view item_type(std::string_view type) {
  return is_list_type(type) ? type.substr(5, type.size() - 6) : type;
}

}  // namespace

std::string PartialShape::str() const {
  if (!known_rank) return "<unknown>";
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += (i ? "," : "") + (sizes[i] < 0 ? std::string("?") : pkg::str(sizes[i]));
  }
  return text + "]";
}

std::string attr_text(const AttrValue& value) {
  return std::visit([](const auto& v) { return text_of<Plain>(v); }, value);
}
std::string attr_json(const AttrValue& value) {
  return std::visit([](const auto& v) { return text_of<Json>(v); }, value);
}

AttrValue parse_attr_value(std::string_view type, std::string_view text) {
  return visit_type(item_type(type), [&]<class T>(TypeTag<T>) -> AttrValue {
    if (is_list_type(type)) return parse_list<T>(std::string(text));
    return parse_one<T>(std::string(text));
  });
}

Argument parameter_of(std::string_view type, const AttrValue& default_value) {
  Argument parameter;
  parameter.keyword_only = true;
  parameter.list = is_list_type(type);
  parameter.type = ArgType::Str;
  const std::string_view item = item_type(type);
  if (item == "int") parameter.type = ArgType::Int;
  if (item == "float") parameter.type = ArgType::Float;
  if (item == "bool") parameter.type = ArgType::Bool;
  if (type == "type") {
    const auto* given = std::get_if<DataType>(&default_value);
    if (!given || dtype_of_data_type(*given)) parameter.type = ArgType::DType;
  }
  parameter.has_default = has_value(default_value);
  if (parameter.has_default) {
    parameter.default_value = value_of_attr(default_value, parameter);
  }
  return parameter;
}

AttrValue attr_of_value(std::string_view type, const Value& value) {
  return visit_type(item_type(type), [&]<class T>(TypeTag<T>) -> AttrValue {
    constexpr bool text = std::is_same_v<T, DataType> || std::is_same_v<T, PartialShape> ||
                          std::is_same_v<T, AttrText>;
    if (is_list_type(type)) {
      if constexpr (text) {
        std::vector<T> list;
        for (const auto& item : std::get<std::vector<std::string>>(value)) {
          list.push_back(parse_one<T>(item));
        }
        return list;
      } else if constexpr (std::is_same_v<T, int64_t>) {
        const Shape& ints = std::get<Shape>(value);
        return std::vector<int64_t>(ints.begin(), ints.end());
      } else {
        return std::get<std::vector<T>>(value);
      }
    }
    if constexpr (std::is_same_v<T, DataType>) {
      if (auto* dtype = std::get_if<DType>(&value)) return data_type_of(*dtype);
    }
    if constexpr (text) return parse_one<T>(std::get<std::string>(value));
    else return Unbox<T>::from(value);
  });
}

Value value_of_attr(const AttrValue& attr, const Argument& parameter) {
  return std::visit(
      [&]<class T>(const T& v) -> Value {
        if constexpr (std::is_same_v<T, std::monostate>) return {};
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return Value(std::in_place_type<Shape>, v);
        else if constexpr (std::is_same_v<T, DataType>) {
          if (parameter.type == ArgType::DType) return *dtype_of_data_type(v);
          return std::string(dtype_name(v));
        } else if constexpr (std::is_same_v<T, std::vector<DataType>>) {
          std::vector<std::string> names;
          for (DataType type : v) names.push_back(dtype_name(type));
          return names;
        } else if constexpr (std::is_same_v<T, PartialShape>) {
          return v.str();
        } else if constexpr (std::is_same_v<T, AttrText>) {
          return v.text;
        } else if constexpr (std::is_same_v<T, std::vector<PartialShape>>) {
          std::vector<std::string> texts;
          for (const PartialShape& shape : v) texts.push_back(shape.str());
          return texts;
        } else if constexpr (std::is_same_v<T, std::vector<AttrText>>) {
          std::vector<std::string> texts;
          for (const AttrText& text : v) texts.push_back(text.text);
          return texts;
        } else {
          return box(v);
        }
      },
      attr);
}

}  // namespace pkg::framework

// SPDX-License-Identifier: Apache-2.0
// dispatcher/schema.cc: recursive-descent parser of schema strings.
#include "dispatcher/schema.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "dispatcher/default_text.h"

namespace pkg {
namespace {

struct TypeName {
  const char* text;
  ArgType type;
  const char* noun;  // for errors
};
constexpr TypeName kTypes[] = {
    {"Tensor", ArgType::Tensor, "a Tensor"}, {"Scalar", ArgType::Scalar, "a number"},
    {"int", ArgType::Int, "an int"},         {"float", ArgType::Float, "a number"},
    {"bool", ArgType::Bool, "a bool"},       {"str", ArgType::Str, "a str"},
    {"DType", ArgType::DType, "a dtype"},    {"Device", ArgType::Device, "a device"}};

const TypeName& named(ArgType type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [&](const TypeName& candidate) { return candidate.type == type; });
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema parse() {
    Schema schema;
    schema.name = identifier("op name");
    if (accept(".")) schema.overload = identifier("overload name");
    expect("(");
    bool keyword_only = false;
    while (!accept(")")) {
      if (!schema.arguments.empty() || keyword_only) expect(",");
      if (accept("*")) {
        keyword_only = true;
        continue;
      }
      Argument argument = type();
      argument.keyword_only = keyword_only;
      argument.name = identifier("parameter name");
      if (schema.index_of(argument.name) >= 0) fail("a new parameter name");
      if (accept("=")) {
        argument.has_default = true;
        argument.default_value = literal(argument);
        if (!fits(argument.default_value, argument)) {
          fail("a default that is " + argument.expected());
        }
      }
      schema.arguments.push_back(std::move(argument));
    }
    expect("->");
    if (accept("(")) {
      while (!accept(")")) {
        if (!schema.returns.empty()) expect(",");
        schema.returns.push_back(result());
      }
    } else {
      schema.returns.push_back(result());
    }
    skip();
    if (at_ != text_.size()) fail("the end");
    if (schema.returns.size() > kMaxResults) {
      fail(pkg::str("at most ", kMaxResults, " results, or a list,"));
    }
    return schema;
  }

 private:
  Argument result() {
    Argument argument = type();
    skip();
    if (at_ < text_.size() && word_char(text_[at_])) argument.name = identifier("name");
    return argument;
  }

  Argument type() {
    Argument argument;
    const size_t start = at_;
    std::string word = identifier("a type");
    if (word == "ScalarType") word = "DType";  // PyTorch's names
    if (word == "SymInt") word = "int";
    const TypeName* found = nullptr;
    for (const TypeName& candidate : kTypes) {
      if (word == candidate.text) found = &candidate;
    }
    if (!found) {
      at_ = start;
      std::string names;
      for (const TypeName& type : kTypes)
        names += str(names.empty() ? "" : ", ", type.text);
      fail("a type (" + names + ")");
    }
    argument.type = found->type;
    if (accept("(")) {
      identifier("an alias name");
      argument.written = accept("!");
      expect(")");
    }
    bool optional = accept("?");
    if (accept("[")) {
      argument.list = true;
      argument.optional_item = optional;
      optional = false;
      if (!accept("]")) {
        argument.length = std::get<Scalar>(number()).to_int("length");
        expect("]");
      }
      optional = accept("?");
      if (argument.type == ArgType::Scalar || argument.type == ArgType::DType ||
          argument.type == ArgType::Device) {
        fail("a list of tensors, ints, floats, bools or strings");
      }
    }
    argument.optional = optional;
    return argument;
  }

  // Whether a call could have passed it.
  static bool fits(const Value& value, const Argument& argument) {
    if (std::holds_alternative<std::monostate>(value)) return argument.optional;
    if (argument.list) {
      if (std::holds_alternative<std::vector<double>>(value)) return true;
      if (std::holds_alternative<std::vector<bool>>(value)) return true;
      if (std::holds_alternative<std::vector<std::string>>(value)) return true;
      const Shape* ints = std::get_if<Shape>(&value);
      const auto n = int64_t(ints ? ints->size() : 0);
      return argument.type == ArgType::Int && ints &&
             (argument.length < 0 || argument.length == n);
    }
    const Scalar* scalar = std::get_if<Scalar>(&value);
    switch (argument.type) {
      case ArgType::Scalar: return scalar;
      case ArgType::Int: return scalar && scalar->kind() == Scalar::Kind::Int;
      case ArgType::Float: return scalar && scalar->is_float();
      case ArgType::Bool: return scalar && scalar->kind() == Scalar::Kind::Bool;
      case ArgType::Str: return std::holds_alternative<std::string>(value);
      case ArgType::DType: return std::holds_alternative<DType>(value);
      case ArgType::Tensor:
      case ArgType::Device: return false;  // None alone
    }
    return false;
  }

  Value literal(const Argument& argument) {
    if (accept("None")) return {};
    if (argument.list && accept("[")) {
      if (argument.type == ArgType::Str) return items<std::string>(argument);
      if (argument.type == ArgType::Bool) return items<bool>(argument);
      Shape ints;
      std::vector<double> floats;
      while (!accept("]")) {
        if (!ints.empty() || !floats.empty()) expect(",");
        const Scalar value = std::get<Scalar>(number());
        if (argument.type == ArgType::Float) floats.push_back(value.to<double>());
        else ints.push_back(value.to_int("default"));
      }
      if (argument.type == ArgType::Float) return floats;
      return ints;
    }
    Value value = scalar_literal(argument);
    if (argument.list && argument.type == ArgType::Int) {
      return Shape(size_t(std::max<int64_t>(argument.length, 1)),
                   std::get<Scalar>(value).to_int("default"));
    }
    return value;
  }

  template <class T>
  std::vector<T> items(const Argument& argument) {
    std::vector<T> list;
    while (!accept("]")) {
      if (!list.empty()) expect(",");
      list.push_back(Unbox<T>::from(scalar_literal(argument)));
    }
    return list;
  }

  Value scalar_literal(const Argument& argument) {
    if (accept("True")) return Scalar(true);
    if (accept("False")) return Scalar(false);
    if (argument.type == ArgType::Str) {
      skip();
      const char quote = at_ < text_.size() ? text_[at_] : ' ';
      if (quote != '\'' && quote != '"') fail("a quoted string");
      const size_t end = text_.find(quote, at_ + 1);
      if (end == text_.npos) fail("a closed string");
      std::string value(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return value;
    }
    if (argument.type == ArgType::DType) {
      const auto dtype = dtype_from_name(identifier("a dtype"));
      if (!dtype) fail("a dtype");
      return *dtype;
    }
    Value value = number();
    if (argument.type == ArgType::Float) {
      return Scalar(std::get<Scalar>(value).to<double>());
    }
    return value;
  }

  Value number() {
    skip();
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    double value = 0;
    const auto parsed = std::from_chars(begin, end, value);
    if (parsed.ec != std::errc()) fail("a number");
    const std::string_view digits(begin, size_t(parsed.ptr - begin));
    at_ += digits.size();
    if (digits.find_first_of(".enif") != digits.npos) return Scalar(value);
    int64_t whole = 0;
    if (std::from_chars(begin, end, whole).ec != std::errc()) fail("an int of 64 bits");
    return Scalar(whole);
  }

  static bool word_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  }

  std::string identifier(const char* what) {
    skip();
    const size_t start = at_;
    while (at_ < text_.size() && word_char(text_[at_])) ++at_;
    if (at_ == start) fail(what);
    return std::string(text_.substr(start, at_ - start));
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    const bool word = word_char(token.back());
    const size_t after = at_ + token.size();
    if (word && after < text_.size() && word_char(text_[after])) return false;
    at_ = after;
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(token);
  }
  [[noreturn]] void fail(std::string_view wanted) {
    detail::raise<ValueError>("[schema] expected ", wanted, " here:\n", text_, "\n",
                              std::string(at_, ' '), "^ <--- HERE");
  }

  std::string_view text_;
  size_t at_ = 0;
};

template <class List, class Print>
void print_list(std::ostream& out, const List& list, Print print) {
  out << '[';
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) out << ", ";
    print(list[i]);
  }
  out << ']';
}

// The parser knows no escapes, so that a text has one of the two quotes at most.
std::string quoted(const std::string& text) {
  const char quote = text.find('\'') == text.npos ? '\'' : '"';
  return quote + text + quote;
}

}  // namespace

std::string default_text(const Argument& argument) {
  std::ostringstream out;
  if (is_none(argument.default_value)) {
    out << "None";
  } else if (auto* scalar = std::get_if<Scalar>(&argument.default_value)) {
    out << *scalar;
  } else if (auto* text = std::get_if<std::string>(&argument.default_value)) {
    out << quoted(*text);
  } else if (auto* dtype = std::get_if<DType>(&argument.default_value)) {
    out << *dtype;
  } else if (auto* shape = std::get_if<Shape>(&argument.default_value)) {
    print_list(out, *shape, [&](int64_t size) { out << size; });
  } else if (auto* floats = std::get_if<std::vector<double>>(&argument.default_value)) {
    print_list(out, *floats, [&](double number) { out << Scalar(number); });
  } else if (auto* bools = std::get_if<std::vector<bool>>(&argument.default_value)) {
    print_list(out, *bools, [&](bool truth) { out << Scalar(truth); });
  } else if (auto* texts = std::get_if<std::vector<std::string>>(&argument.default_value)) {
    print_list(out, *texts, [&](const std::string& item) { out << quoted(item); });
  }
  return out.str();
}

std::string Argument::type_str() const {
  std::string text = named(type).text;
  if (written) text += "(a!)";
  if (optional_item) text += "?";
  if (list) text += length < 0 ? "[]" : pkg::str("[", length, "]");
  if (optional) text += "?";
  return text;
}

std::string Argument::expected() const {
  std::vector<std::string> choices;
  const std::string noun = named(type).noun;
  if (list) {
    if (type == ArgType::Int) choices.push_back("an int");
    choices.push_back("a list of " + (length < 0 ? "" : std::to_string(length) + " ") +
                      noun.substr(noun.find(' ') + 1) + "s");
  } else {
    choices.push_back(noun);
    if (type == ArgType::Tensor && !written) choices.push_back("a number");
  }
  if (optional) choices.push_back("None");
  std::string text = choices.front();
  for (size_t i = 1; i < choices.size(); ++i) {
    text += (i + 1 < choices.size() ? ", " : " or ") + choices[i];
  }
  return text;
}

Argument Argument::item() const {
  Argument one;
  one.name = name;
  one.type = type;
  one.optional = optional_item;
  one.written = type == ArgType::Tensor;  // a number is no item of Tensor[]
  return one;
}

int Schema::index_of(std::string_view argument) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument) return int(i);
  }
  return -1;
}

std::string Schema::str() const {
  std::ostringstream out;
  out << full_name() << '(';
  bool starred = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (i) out << ", ";
    if (argument.keyword_only && !starred) {
      out << "*, ";
      starred = true;
    }
    out << argument.type_str() << ' ' << argument.name;
    if (argument.has_default) { out << '=' << default_text(argument); }
  }
  out << ") -> ";
  if (returns.size() != 1) out << '(';
  for (size_t i = 0; i < returns.size(); ++i) {
    if (i) out << ", ";
    out << returns[i].type_str();
    if (!returns[i].name.empty()) out << ' ' << returns[i].name;
  }
  if (returns.size() != 1) out << ')';
  return out.str();
}

Schema parse_schema(std::string_view text) { return Parser(text).parse(); }

}  // namespace pkg

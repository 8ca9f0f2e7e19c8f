// SPDX-License-Identifier: Apache-2.0
// c_api/value.cc: pkg_value to the dispatcher's Value by a schema, and back.
#include <cstring>
#include <memory>

#include "c_api/boundary.h"
#include "dispatcher/match.h"

namespace pkg::c {
namespace {

const char* kind_name(int32_t kind) {
  constexpr const char* names[] = {
      "None",   "Tensor",       "list of Tensors", "bool",           "int",
      "float",  "str",          "list of ints",    "list of floats", "dtype",
      "device", "list of strs", "list of bools"};
  return kind >= 0 && kind < int32_t(std::size(names)) ? names[kind]
                                                       : "a value of unknown kind";
}

bool is_number(const pkg_value& value) {
  return value.kind == PKG_KIND_BOOL || value.kind == PKG_KIND_INT ||
         value.kind == PKG_KIND_FLOAT;
}
Scalar scalar_of(const pkg_value& value) {
  if (value.kind == PKG_KIND_FLOAT) return Scalar(value.as.number);
  if (value.kind == PKG_KIND_BOOL) return Scalar(value.as.integer != 0);
  return Scalar(value.as.integer);
}
bool is_integer(const pkg_value& value) {
  return value.kind == PKG_KIND_BOOL || value.kind == PKG_KIND_INT;
}

[[noreturn]] void refuse(const Operator& op, const Argument& argument,
                         const std::string& got) {
  throw TypeError(wrong_argument(op.schema.name, argument.name, argument.expected(), got));
}

void check_array(const Operator& op, const Argument& argument, const void* array,
                 int64_t length) {
  PKG_CHECK(length >= 0, ValueError, '[', op.schema.name,
            "] expected a length of 0 or "
            "more for '",
            argument.name, "', got ", length);
  if (!array && length) refuse(op, argument, str("a NULL array of length ", length));
}

// The following return false where the kind does not fit the parameter.

bool parse_tensors(const Operator& op, const Argument& argument, const pkg_value& value,
                   Value* out) {
  if (value.kind != PKG_KIND_TENSOR_LIST) return false;
  check_array(op, argument, value.as.tensors, value.length);
  TensorList list;
  for (int64_t i = 0; i < value.length; ++i) {
    list.push_back(borrow(value.as.tensors[i]));
    if (list.back().defined() || argument.optional_item) continue;
    throw TypeError(wrong_argument(op.schema.name, str(argument.name, '[', i, ']'),
                                   argument.item().expected(), "NULL"));
  }
  *out = std::move(list);
  return true;
}

bool parse_floats(const Operator& op, const Argument& argument, const pkg_value& value,
                  Value* out) {
  const bool ints = value.kind == PKG_KIND_INT_LIST;
  if (!ints && value.kind != PKG_KIND_FLOAT_LIST) return false;
  check_array(op, argument, value.as.numbers, value.length);
  std::vector<double> list(static_cast<size_t>(value.length));
  for (size_t i = 0; i < list.size(); ++i) {
    list[i] = ints ? double(value.as.integers[i]) : value.as.numbers[i];
  }
  *out = std::move(list);
  return true;
}

bool parse_bools(const Operator& op, const Argument& argument, const pkg_value& value,
                 Value* out) {
  if (value.kind != PKG_KIND_BOOL_LIST) return false;
  check_array(op, argument, value.as.integers, value.length);
  *out = std::vector<bool>(value.as.integers, value.as.integers + value.length);
  return true;
}

bool parse_texts(const Operator& op, const Argument& argument, const pkg_value& value,
                 Value* out) {
  if (value.kind != PKG_KIND_STRING_LIST) return false;
  check_array(op, argument, value.as.strings, value.length);
  std::vector<std::string> list;
  for (int64_t i = 0; i < value.length; ++i) {
    PKG_CHECK(
        value.as.strings[i], TypeError,
        wrong_argument(op.schema.name, str(argument.name, '[', i, ']'), "a str", "NULL"));
    list.emplace_back(value.as.strings[i]);
  }
  *out = std::move(list);
  return true;
}

bool parse_ints(const Operator& op, const Argument& argument, const pkg_value& value,
                Value* out) {
  if (is_integer(value)) {  // one number for all, or a list of one
    *out = Shape(size_t(std::max<int64_t>(argument.length, 1)), value.as.integer);
    return true;
  }
  if (value.kind != PKG_KIND_INT_LIST) return false;
  check_array(op, argument, value.as.integers, value.length);
  if (value.length == 1 && argument.length > 1) {
    *out = Shape(size_t(argument.length), value.as.integers[0]);
    return true;
  }
  if (argument.length >= 0 && argument.length != value.length) {
    refuse(op, argument, str("a list of ", value.length));
  }
  *out = Shape(value.as.integers, size_t(value.length));
  return true;
}

bool parse(const Operator& op, const Argument& argument, const pkg_value& value,
           Value* out) {
  if (value.kind == PKG_KIND_NONE) {
    *out = Value();
    return argument.optional;
  }
  if (argument.list) {
    if (argument.type == ArgType::Tensor) return parse_tensors(op, argument, value, out);
    if (argument.type == ArgType::Float) return parse_floats(op, argument, value, out);
    if (argument.type == ArgType::Bool) return parse_bools(op, argument, value, out);
    if (argument.type == ArgType::Str) return parse_texts(op, argument, value, out);
    return parse_ints(op, argument, value, out);
  }
  switch (argument.type) {
    case ArgType::Tensor:
      if (value.kind == PKG_KIND_TENSOR) {
        if (!value.as.tensor) {
          refuse(op, argument,
                 argument.optional ? "NULL. Hint: pass PKG_KIND_NONE." : "NULL");
        }
        *out = borrow(value.as.tensor);
        return true;
      }
      // A number promotes as numbers do; what an op writes to must be a real tensor.
      if (argument.written || !is_number(value)) return false;
      *out = Tensor(scalar_of(value));
      return true;
    case ArgType::Scalar:
      if (!is_number(value)) return false;
      *out = scalar_of(value);
      return true;
    case ArgType::Int:
      if (!is_integer(value)) return false;
      *out = Scalar(value.as.integer);
      return true;
    case ArgType::Float:
      if (!is_number(value)) return false;
      *out = Scalar(scalar_of(value).to<double>());
      return true;
    case ArgType::Bool:
      if (!is_integer(value)) return false;
      *out = Scalar(value.as.integer != 0);
      return true;
    case ArgType::Str:
      if (value.kind != PKG_KIND_STRING) return false;
      if (!value.as.string) refuse(op, argument, "NULL");
      *out = value.length < 0 ? std::string(value.as.string)
                              : std::string(value.as.string, size_t(value.length));
      return true;
    case ArgType::DType:
      if (value.kind != PKG_KIND_DTYPE) return false;
      *out = dtype_of_code(op.schema.name.c_str(), value.as.integer);
      return true;
    case ArgType::Device:
      if (value.kind != PKG_KIND_DEVICE) return false;
      *out = device_of_code(op.schema.name.c_str(), value.as.integer);
      return true;
  }
  return false;
}

// A call from C: positional arguments, then named ones.
struct Call {
  using Item = const pkg_value*;
  static constexpr bool kSpreads = false;

  std::span<const pkg_arg> given;
  size_t n_positional = 0;

  explicit Call(const Operator& op, std::span<const pkg_arg> args) : given(args) {
    while (n_positional < given.size() && !given[n_positional].name) ++n_positional;
    for (size_t i = n_positional; i < given.size(); ++i) {
      PKG_CHECK(given[i].name, TypeError, op.schema.name,
                "(): a positional argument follows the named '", given[i - 1].name, "'.");
    }
  }
  size_t positional() const { return n_positional; }
  size_t named() const { return given.size() - n_positional; }
  Item positional(size_t i) const { return &given[i].value; }
  Item named(size_t k) const { return &given[n_positional + k].value; }
  std::string_view name(size_t k) const { return given[n_positional + k].name; }
  static std::string_view alias(std::string_view name) { return name; }
  static bool ignores(size_t) { return false; }
  static bool parse(const Operator& op, const Argument& param, Item value, Value* out) {
    return c::parse(op, param, *value, out);
  }
  static std::string type_of(Item value) { return kind_name(value->kind); }
  static bool is_list(Item) { return false; }  // parse() says which item is wrong
  template <class F>
  static bool each(Item, F) {
    return true;
  }
};

}  // namespace

void bind_arguments(const Operator& op, std::span<const pkg_arg> given,
                    std::span<Value> out) {
  const Call call(op, given);
  Match match(op, call, out.data(), true);
  if (!match.run()) throw TypeError(match.why());
}

namespace {

// Everything but lists that are arrays of something else in C, and tensors, which are lent
// or owned.
struct ToC {
  pkg_value value{};

  void operator()(std::monostate) {}
  void operator()(const Tensor& tensor) {
    value.kind = PKG_KIND_TENSOR;
    value.as.tensor = lend(tensor);
  }
  void operator()(const TensorList& list) {
    value.kind = PKG_KIND_TENSOR_LIST;
    value.length = int64_t(list.size());
  }
  void operator()(const Scalar& scalar) {
    value.kind = scalar.is_float()                     ? PKG_KIND_FLOAT
                 : scalar.kind() == Scalar::Kind::Bool ? PKG_KIND_BOOL
                                                       : PKG_KIND_INT;
    if (scalar.is_float()) value.as.number = scalar.to<double>();
    else value.as.integer = scalar.to<int64_t>();
  }
  void operator()(const Shape& shape) {
    value.kind = PKG_KIND_INT_LIST;
    value.length = int64_t(shape.size());
    value.as.integers = shape.data();
  }
  void operator()(const std::string& text) {
    value.kind = PKG_KIND_STRING;
    value.length = int64_t(text.size());
    value.as.string = text.c_str();
  }
  void operator()(DType dtype) {
    value.kind = PKG_KIND_DTYPE;
    value.as.integer = int64_t(dtype);
  }
  void operator()(Device device) {
    value.kind = PKG_KIND_DEVICE;
    value.as.integer = code_of(device);
  }
  void operator()(const std::vector<double>& list) {
    value.kind = PKG_KIND_FLOAT_LIST;
    value.length = int64_t(list.size());
    value.as.numbers = list.data();
  }
  void operator()(const std::vector<std::string>& list) {
    value.kind = PKG_KIND_STRING_LIST;
    value.length = int64_t(list.size());
  }
  void operator()(const std::vector<bool>& list) {
    value.kind = PKG_KIND_BOOL_LIST;
    value.length = int64_t(list.size());
  }
};

pkg_value lend_value(const Value& value) {
  ToC convert;
  std::visit(convert, value);
  return convert.value;
}

template <class T>
T* copy_array(const T* from, size_t n) {
  T* made = new T[n];
  std::copy_n(from, n, made);
  return made;
}

}  // namespace

LentValues::LentValues(std::span<const Value> args) {
  for (const Value& arg : args) {
    pkg_value& lent = values_.emplace_back(lend_value(arg));
    if (auto* list = std::get_if<TensorList>(&arg)) {
      auto& handles = lists_.emplace_back();
      for (const Tensor& tensor : *list) handles.push_back(lend(tensor));
      lent.as.tensors = handles.data();
    } else if (auto* texts = std::get_if<std::vector<std::string>>(&arg)) {
      auto& pointers = texts_.emplace_back();
      for (const std::string& text : *texts) pointers.push_back(text.c_str());
      lent.as.strings = pointers.data();
    } else if (auto* bools = std::get_if<std::vector<bool>>(&arg)) {
      lent.as.integers = bools_.emplace_back(bools->begin(), bools->end()).data();
    }
  }
}

namespace {

// Arrays are there, filled with nulls, before what is in them is made: so that what failed
// can be cleared.
void own_contents(pkg_value& made, const Value& value, pkg_value lent) {
  const size_t n = size_t(lent.length);
  switch (lent.kind) {
    case PKG_KIND_TENSOR:
      pkg_tensor_retain(lent.as.tensor);
      made.as.tensor = lent.as.tensor;
      break;
    case PKG_KIND_TENSOR_LIST: {
      auto** handles = new pkg_tensor*[n]();
      made.as.tensors = handles;
      for (size_t i = 0; i < n; ++i) handles[i] = own(std::get<TensorList>(value)[i]);
      break;
    }
    case PKG_KIND_STRING: made.as.string = copy_array(lent.as.string, n + 1); break;
    case PKG_KIND_STRING_LIST: {
      auto** copies = new const char*[n]();
      made.as.strings = copies;
      const auto& texts = std::get<std::vector<std::string>>(value);
      for (size_t i = 0; i < n; ++i) {
        copies[i] = copy_array(texts[i].c_str(), texts[i].size() + 1);
      }
      break;
    }
    case PKG_KIND_BOOL_LIST: {
      const auto& bools = std::get<std::vector<bool>>(value);
      auto* numbers = new int64_t[n];
      std::copy(bools.begin(), bools.end(), numbers);
      made.as.integers = numbers;
      break;
    }
    case PKG_KIND_INT_LIST: made.as.integers = copy_array(lent.as.integers, n); break;
    case PKG_KIND_FLOAT_LIST: made.as.numbers = copy_array(lent.as.numbers, n); break;
    default: made.as = lent.as; break;
  }
}

}  // namespace

pkg_value own_value(const Value& value) {
  const pkg_value lent = lend_value(value);
  pkg_value made = lent;
  made.as = {};
  try {
    own_contents(made, value, lent);
  } catch (...) {
    if (made.as.tensors) pkg_value_clear(&made);  // no array: nothing is owned
    throw;
  }
  return made;
}

}  // namespace pkg::c

extern "C" void pkg_value_clear(pkg_value* value) {
  if (!value) return;
  switch (value->kind) {
    case PKG_KIND_TENSOR: pkg_tensor_delete(value->as.tensor); break;
    case PKG_KIND_TENSOR_LIST:
      for (int64_t i = 0; i < value->length; ++i) pkg_tensor_delete(value->as.tensors[i]);
      delete[] value->as.tensors;
      break;
    case PKG_KIND_STRING: delete[] value->as.string; break;
    case PKG_KIND_STRING_LIST:
      for (int64_t i = 0; i < value->length; ++i) delete[] value->as.strings[i];
      delete[] value->as.strings;
      break;
    case PKG_KIND_BOOL_LIST:
    case PKG_KIND_INT_LIST: delete[] value->as.integers; break;
    case PKG_KIND_FLOAT_LIST: delete[] value->as.numbers; break;
    default: break;
  }
  *value = {};
}

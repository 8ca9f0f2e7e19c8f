// SPDX-License-Identifier: Apache-2.0
// tests/bindings/parse.cc: Python arguments against the schema of an op.
#include "parse.h"

namespace pkg::pybind {
namespace {

template <class T>
std::optional<Value> boxed(std::optional<T> value) {
  if (!value) return std::nullopt;
  return Value(std::move(*value));
}

bool is_list(py::handle object) {
  return py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object);
}

/// Every item through `read`, which answers nullopt for one that does not fit.
template <class List, class Read>
std::optional<Value> parse_items(py::handle object, Read read) {
  if (!is_list(object)) return std::nullopt;
  List list;
  for (py::handle item : object) {
    auto value = read(item);
    if (!value) return std::nullopt;
    list.push_back(std::move(*value));
  }
  return Value(std::move(list));
}

std::optional<Value> parse_ints(const Argument& argument, py::handle object) {
  if (const auto value = as_int(object)) {  // one number for all, or a list of one
    return Value(Shape(size_t(std::max<int64_t>(argument.length, 1)), *value));
  }
  auto list = parse_items<Shape>(object, as_int);
  if (!list || argument.length < 0) return list;
  const Shape& ints = std::get<Shape>(*list);
  if (ints.size() == 1) return Value(Shape(size_t(argument.length), ints[0]));
  return int64_t(ints.size()) == argument.length ? list : std::nullopt;
}

// A number as a double; ints of any length have one, unlike a Scalar's.
std::optional<double> as_double(py::handle object) {
  try {
    const auto number = as_scalar(object);
    return number ? std::optional(number->to<double>()) : std::nullopt;
  } catch (const IntTooBig&) {
    return double(py::float_(py::reinterpret_borrow<py::object>(object)));
  }
}

std::optional<Value> parse_list(const Argument& argument, py::handle object) {
  switch (argument.type) {
    case ArgType::Tensor:
      return parse_items<TensorList>(object, [&](py::handle item) {
        return item.is_none() && argument.optional_item ? Tensor() : as_tensor(item);
      });
    case ArgType::Float:
      return parse_items<std::vector<double>>(object, as_double);
    default: return parse_ints(argument, object);
  }
}

std::optional<Value> parse_number(ArgType type, py::handle object) {
  if (type == ArgType::Float) {
    const auto number = as_double(object);
    return number ? std::optional(Value(Scalar(*number))) : std::nullopt;
  }
  const auto number = as_scalar(object);
  if (!number || type == ArgType::Scalar) return boxed(number);
  if (number->is_float()) return std::nullopt;
  return Value(Scalar(number->to<bool>()));
}

std::optional<Value> parse_value(const Argument& argument, py::handle object) {
  if (object.is_none() && argument.optional) return Value();
  if (argument.list) return parse_list(argument, object);
  switch (argument.type) {
    case ArgType::Tensor:
      // What an op writes to must be a real tensor.
      return boxed(argument.written ? as_tensor(object) : as_tensor_like(object));
    case ArgType::Scalar:
    case ArgType::Float:
    case ArgType::Bool: return parse_number(argument.type, object);
    case ArgType::Int: {
      const auto value = as_int(object);
      return value ? std::optional(Value(Scalar(*value))) : std::nullopt;
    }
    case ArgType::Str:
      if (!py::isinstance<py::str>(object)) return std::nullopt;
      return Value(object.cast<std::string>());
    case ArgType::DType: return boxed(as_dtype(object));
    case ArgType::Device: return boxed(as_device(object));
  }
  return std::nullopt;
}

// NumPy's words for PyTorch's parameters.
std::string_view alias_of(std::string_view keyword) {
  if (keyword == "axis") return "dim";
  if (keyword == "keepdims") return "keepdim";
  if (keyword == "ddof") return "correction";
  if (keyword == "input") return "self";
  return keyword;
}

// What NumPy's functions pass of themselves: out=None, and with it axis=None, dtype=None.
bool is_numpys_default(const py::kwargs& kwargs, std::string_view keyword,
                       py::handle value) {
  if (!value.is_none()) return false;
  return keyword == "out" ||
         ((keyword == "axis" || keyword == "dtype") && kwargs.contains("out"));
}

/// One call on its way to one schema; false means `why` says what does not fit.
class Match {
 public:
  Match(const Operator& op, bool strict, std::string* why)
      : schema_(op.schema), strict_(strict), why_(why), values_(schema_.arguments.size()),
        given_(values_.size()) {}

  bool positional(const py::args& args) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (i >= values_.size() || schema_.arguments[i].keyword_only) {
        return refuse("() takes ", i, " positional arguments but ", args.size(),
                      " were given");
      }
      const Argument& parameter = schema_.arguments[i];
      given_[i] = true;
      const auto value = parse_named(parameter, args[i]);
      // x.reshape(2, 3), einsum("ij,jk", a, b): the remaining arguments are the list.
      if (takes_the_rest(i, args)) {
        if (const auto list = parse_named(parameter, rest_of(i, args))) {
          values_[i] = *list;
          return true;
        }
      } else if (value) {
        values_[i] = *value;
        continue;
      }
      return refuse_argument(parameter, takes_the_rest(i, args) ? rest_of(i, args) : args[i]);
    }
    return true;
  }

  bool keywords(const py::kwargs& kwargs) {
    for (const auto& [name, object] : kwargs) {
      const auto keyword = name.cast<std::string>();
      int index = schema_.index_of(keyword);
      if (index < 0) index = schema_.index_of(alias_of(keyword));
      if (index < 0 && is_numpys_default(kwargs, keyword, object)) continue;
      if (index < 0) {
        return refuse("() got an unexpected keyword argument '", keyword, "'");
      }
      const auto at = size_t(index);
      if (given_[at]) {
        return refuse("() got multiple values for argument '", keyword, "'");
      }
      given_[at] = true;
      const Argument& parameter = schema_.arguments[at];
      const auto value = parse_named(parameter, object);
      if (!value) {
        return refuse_argument(parameter, object);
      }
      values_[at] = *value;
    }
    return true;
  }

  bool defaults() {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (given_[i]) continue;
      const Argument& parameter = schema_.arguments[i];
      if (!parameter.has_default) {
        return refuse("() missing required argument: '", parameter.name, "' (pos ", i + 1,
                      ")");
      }
      values_[i] = parameter.default_value;
    }
    return true;
  }

  std::vector<Value> values() && { return std::move(values_); }

 private:
  /// parse(), whose int too big for any dtype gets the name of the parameter.
  std::optional<Value> parse_named(const Argument& parameter, py::handle object) const {
    try {
      return parse(parameter, object);
    } catch (const IntTooBig& error) {
      throw error.named(schema_.name, parameter.name);
    }
  }
  bool takes_the_rest(size_t i, const py::args& args) const {
    const auto& parameters = schema_.arguments;
    const bool last = i + 1 >= parameters.size() || parameters[i + 1].keyword_only;
    if (!parameters[i].list || !last) return false;
    if (parameters[i].type == ArgType::Tensor) return as_tensor(args[i]).has_value();
    return parameters[i].type == ArgType::Int && args.size() > i + 1 && as_int(args[i]);
  }
  std::optional<Value> parse(const Argument& parameter, py::handle object) const {
    const bool number = parameter.type != ArgType::Tensor;
    if (strict_ && number && as_tensor(object)) return std::nullopt;
    return parse_value(parameter, object);
  }
  static py::object rest_of(size_t i, const py::args& args) {
    return args[py::slice(py::ssize_t(i), std::nullopt, 1)];
  }
  /// Of a list it says which item is wrong.
  bool refuse_argument(const Argument& parameter, py::handle object) {
    const std::string got = type_name(object);
    if (!parameter.list || !is_list(object)) {
      return tell(parameter.name, parameter.expected(), got);
    }
    const Argument item = parameter.item();
    size_t i = 0;
    for (py::handle entry : object) {
      if (!parse_value(item, entry)) {
        return tell(str(parameter.name, '[', i, ']'), item.expected(), type_name(entry));
      }
      ++i;
    }
    return tell(parameter.name, parameter.expected(), str("a ", got, " of ", i));
  }
  bool tell(const std::string& parameter, const std::string& expected,
            const std::string& got) {
    *why_ = wrong_argument(schema_.name, parameter, expected, got);
    return false;
  }
  template <class... Parts>
  bool refuse(const Parts&... parts) {
    *why_ = str(schema_.name, parts...);
    return false;
  }

  const Schema& schema_;
  bool strict_;
  std::string* why_;
  std::vector<Value> values_;
  std::vector<bool> given_;
};

}  // namespace

std::optional<std::vector<Value>> parse_arguments(const Operator& op,
                                                  const py::args& args,
                                                  const py::kwargs& kwargs, bool strict,
                                                  std::string* why) {
  Match match(op, strict, why);
  if (!match.positional(args) || !match.keywords(kwargs) || !match.defaults()) {
    return std::nullopt;
  }
  return std::move(match).values();
}

void no_match(std::span<const Operator* const> overloads, const py::args& args,
              const py::kwargs& kwargs, const std::string& why) {
  if (overloads.size() == 1) throw TypeError(why);
  std::string got, expected;
  const auto comma = [&] { return got.empty() ? "" : ", "; };
  for (py::handle object : args) got += str(comma(), type_name(object));
  for (const auto& [name, object] : kwargs) {
    got += str(comma(), name.cast<std::string>(), "=", type_name(object));
  }
  for (const Operator* op : overloads) expected += "\n * " + op->schema.str();
  throw TypeError(str(overloads[0]->schema.name,
                      "() received an invalid combination of arguments - got (", got,
                      "), but expected one of:", expected));
}

}  // namespace pkg::pybind

// SPDX-License-Identifier: Apache-2.0
// tests/bindings/parse.cc: one Python value to one argument of an op.
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
    case ArgType::Float: return parse_items<std::vector<double>>(object, as_double);
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

}  // namespace

Call::Call(const py::args& args, const py::kwargs& kwargs, bool strict)
    : args_(args), strict_(strict) {
  for (const auto& [name, value] : kwargs) {
    named_.emplace_back(name.cast<std::string>(), value);
  }
}

bool Call::parse(const Operator& op, const Argument& param, py::handle object,
                 Value* out) const {
  if (strict_ && param.type != ArgType::Tensor && as_tensor(object)) return false;
  try {
    auto value = parse_value(param, object);
    if (value) *out = std::move(*value);
    return value.has_value();
  } catch (const IntTooBig& error) { throw error.named(op.schema.name, param.name); }
}

bool Call::is_tensor(py::handle object) { return as_tensor(object).has_value(); }
bool Call::is_list(py::handle object) { return pybind::is_list(object); }

}  // namespace pkg::pybind

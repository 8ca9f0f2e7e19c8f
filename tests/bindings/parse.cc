// SPDX-License-Identifier: Apache-2.0
// tests/bindings/parse.cc: one Python value to one argument of an op.
#include "parse.h"

#include "dispatcher/read_results.h"

namespace pkg::pybind {
namespace {

// A number as a double; ints of any length have one, unlike a Scalar's.
std::optional<double> as_double(py::handle object) {
  try {
    const auto number = as_scalar(object);
    return number ? std::optional(number->to<double>()) : std::nullopt;
  } catch (const IntTooBig&) {
    return double(py::float_(py::reinterpret_borrow<py::object>(object)));
  }
}

/// What `read` found, through a pointer.
template <auto read, class T>
bool store(py::handle object, T* out) {
  auto found = read(object);
  if (found) *out = std::move(*found);
  return found.has_value();
}
std::optional<std::string> as_text(py::handle object) {
  if (!py::isinstance<py::str>(object)) return std::nullopt;
  return object.cast<std::string>();
}

/// For dispatcher/read.h.
struct Reader {
  using Item = py::handle;

  static std::string type_of(py::handle object) { return type_name(object); }
  static bool is_none(py::handle object) { return object.is_none(); }
  static bool is_list(py::handle object) { return Call::is_list(object); }
  template <class F>
  static bool each(py::handle list, F f) {
    return Call::each(list, f);
  }
  static std::optional<Tensor> tensor(py::handle object) { return as_tensor(object); }
  static constexpr auto tensor_like = store<as_tensor_like, Tensor>;
  static constexpr auto scalar = store<as_scalar, Scalar>;
  static constexpr auto integer = store<as_int, int64_t>;
  static constexpr auto real = store<as_double, double>;
  static constexpr auto text = store<as_text, std::string>;
  static constexpr auto dtype = store<as_dtype, DType>;
  static constexpr auto device = store<as_device, Device>;
};

}  // namespace

void read_results(const Operator& op, py::handle result, Stack& stack) {
  ReadResults<Reader>::run(op, result, stack);
}

Call::Call(const py::args& args, const py::kwargs& kwargs) : args_(args) {
  for (const auto& [name, value] : kwargs) {
    named_.emplace_back(name.cast<std::string>(), value);
  }
}

bool Call::parse(const Operator& op, const Argument& param, py::handle object,
                 Value* out) const {
  if (strict && param.type != ArgType::Tensor && as_tensor(object)) return false;
  try {
    return ReadValue<Reader>::run(param, object, out);
  } catch (const IntTooBig& error) { throw error.named(op.schema.name, param.name); }
}

bool Call::is_tensor(py::handle object) { return as_tensor(object).has_value(); }
bool Call::is_list(py::handle object) {
  return py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object);
}

}  // namespace pkg::pybind

// SPDX-License-Identifier: Apache-2.0
// tests/bindings/casters.cc: numbers and operands from Python.
#include "casters.h"

#include "kept.h"
#include "memory.h"
#include "tensor/copy.h"
#include "tensors.h"

namespace pkg::pybind {
namespace {

constexpr char kWide[] = "an int of 64 bits";

std::string text_of(py::handle number) {
  try {
    return py::repr(number);
  } catch (const py::error_already_set&) {  // Python writes no more than 4,300 digits
    return "a larger one";
  }
}

int64_t int_value(const py::int_& number) {
  py::detail::make_caster<int64_t> caster;
  if (!caster.load(number, false)) throw IntTooBig(number);
  return caster;
}

/// `object.__index__()`, as an int; nullopt when it has none or refuses.
std::optional<py::int_> index_of(py::handle object) {
  if (!py::hasattr(object, "__index__")) return std::nullopt;
  try {
    return py::int_(call(object.attr("__index__")));
  } catch (const py::error_already_set&) {
    return std::nullopt;  // an array of several elements
  }
}

/// Numbers that are not Python's own: NumPy's scalars above all.
std::optional<Scalar> as_foreign_scalar(py::handle object) {
  if (!py::hasattr(py::type::handle_of(object), "__float__") || !is_dimensionless(object)) {
    return std::nullopt;
  }
  if (const auto index = index_of(object)) return Scalar(int_value(*index));
  const char kind = dtype_kind(object);
  if (!kind || kind == 'c' || kind == 'M' || kind == 'm') return std::nullopt;
  const auto number = py::reinterpret_borrow<py::object>(object);
  try {
    if (kind == 'b') return Scalar(bool(py::bool_(number)));
    return Scalar(double(py::float_(number)));
  } catch (const py::error_already_set&) { return std::nullopt; }
}

/// TypeError for the tensor of another binding that is loaded beside this one.
void refuse_foreign(py::handle object) {
  const py::object binding = py::getattr(py::type::handle_of(object), "_binding",
                                         py::none());
  PKG_CHECK(!py::isinstance<py::str>(binding), TypeError,
            "expected a Tensor of the binding _pybind_core, got one of ",
            std::string(py::str(binding)),
            ". Exchange them through DLPack: pkg.from_dlpack(x).");
}

}  // namespace

IntTooBig::IntTooBig(py::handle number)
    : OverflowError(str("expected ", kWide, ", got ", text_of(number))),
      number_(text_of(number)) {}
OverflowError IntTooBig::named(std::string_view function,
                               std::string_view parameter) const {
  return OverflowError(wrong_argument(function, parameter, kWide, number_));
}

bool is_dimensionless(py::handle object) {
  if (py::isinstance<py::sequence>(object)) return false;
  if (std::string_view(type_name(object)).starts_with("numpy.")) return true;
  if (!is_array(object)) return true;
  const py::object ndim = py::getattr(object, "ndim", py::none());
  return py::isinstance<py::int_>(ndim) && ndim.equal(py::int_(0));
}

char dtype_kind(py::handle object) {
  const py::object dtype = py::getattr(object, "dtype", py::none());
  const py::object kind = py::getattr(dtype, "kind", py::none());
  return py::isinstance<py::str>(kind) ? kind.cast<std::string>()[0] : '\0';
}

std::optional<Tensor> as_tensor(py::handle object) {
  py::detail::make_caster<Held<TensorImpl>> caster;
  try {
    if (!caster.load(object, false)) {
      refuse_foreign(object);
      return std::nullopt;
    }
  } catch (const py::cast_error&) {  // made by __new__ alone: there is no holder
    throw RuntimeError(
        "this Tensor was never initialised: make tensors with pkg.tensor(...).");
  }
  return Tensor(py::detail::cast_op<Held<TensorImpl>&>(caster));
}

std::optional<int64_t> as_int(py::handle object) {
  // True is no size: x.var(False) means unbiased=False, not dim=0.
  if (py::isinstance<py::float_>(object) || py::isinstance<py::bool_>(object)) {
    return std::nullopt;
  }
  if (const auto tensor = as_tensor(object)) {
    if (tensor->ndim() != 0 || !is_integral(tensor->dtype())) return std::nullopt;
  }
  const auto index = index_of(object);
  if (!index) return std::nullopt;
  return int_value(*index);
}

std::optional<Scalar> as_scalar(py::handle object) {
  if (py::isinstance<py::float_>(object)) return Scalar(object.cast<double>());
  if (py::isinstance<py::bool_>(object)) return Scalar(object.cast<bool>());
  if (py::isinstance<py::int_>(object)) {
    return Scalar(int_value(py::reinterpret_borrow<py::int_>(object)));
  }
  if (const auto tensor = as_tensor(object)) {
    if (tensor->ndim() || tensor->requires_grad() || tensor->is_meta()) return std::nullopt;
    return item(*tensor);
  }
  return as_foreign_scalar(object);
}

std::optional<Tensor> as_tensor_like(py::handle object) {
  if (auto tensor = as_tensor(object)) return tensor;
  if (const auto scalar = as_scalar(object)) return Tensor(*scalar);
  if (py::isinstance<py::bytes>(object) || py::isinstance<py::bytearray>(object) ||
      !is_array(object)) {
    return std::nullopt;
  }
  const Tensor view = over_array(object);
  const Tensor copy = empty(view.spec());
  copy_into(copy, view);
  return copy;
}

TensorList parse_tensors(const char* function, const char* parameter, py::handle sequence,
                         bool or_none) {
  expect(py::isinstance<py::tuple>(sequence) || py::isinstance<py::list>(sequence),
         function, parameter, "a tuple of Tensors", sequence);
  TensorList list;
  for (py::handle entry : sequence) {
    const auto tensor = or_none && entry.is_none() ? Tensor() : as_tensor(entry);
    expect(tensor.has_value(), function, str(parameter, '[', list.size(), ']'),
           or_none ? "a Tensor or None" : "a Tensor", entry);
    list.push_back(*tensor);
  }
  return list;
}

py::object from_scalar(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return py::bool_(scalar.to<bool>());
    case Scalar::Kind::Int: return py::int_(scalar.to<int64_t>());
    default: return py::float_(scalar.to<double>());
  }
}

}  // namespace pkg::pybind

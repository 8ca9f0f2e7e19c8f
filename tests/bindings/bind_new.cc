// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_new.cc: tensor(data) from numbers and nested sequences.
#include "bind.h"
#include "memory.h"
#include "ops/functions.h"
#include "tensor/copy.h"
#include "tensor/layout.h"
#include "tensor/nested_numbers.h"

namespace pkg::pybind {
namespace {

/// Gives the numbers of `data`, which is inside of `depth` sequences.
void collect(py::handle data, size_t depth, NestedNumbers& numbers) {
  const auto tensor = as_tensor(data);
  const bool is_sequence = !tensor && py::isinstance<py::sequence>(data) &&
                           !py::isinstance<py::str>(data);
  // What pandas has goes by labels as a sequence, or by columns.
  const bool array = !tensor && !py::isinstance<py::bytes>(data) && is_array(data);
  if (array && (is_sequence || !as_scalar(data))) {
    return numbers.add(depth, over_array(data));
  }
  if (is_sequence) {
    const auto sequence = py::reinterpret_borrow<py::sequence>(data);
    const size_t n = sequence.size();
    numbers.begin(depth, int64_t(n));
    for (size_t i = 0; i < n; ++i) collect(py::object(sequence[i]), depth + 1, numbers);
    return;
  }
  if (tensor && tensor->numel() == 1) {
    return numbers.add(depth, item(*tensor), tensor->dtype());
  }
  const auto number = as_scalar(data);
  PKG_CHECK(number, TypeError,
            "[tensor] expected numbers or nested sequences of them, got ", type_name(data));
  const auto dtype = py::hasattr(data, "dtype") ? as_dtype(data.attr("dtype"))
                                                : std::nullopt;
  numbers.add(depth, *number, dtype.value_or(number->dtype()));
}

Tensor tensor(const py::object& data, const py::object& dtype, const py::object& device,
              const py::object& requires_grad) {
  std::optional<DType> wanted;
  if (!dtype.is_none()) {
    wanted = as_dtype(dtype);
    expect(wanted.has_value(), "tensor", "dtype", "a dtype or None", dtype);
  }
  Tensor result = [&] {
    try {
      return tensor_from_data(data, wanted);
    } catch (const IntTooBig& error) { throw error.named("tensor", "data"); }
  }();
  if (!device.is_none()) {
    const auto there = as_device(device);
    expect(there.has_value(), "tensor", "device", "a device or None", device);
    result = ops::to_device(result, *there);
  }
  if (py::bool_(requires_grad)) set_requires_grad(result, true);
  return result;
}

}  // namespace

Tensor tensor_from_data(py::handle data, std::optional<DType> dtype) {
  const auto given = as_tensor(data);
  if (given || is_array(data)) {
    PKG_CHECK(!py::isinstance<py::bytes>(data), TypeError,
              "[tensor] cannot convert bytes; use from_numpy(numpy.frombuffer(...)).");
    const Tensor source = given ? *given : over_array(data);
    source.wait();
    const Tensor copy = empty_as(source, dtype.value_or(source.dtype()), source.device());
    if (!source.is_meta()) copy_into(copy, source);
    return copy;
  }
  NestedNumbers numbers;
  collect(data, 0, numbers);
  return numbers.tensor(dtype);
}

void bind_new(py::module_& m) {
  m.def("tensor", &tensor, py::arg("data"), py::arg("dtype") = py::none(), py::kw_only(),
        py::arg("device") = py::none(), py::arg("requires_grad") = false,
        "tensor(data, dtype=None, *, device=None, requires_grad=False)\n--\n\n"
        "Tensor with a copy of `data`: a number, nested sequences, an array or a "
        "tensor.");
}

}  // namespace pkg::pybind

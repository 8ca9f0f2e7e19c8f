// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_new.cc: tensor(data) from numbers and nested sequences.
#include "bind.h"
#include "memory.h"
#include "ops/functions.h"
#include "tensor/strided_loop.h"

namespace pkg::pybind {
namespace {

/// A number, also in the form of a one-element tensor.
std::optional<Scalar> as_element(py::handle data) {
  const auto tensor = as_tensor(data);
  if (tensor && tensor->numel() == 1) return item(*tensor);
  return as_scalar(data);
}

bool is_nested(py::handle data) {
  return py::isinstance<py::sequence>(data) && !py::isinstance<py::str>(data) &&
         !as_tensor(data);
}

/// Shape and element type of nested sequences.
class Measure {
 public:
  explicit Measure(py::handle data) { visit(data, 0); }

  Shape shape;
  DType kind = default_dtype();

 private:
  void visit(py::handle data, size_t depth) {
    if (is_nested(data)) return visit_sequence(data, depth);
    const auto element = as_element(data);
    PKG_CHECK(element, TypeError,
              "[tensor] expected numbers or nested sequences of them, got ",
              type_name(data));
    PKG_CHECK(depth == shape.size(), ValueError, "[tensor] expected a sequence at dim ",
              depth, ", got a number");
    kind = first_ ? element->dtype() : std::max(kind, element->dtype());
    first_ = false;
  }
  void visit_sequence(py::handle data, size_t depth) {
    const auto sequence = py::reinterpret_borrow<py::sequence>(data);
    const auto n = int64_t(sequence.size());
    if (depth == shape.size() && first_) shape.push_back(n);
    PKG_CHECK(depth < shape.size() && shape[depth] == n, ValueError,
              "[tensor] expected sequence of length ",
              depth < shape.size() ? shape[depth] : 0, " at dim ", depth, " (got ", n, ")");
    for (py::handle entry : sequence) visit(entry, depth + 1);
    if (n == 0) first_ = false;
  }

  bool first_ = true;
};

template <class T>
void fill(py::handle data, T*& out) {
  if (is_nested(data)) {
    for (py::handle entry : py::reinterpret_borrow<py::sequence>(data)) fill(entry, out);
  } else {
    *out++ = as_element(data).value_or(Scalar()).to<T>();
  }
}

/// The values in the widest type of their kind, then in the wanted one.
template <class T>
Tensor filled(py::handle data, const Shape& shape, DType wanted) {
  Tensor exact = empty(shape, dtype_of<T>);
  T* out = exact.data<T>();
  fill(data, out);
  return pkg::as_dtype(exact, wanted);
}

Tensor tensor(const py::object& data, const py::object& dtype, const py::object&,
              const py::object& requires_grad) {
  std::optional<DType> wanted;
  if (!dtype.is_none()) {
    wanted = as_dtype(dtype);
    PKG_CHECK(wanted, TypeError, "[tensor] expected a dtype for 'dtype', got ",
              type_name(dtype));
  }
  Tensor result = tensor_from_data(data, wanted);
  if (py::bool_(requires_grad)) set_requires_grad(result, true);
  return result;
}

}  // namespace

Tensor tensor_from_data(py::handle data, std::optional<DType> dtype) {
  const auto given = as_tensor(data);
  if (given || py::isinstance<py::buffer>(data)) {
    PKG_CHECK(!py::isinstance<py::bytes>(data), TypeError,
              "[tensor] cannot convert bytes; use from_numpy(numpy.frombuffer(...)).");
    const Tensor source =
        given ? *given : borrow_buffer(py::reinterpret_borrow<py::buffer>(data));
    source.wait();
    const Tensor copy = empty(source.sizes(), dtype.value_or(source.dtype()));
    copy_into(copy, source);
    return copy;
  }
  const Measure measured(data);
  const DType wanted = dtype.value_or(measured.kind);
  return is_floating(measured.kind) ? filled<double>(data, measured.shape, wanted)
                                    : filled<int64_t>(data, measured.shape, wanted);
}

void bind_new(py::module_& m) {
  m.def("tensor", &tensor, py::arg("data"), py::arg("dtype") = py::none(), py::kw_only(),
        py::arg("device") = py::none(), py::arg("requires_grad") = false,
        "tensor(data, dtype=None, *, device=None, requires_grad=False)\n--\n\n"
        "Tensor with a copy of `data`: a number, nested sequences, an array or a "
        "tensor.");
}

}  // namespace pkg::pybind

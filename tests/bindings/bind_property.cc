// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_property.cc: properties of Tensor.
#include "autograd/leaf.h"
#include "autograd/node.h"
#include "autograd/views.h"
#include "bind.h"
#include "ops/functions.h"

namespace pkg::pybind {
namespace {

void put_grad(const Tensor& self, const py::object& value) {
  const auto grad = value.is_none() ? Tensor() : as_tensor(value);
  PKG_CHECK(grad, TypeError, "assigned grad expected to be a Tensor or None but got ",
            type_name(value));
  set_grad(self, *grad);
}

void put_data(const Tensor& self, const py::object& value) {
  const std::optional<Tensor> source = as_tensor(value);
  PKG_CHECK(source, TypeError, "data must be a Tensor, not ", type_name(value));
  set_data(self, *source);
}

void put_requires_grad(const Tensor& self, const py::object& value) {
  set_requires_grad(self, py::bool_(value));
}

}  // namespace

void bind_property(TensorClass& cls) {
  // requires_grad(x) brings the history of a view up to date, which is_leaf and grad_fn
  // rely on.
  const auto get = [&](const char* name, auto getter, const char* doc) {
    cls.def_property_readonly(name, getter, doc);
  };
  get("shape", [](const Tensor& x) { return x.sizes(); }, "Sizes of the dimensions.");
  get("dtype", [](const Tensor& x) { return x.dtype(); }, "Element type.");
  get(
      "device", [](const Tensor& x) { return x.device(); },
      "Where it lives: 'cpu' or 'meta'.");
  get("ndim", [](const Tensor& x) { return x.ndim(); }, "Number of dimensions.");
  get(
      "itemsize", [](const Tensor& x) { return itemsize(x.dtype()); },
      "Bytes of one element.");
  get(
      "nbytes", [](const Tensor& x) { return x.numel() * itemsize(x.dtype()); },
      "Bytes of all elements.");
  get(
      "is_leaf", [](const Tensor& x) { return requires_grad(x), x.is_leaf(); },
      "Whether no differentiable op made it.");
  get(
      "grad_fn", [](const Tensor& x) { return requires_grad(x), Held<Node>(grad_fn(x)); },
      "The node that made it, or None.");
  get(
      "retains_grad",
      [](const Tensor& x) { return x.autograd() && bool(x.autograd()->retained); },
      "Whether retain_grad() was called on it.");
  get(
      "_is_view", [](const Tensor& x) { return x.is_view(); },
      "Whether it shows another tensor's memory.");
  get(
      "T", [](const Tensor& x) { return ops::transpose(x, 0, -1); },
      "Transpose of a matrix.");
  get("_version", [](const Tensor& x) { return x.version(); }, "Times written.");
  cls.def_property(
      "requires_grad", [](const Tensor& x) { return requires_grad(x); }, &put_requires_grad,
      "Whether gradients are computed for it.");
  cls.def_property(
      "data", [](const Tensor& x) { return share_uncounted(x); }, &put_data,
      "The values without history.");
  // `del x.grad` is allowed, which def_property() has no parameter for.
  const py::cpp_function deleter([](const Tensor& x) { put_grad(x, py::none()); },
                                 py::is_method(cls));
  cls.def_property(
      "grad", [](const Tensor& x) { return x.grad(); }, &put_grad,
      "Accumulated gradient, or None.");
  cls.attr("grad") = cls.attr("grad").attr("deleter")(deleter);
}

}  // namespace pkg::pybind

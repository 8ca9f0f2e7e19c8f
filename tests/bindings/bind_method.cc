// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_method.cc: methods of Tensor that are not ops.
#include "autograd/leaf.h"
#include "bind.h"
#include "tensor/exported.h"

namespace pkg::pybind {
namespace {

// The values of dimension d and those behind it, `data` the first.
py::list nested_list(const Tensor& tensor, size_t d, const char* data) {
  const int64_t n = tensor.sizes()[d];
  const int64_t step = tensor.strides()[d] * itemsize(tensor.dtype());
  py::list list(static_cast<size_t>(n));
  if (d + 1 < tensor.sizes().size()) {
    for (int64_t i = 0; i < n; ++i, data += step) {
      list[size_t(i)] = nested_list(tensor, d + 1, data);
    }
    return list;
  }
  visit_dtype(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < n; ++i, data += step) {
      const T value = *reinterpret_cast<const T*>(data);
      if constexpr (std::is_integral_v<T>) list[size_t(i)] = value;
      else list[size_t(i)] = double(value);
    }
  });
  return list;
}
py::object nested_list(const Tensor& tensor) {
  if (tensor.ndim() == 0) return from_scalar(item(tensor));
  PKG_CHECK(!tensor.is_meta() || tensor.numel() == 0, RuntimeError,
            "[tolist] a meta tensor has a shape but no values.");
  const Tensor held = share(tensor);
  return nested_list(held, 0, static_cast<const char*>(held.data()));
}

py::object size(const Tensor& self, std::optional<int64_t> dim) {
  return dim ? py::int_(self.size(*dim)) : py::cast(self.sizes());
}
py::object stride(const Tensor& self, std::optional<int64_t> dim) {
  return dim ? py::int_(self.stride(*dim)) : py::cast(self.strides());
}

}  // namespace

void bind_method(TensorClass& cls) {
  cls.def(
      "item", [](const Tensor& x) { return item(x); },
      "item(self)\n--\n\nThe value of a one-element tensor as a Python number.");
  cls.def(
      "tolist", [](const Tensor& x) { return nested_list(x.wait()); },
      "tolist(self)\n--\n\nThe values as nested lists.");
  cls.def(
      "wait", [](const Tensor& x) { return x.wait(); },
      "wait(self)\n--\n\nBlocks until the values are there; raises their error.");
  cls.def(
      "is_ready", [](const Tensor& x) { return x.is_ready(); },
      "is_ready(self)\n--\n\nWhether reading would not block.");
  cls.def(
      "numel", [](const Tensor& x) { return x.numel(); },
      "numel(self)\n--\n\nNumber of elements.");
  cls.def(
      "storage_offset", [](const Tensor& x) { return x.offset(); },
      "storage_offset(self)\n--\n\nElements of the memory before the first one.");
  cls.def(
      "dim", [](const Tensor& x) { return x.ndim(); },
      "dim(self)\n--\n\nNumber of dimensions.");
  cls.def(
      "element_size", [](const Tensor& x) { return itemsize(x.dtype()); },
      "element_size(self)\n--\n\nBytes of one element.");
  cls.def(
      "data_ptr",
      [](const Tensor& x) { return reinterpret_cast<uintptr_t>(exposed_data(x)); },
      "data_ptr(self)\n--\n\nAddress of the first element.  From now on no op runs "
      "on this memory after its call has returned.");
  cls.def(
      "is_contiguous", [](const Tensor& x) { return x.is_contiguous(); },
      "is_contiguous(self)\n--\n\nWhether the layout is row-major without gaps.");
  cls.def(
      "is_floating_point", [](const Tensor& x) { return is_floating(x.dtype()); },
      "is_floating_point(self)\n--\n\nWhether the dtype is floating.");
  cls.def(
      "_storage_id",
      [](const Tensor& x) { return reinterpret_cast<uintptr_t>(&x.storage()); },
      "_storage_id(self)\n--\n\nThe same number for tensors that share memory.");
  cls.def(
      "_storage_nbytes", [](const Tensor& x) { return x.storage().nbytes(); },
      "_storage_nbytes(self)\n--\n\nBytes of the memory that it shows a part of.");
  cls.def(
      "_share", [](const Tensor& x) { return share(x); },
      "_share(self)\n--\n\nAnother tensor over the same memory, unknown to "
      "autograd.");
  cls.def(
      "detach", [](const Tensor& x) { return share(x); },
      "detach(self)\n--\n\nThe same values outside the graph.");
  cls.def(
      "detach_", [](const Tensor& x) { return detach_in_place(x), x; },
      "detach_(self)\n--\n\nForgets its history and requires_grad; returns self.  "
      "RuntimeError for a view.");
  cls.def("size", &size, py::arg("dim") = py::none(),
          "size(self, dim=None)\n--\n\nShape, or one size.");
  cls.def("stride", &stride, py::arg("dim") = py::none(),
          "stride(self, dim=None)\n--\n\nStrides in elements, or one of them.");
}

}  // namespace pkg::pybind

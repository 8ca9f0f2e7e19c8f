// SPDX-License-Identifier: Apache-2.0
// ops/create/creation.cc: new tensors, copies and conversions.  Number sequences: sequences.cc.
#include "base/number_fits.h"
#include "ops/op.h"
#include "ops/shape/move_cost.h"
#include "tensor/fill.h"
#include "tensor/layout.h"

namespace pkg::ops {

Tensor with_requires_grad(Tensor tensor, bool requires_grad) {
  if (requires_grad) set_requires_grad(tensor, true);
  return tensor;
}

namespace {

Tensor filled(const Tensor& tensor, const Scalar& value, bool requires_grad) {
  if (!tensor.is_meta()) fill(tensor, value);
  return with_requires_grad(tensor, requires_grad);
}

Tensor full_fn(const Shape& size, const Scalar& value, std::optional<DType> dtype,
               std::optional<Device> device, bool requires_grad) {
  const DType type = dtype.value_or(value.dtype());
  check_fits("full", value, type);
  return filled(empty(size, type, device.value_or(Device{})), value, requires_grad);
}
Tensor zeros(const Shape& size, std::optional<DType> dtype, std::optional<Device> device,
             bool requires_grad) {
  return full_fn(size, 0, dtype.value_or(default_dtype()), device, requires_grad);
}
Tensor ones(const Shape& size, std::optional<DType> dtype, std::optional<Device> device,
            bool requires_grad) {
  return full_fn(size, 1, dtype.value_or(default_dtype()), device, requires_grad);
}
Tensor empty_op(const Shape& size, std::optional<DType> dtype, std::optional<Device> device,
                bool requires_grad) {
  return with_requires_grad(
      empty(size, dtype.value_or(default_dtype()), device.value_or(Device{})),
      requires_grad);
}

Tensor eye(int64_t n, std::optional<int64_t> columns, std::optional<DType> dtype,
           std::optional<Device> device, bool requires_grad) {
  const int64_t cols = columns.value_or(n);
  Tensor tensor = zeros(Shape{n, cols}, dtype, device, false);
  const int64_t step = Checked(cols) + 1;
  const Tensor diagonal = alias(tensor, Shape{std::min(n, cols)}, Shape{step}, 0);
  if (!tensor.is_meta()) fill(diagonal, 1);
  return with_requires_grad(tensor, requires_grad);
}

Tensor like(const Tensor& self, const Scalar& value, std::optional<DType> dtype,
            std::optional<Device> device, bool requires_grad) {
  const DType type = dtype.value_or(self.dtype());
  check_fits("full", value, type);
  return filled(empty_as(self, type, device.value_or(self.device())), value, requires_grad);
}

// With values there is one device; to "meta" goes the shape alone.
Tensor moved(const Tensor& self, Device device, DType dtype, bool copy) {
  if (device == self.device()) {
    if (self.dtype() != dtype) return to_dtype(self, dtype);
    return copy ? clone(self) : self;
  }
  PKG_CHECK(!self.is_meta(), NotImplementedError,
            "[to] expected a tensor with values, got "
            "one of the device 'meta' (device='",
            device, "'). empty_like(x, device='", device, "') makes one of its shape.");
  return empty_as(self, dtype, device);
}

constexpr const char* kOptions =
    "*, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor";

PKG_LIBRARY_FRAGMENT(pkg, m) {
  const auto def = [&](const std::string& head) { return m.def(head + kOptions); };
  def("full(int[] size, Scalar fill_value, ")
      .doc("Tensor filled with one value.")
      .composite(full_fn);
  def("zeros(int[] size, ").doc("Tensor of zeros.").composite(zeros);
  def("ones(int[] size, ").doc("Tensor of ones.").composite(ones);
  def("empty(int[] size, ").doc("Tensor of unspecified values.").composite(empty_op);
  def("eye(int n, int? m=None, ").doc("Ones on the diagonal.").composite(eye);
  m.def("full_like(Tensor self, Scalar fill_value, *, DType? dtype=None, "
        "Device? device=None, bool requires_grad=False) -> Tensor")
      .doc("Same shape and dtype, filled with one value.")
      .composite(like);
  const auto def_like = [&](const char* name, const char* doc) {
    return m
        .def(str(name, "(Tensor self, *, DType? dtype=None, Device? device=None, "
                       "bool requires_grad=False) -> Tensor"))
        .doc(doc);
  };
  def_like("zeros_like", "Zeros of the same shape and dtype.")
      .composite(
          [](const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
             bool requires_grad) { return like(self, 0, dtype, device, requires_grad); });
  def_like("ones_like", "Ones of the same shape and dtype.")
      .composite(
          [](const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
             bool requires_grad) { return like(self, 1, dtype, device, requires_grad); });
  def_like("empty_like", "Unspecified values, same shape and dtype.")
      .composite([](const Tensor& self, std::optional<DType> dtype,
                    std::optional<Device> device, bool requires_grad) {
        return with_requires_grad(
            empty_as(self, dtype.value_or(self.dtype()), device.value_or(self.device())),
            requires_grad);
      });
  const auto def_new = [&](const char* name, const char* more, const char* doc) {
    return m.def(str(name, "(Tensor self, int[] size, ", more, kOptions)).doc(doc);
  };
  def_new("new_full", "Scalar fill_value, ", "full with the dtype of self.")
      .composite([](const Tensor& self, const Shape& size, const Scalar& value,
                    std::optional<DType> dtype, std::optional<Device> device, bool grad) {
        return full_fn(size, value, dtype.value_or(self.dtype()),
                       device.value_or(self.device()), grad);
      });
  def_new("new_zeros", "", "zeros with the dtype of self.")
      .composite([](const Tensor& self, const Shape& size, std::optional<DType> dtype,
                    std::optional<Device> device, bool grad) {
        return full_fn(size, 0, dtype.value_or(self.dtype()),
                       device.value_or(self.device()), grad);
      });
  def_new("new_ones", "", "ones with the dtype of self.")
      .composite([](const Tensor& self, const Shape& size, std::optional<DType> dtype,
                    std::optional<Device> device, bool grad) {
        return full_fn(size, 1, dtype.value_or(self.dtype()),
                       device.value_or(self.device()), grad);
      });
  def_new("new_empty", "", "empty with the dtype of self.")
      .composite([](const Tensor& self, const Shape& size, std::optional<DType> dtype,
                    std::optional<Device> device, bool grad) {
        return empty_op(size, dtype.value_or(self.dtype()), device.value_or(self.device()),
                        grad);
      });
  m.def("clone(Tensor self) -> Tensor")
      .doc("Copy with memory of its own, laid out as self.")
      .shape(same_shape)
      .keeps_order()
      .cpu([](Tensor& out, const Tensor& self) { copy_into(out, self); })
      .derivative("self", "", [](auto& g) { return g; });
  m.def("stop_gradient(Tensor self) -> Tensor")
      .doc("The same values, through which no gradient flows: detach() as an op.")
      .composite([](const Tensor& self) { return share(self); })
      .non_differentiable();
  m.def("contiguous(Tensor self) -> Tensor")
      .doc("The tensor itself when row-major, else a row-major copy.")
      .composite([](const Tensor& self) {
        return self.is_contiguous() ? self : row_major_copy(self);
      });
  m.def("_row_major_copy(Tensor self) -> Tensor")
      .doc("A row-major copy.")
      .element_cost(kMoveNanoseconds)
      .shape(same_shape)
      .cpu([](Tensor& out, const Tensor& self) { copy_into(out, self); })
      .derivative("self", "", [](auto& g) { return g; });
  m.def("to_dtype(Tensor self, DType dtype) -> Tensor")
      .doc("Values converted to another element type.")
      .shape([](const Tensor& self, DType dtype) {
        return Spec{self.sizes(), dtype, self.device()};
      })
      .keeps_order()
      .cpu([](Tensor& out, const Tensor& self, DType) { copy_into(out, self); })
      .derivative("self", "self.dtype", to_dtype);
  // non_blocking has no effect: with one device nothing waits for a copy.
  constexpr const char* kHow = "bool non_blocking=False, bool copy=False) -> Tensor";
  m.def(str("to(Tensor self, DType dtype, ", kHow))
      .doc("The tensor itself when it has the dtype and copy is false, else a converted "
           "copy.")
      .composite([](const Tensor& self, DType dtype, bool, bool copy) {
        return moved(self, self.device(), dtype, copy);
      });
  m.def(str("to.device(Tensor self, Device? device=None, DType? dtype=None, ", kHow))
      .doc("The same with a device: 'cpu', or 'meta' for the shape alone.")
      .composite([](const Tensor& self, std::optional<Device> device,
                    std::optional<DType> dtype, bool, bool copy) {
        return moved(self, device.value_or(self.device()), dtype.value_or(self.dtype()),
                     copy);
      });
  m.def(str("to.other(Tensor self, Tensor other, ", kHow))
      .doc("With the dtype and device of another tensor.")
      .composite([](const Tensor& self, const Tensor& other, bool, bool copy) {
        PKG_CHECK(!other.impl()->wrapped_number, TypeError,
                  "[to] expected a dtype, a device or a tensor, got a number.");
        return moved(self, other.device(), other.dtype(), copy);
      });
  const auto cast = [&]<DType dtype>(const char* name) {
    m.def(std::string(name) + "(Tensor self) -> Tensor")
        .doc("Converted to the element type of this name; itself when it has it.")
        .composite([](const Tensor& self) {
          return self.dtype() == dtype ? self : to_dtype(self, dtype);
        });
  };
  cast.operator()<DType::Float32>("float");
  cast.operator()<DType::Float64>("double");
  cast.operator()<DType::Float16>("half");
  cast.operator()<DType::BFloat16>("bfloat16");
  cast.operator()<DType::Int32>("int");
  cast.operator()<DType::Int64>("long");
  cast.operator()<DType::Bool>("bool");
  m.def("copy(Tensor self, Tensor src) -> Tensor")
      .doc("src broadcast and converted to self's shape and dtype.")
      .element_cost(kMoveNanoseconds)
      .shape([](const Tensor& self, const Tensor& src) {
        const Shape sizes = broadcast_shapes("copy_", self.sizes(), src.sizes());
        PKG_CHECK(sizes == self.sizes(), RuntimeError, "[copy_] cannot broadcast ",
                  src.sizes(), " to ", self.sizes(), ".");
        if (src.impl()->wrapped_number)
          check_written("copy_", item(src), self.dtype(), "src");
        return self.spec();
      })
      .cpu([](Tensor& out, const Tensor&, const Tensor& src) { copy_into(out, src); })
      .derivative("self", "", [](auto& g) { return full_like(g, 0); })
      .derivative("src", "src.shape", sum_to)
      .in_place();
  m.def("fill(Tensor self, Scalar value) -> Tensor")
      .doc("One value everywhere.")
      .element_cost(kMoveNanoseconds)
      .shape([](const Tensor& self, const Scalar& value) {
        check_fits("fill", value, self.dtype());
        return self.spec();
      })
      .cpu([](Tensor& out, const Tensor&, const Scalar& value) { fill(out, value); })
      .writes_one_value()
      .derivative("self", "", [](auto& g) { return full_like(g, 0); })
      .in_place();
  m.def("zero(Tensor self) -> Tensor")
      .doc("Zero everywhere.")
      .element_cost(kMoveNanoseconds)
      .shape(same_shape)
      .cpu([](Tensor& out, const Tensor&) { fill(out, 0); })
      .writes_one_value()
      .derivative("self", "", [](auto& g) { return full_like(g, 0); })
      .in_place();
}

}  // namespace
}  // namespace pkg::ops

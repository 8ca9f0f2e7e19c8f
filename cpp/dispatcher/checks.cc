// SPDX-License-Identifier: Apache-2.0
// dispatcher/checks.cc: see checks.h.
#include "dispatcher/checks.h"

#include <algorithm>

#include "dispatcher/dispatcher.h"

namespace pkg::detail {

void check_no_leaf_written(std::string_view name, const Tensor& self) {
  PKG_CHECK(!(self.requires_grad() && self.is_leaf()), RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation ([",
            name, "]). Use no_grad() to change it outside the graph.");
}

void check_no_bare_view_written(std::string_view name, const Tensor& self) {
  if (self.requires_grad() || !self.is_view()) return;
  PKG_CHECK(!self.impl()->base->keys.has(DispatchKey::Autograd), RuntimeError,
            "A view was created in no_grad mode, or before its base required grad, and "
            "is being modified inplace with grad mode enabled ([",
            name, "]). Make the view again, or write under no_grad().");
}

// Refuses writes that would bypass autograd.
static void check_unrecorded(const Operator& op, const Tensor& self) {
  if (op.definition().non_differentiable && self.requires_grad()) {
    check_no_leaf_written(op.schema.name, self);
    raise<NotImplementedError>(
        "[", op.schema.name,
        "] is not differentiable, so the gradient of the tensor that "
        "it writes to would be lost. Use the form that returns a new tensor, or detach().");
  }
  check_no_bare_view_written(op.schema.name, self);
}

void check_no_overlap(std::string_view name, const Tensor& written) {
  for (size_t i = 0; i < written.sizes().size(); ++i) {
    PKG_CHECK(written.strides()[i] != 0 || written.sizes()[i] < 2, RuntimeError, "[", name,
              "] unsupported operation: more than one element of the "
              "written-to tensor refers to a single memory location (shape ",
              written.sizes(), ", strides ", written.strides(),
              "). Please clone() the "
              "tensor before performing the operation.");
  }
}

void check_in_place(const Operator& op, const Tensor& self, const Spec& spec) {
  if (grad_enabled()) check_unrecorded(op, self);
  PKG_CHECK(self.sizes() == spec.sizes, RuntimeError, "[", op.schema.name,
            "] output with shape ", self.sizes(), " doesn't match the broadcast shape ",
            spec.sizes, ".");
  const bool loses = is_floating(spec.dtype) && !is_floating(self.dtype());
  PKG_CHECK(!loses && !(self.dtype() == DType::Bool && spec.dtype != DType::Bool),
            RuntimeError, "[", op.schema.name, "] result type ", spec.dtype,
            " can't be cast to the desired output type ", self.dtype(), ".");
  if (!op.definition().writes_one_value && self.numel() > 0)
    check_no_overlap(op.schema.name, self);
}

// An index, a parameter of integers outside the common dtype, may be on any device.
static bool is_index(const Operator& op, size_t parameter) {
  const DTypeSet own = op.definition().domain.own[parameter];
  return own.has(DType::Int64) && !own.has(DType::Float32);
}

bool check_one_device(const Operator& op, std::span<const Value> args) {
  bool meta = false, values = false;
  for (size_t i = 0; i < args.size(); ++i) {
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      meta |= tensor.is_meta();
      if (tensor.is_meta()) return;
      // Only the written tensor counts: nothing is written into a meta tensor.
      if (op.in_place()) values |= i == 0;
      else values |= tensor.ndim() > 0 && !is_index(op, i);
    });
  }
  PKG_CHECK(!meta || !values, RuntimeError, "[", op.schema.name,
            "] expected all tensors to be on the same device, got some on cpu and some on "
            "meta, which have no values.");
  return meta;
}

bool names_device(std::span<const Value> args) {
  return std::any_of(args.begin(), args.end(), [](const Value& value) {
    return std::holds_alternative<Device>(value);
  });
}

void rename_and_rethrow(const Operator& op, Error& error) {
  error.rename(op.schema.name);
  throw;
}

}  // namespace pkg::detail

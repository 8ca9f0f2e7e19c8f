// SPDX-License-Identifier: Apache-2.0
// framework/calling.cc: the boxed kernels of ops of REGISTER_OP.
//
// Note [Definitions]
// The record of such an op has `rule` as its shape rule and its definition as what the rule
// works with, whether it is structured or not: so the definition lives with the record, and
// no second table has to agree with the registry.
#include "framework/calling.h"

namespace pkg::framework {
namespace {

std::vector<KnownOutput> infer(const OpRegistrationData& data,
                               std::span<const Value> args) {
  const CallTypes types(data.op_def, args);
  const AttrValues attrs = attrs_of_call(data.op_def, args, types);
  std::vector<KnownInput> inputs;
  for (size_t i = 0; i < data.op_def.inputs.size(); ++i) {
    for_each_tensor(args[i], [&](const pkg::Tensor& tensor) {
      inputs.push_back({types.types[inputs.size()], PartialShape::of(tensor.sizes()), nullptr});
    });
  }
  return infer_outputs(data, attrs, inputs);
}

// NotImplementedError where the sizes depend on values: then there is no allocating first.
Spec spec_of(const OpDef& def, const KnownOutput& output, Device device) {
  const auto dtype = dtype_of_data_type(output.type);
  PKG_CHECK(dtype, NotImplementedError, "[", def.name, "] there are no tensors of ",
            dtype_name(output.type), ".");
  PKG_CHECK(
      PartialTensorShape(output.shape).IsFullyDefined(), NotImplementedError, "[", def.name,
      "] has results whose shapes are not known before it runs: ", output.shape.str(), ".");
  return {output.shape.sizes, *dtype, device};
}

void rule(void* shape, const Value* values, Spec* specs) {
  const auto& data = *static_cast<const OpRegistrationData*>(shape);
  const std::span args(values, data.op_def.inputs.size() + data.op_def.attrs.size());
  const bool meta = keys_of(args.first(data.op_def.inputs.size())).has(DispatchKey::Meta);
  for (const KnownOutput& output : infer(data, args)) {
    *specs++ = spec_of(data.op_def, output,
                       Device{meta ? DeviceType::Meta : DeviceType::CPU});
  }
}

void run_meta(const Operator& op, const Kernel&, KeySet, Stack& stack) {
  const OpRegistrationData& data = *definition_of(op);
  PKG_CHECK(data.shape_inference_fn || data.op_def.outputs.empty(), NotImplementedError,
            "[", data.op_def.name,
            "] has no shape function: there is no call without values. "
            "Give it one with .SetShapeFn(...).");
  TensorList results;
  for (const KnownOutput& output : infer(data, stack.args)) {
    results.push_back(empty(spec_of(data.op_def, output, Device{DeviceType::Meta})));
  }
  if (data.op_def.outputs_in_one_list()) return stack.push(std::move(results));
  for (pkg::Tensor& result : results) stack.push(std::move(result));
}

}  // namespace

const OpRegistrationData* definition_of(const Operator& op) {
  return op.shape_boxed == rule ? static_cast<const OpRegistrationData*>(op.shape)
                                : nullptr;
}

void set_up_calls(Operator& op, const OpRegistrationData* data) {
  const OpDef& def = data->op_def;
  op.shape = const_cast<OpRegistrationData*>(data);
  op.shape_boxed = rule;
  // Its results are allocated before it runs.
  const bool structured = data->shape_inference_fn && !def.outputs.empty() &&
                          !def.outputs_in_one_list();
  op.kind = structured ? OpKind::Structured : OpKind::Function;
  Kernel meta;
  meta.boxed = run_meta;
  meta.where = op.where;
  Dispatcher::get().set_kernel(op, DispatchKey::Meta, meta);
}

}  // namespace pkg::framework

// SPDX-License-Identifier: Apache-2.0
// framework/calling.h: how calls of an op of REGISTER_OP reach its kernels.
#pragma once

#include "dispatcher/dispatcher.h"
#include "framework/op.h"

namespace pkg::framework {

/// Gives a new record its kind, its rule and the kernels that choose among what
/// REGISTER_KERNEL_BUILDER has registered.  `data` is kept.
void set_up_calls(Operator& op, const OpRegistrationData* data);

/// What is known of an argument before the call runs.
struct KnownInput {
  DataType type = DT_INVALID;
  PartialShape shape;
  const Tensor* value = nullptr;  ///< where it is known
};
struct KnownOutput {
  DataType type = DT_INVALID;
  PartialShape shape;
};

/// Types of the tensors of a call, in their order, and how many each input has.
struct CallTypes {
  CallTypes(const OpDef& def, std::span<const Value> args);
  DataTypeVector types;
  std::vector<size_t> counts;
};

/// The attributes of a call, of the types and numbers of its tensors and of its parameters.
/// TypeError and ValueError for a call that the definition does not allow.
AttrValues attrs_of_call(const OpDef& def, std::span<const Value> args,
                         const CallTypes& tensors);

/// What the call will give, by the shape function.  Its errors name the op and `node`.
std::vector<KnownOutput> infer_outputs(const OpRegistrationData& data,
                                       const AttrValues& attrs,
                                       std::span<const KnownInput> inputs,
                                       std::string_view node = {});

}  // namespace pkg::framework

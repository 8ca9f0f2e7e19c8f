// SPDX-License-Identifier: Apache-2.0
// collectives/records.h: what the records of collectives share.
//
// Note [Kernels at Async]
// The Async fallback would wait for pending inputs of an op without a shape rule.  So these
// have their kernel at Async, too: an input is waited for on no thread at all.
#pragma once

#include "collectives/collectives.h"
#include "collectives/submitting.h"
#include "ops/op.h"

namespace pkg::collectives {

/// A record whose kernel submits jobs and returns tensors that are pending.
template <class Kernel, class Meta>
OpBuilder pending(OpBuilder builder, Kernel kernel, Meta meta) {
  builder.in_program_order()
      .impl(DispatchKey::CPU, kernel)
      .impl(DispatchKey::Async, kernel)
      .impl(DispatchKey::Meta, meta);
  return builder;
}

/// Kernels call ops on the inputs, which is nothing that autograd should see.
inline ExcludeKeys no_history() { return ExcludeKeys(DispatchKey::Autograd); }

/// The name of the collective in backward: that of forward may still be under way.
inline std::string gradient_name(const std::string& name) {
  return name.empty() ? name : name + ".grad";
}

inline Tensor without_data(const Shape& sizes, const Tensor& like) {
  return empty(sizes, like.dtype(), Device{DeviceType::Meta});
}

/// The i-th gradient of a group, or zeros: of the shape of the i-th input, or with so many
/// rows.
Tensor gradient_of(const GradContext& g, size_t i, int64_t rows = -1);

}  // namespace pkg::collectives

// SPDX-License-Identifier: Apache-2.0
// tests/bindings/history.h: a tensor and the graph; bind_property.cc.
#pragma once

#include "tensor/tensor.h"

namespace pkg::pybind {

/// RuntimeError for a dtype without gradients, and for taking it from a non-leaf.
void set_requires_grad(const Tensor& tensor, bool wanted);
/// The same values outside the graph.
Tensor detach(const Tensor& tensor);

}  // namespace pkg::pybind

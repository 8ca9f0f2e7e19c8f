// SPDX-License-Identifier: Apache-2.0
// autograd/leaf.h: what the user sets on a leaf.  Called by the bindings.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// Makes `tensor` a leaf that requires no gradient, as if its values had been given.  Its
/// views keep their history until they are written.
/// RuntimeError for a view, whose base would still write to it.
void detach_in_place(const Tensor& tensor);
/// The same for a tensor that has had a history, whatever else shows its memory.
void forget_history(const Tensor& tensor);

/// Replaces the accumulated gradient; an undefined one forgets it.
void set_grad(const Tensor& tensor, const Tensor& grad);

}  // namespace pkg

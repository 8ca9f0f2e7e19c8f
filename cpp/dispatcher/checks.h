// SPDX-License-Identifier: Apache-2.0
// dispatcher/checks.h: what every call is checked for, beside its dtypes (domain.h).
#pragma once

#include <span>
#include <string_view>

#include "dispatcher/operator.h"

namespace pkg::detail {

/// RuntimeError if op `name` is about to write to a leaf that collects gradients, while
/// autograd records.
void check_no_leaf_written(std::string_view name, const Tensor& self);
/// The same for a view that does not know the history of the tensor it shows.
void check_no_bare_view_written(std::string_view name, const Tensor& self);
/// In-place ops write into their first argument; the rule must agree with its shape.
void check_in_place(const Operator& op, const Tensor& self, const Spec& spec);
/// RuntimeError if two elements of what op `name` writes lie in one place.
void check_no_overlap(std::string_view name, const Tensor& written);

/// RuntimeError when tensors with values stand beside meta tensors, which have none; single
/// numbers and indices may.  Returns whether there are meta tensors.
bool check_one_device(const Operator& op, std::span<const Value> args);
/// Whether a device is among the arguments: the shape rule has looked at it.
bool names_device(std::span<const Value> args);
/// For handlers: the error that is being handled, in the name of the op.
[[noreturn, gnu::cold]] void rename_and_rethrow(const Operator& op, Error& error);

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
// dispatcher/row_major.h: calls of kernels that take row-major tensors.  Kernels from
// outside the core do, unless they say otherwise.
#pragma once

#include "dispatcher/dispatcher.h"

namespace pkg::detail {

/// Computes into `results` with a structured kernel; its errors name the op.  One that
/// takes rows gets copies of what is not row-major or overlaps a result, and a result
/// that is not row-major, or of another dtype than the shape rule said, is written
/// afterwards.
using ResultTypes = std::array<DType, kMaxResults>;
void compute(const Operator& op, const Kernel& kernel, std::span<const Value> args,
             std::span<Tensor> results, const ResultTypes& dtypes);

/// Bare numbers become tensors of the common dtype where the kernel declared dtypes.
void convert_numbers(const Operator& op, std::span<Value> args);

/// What the shape rule says; its errors name the op.
void infer_shapes(const Operator& op, std::span<const Value> args, Spec* specs);

/// The tensors that the kernel writes to: what an in-place op was given, whose version
/// then counts the write, or new ones of these specs.
std::array<Tensor, kMaxResults> make_results(const Operator& op, const Kernel& kernel,
                                             std::span<const Value> args,
                                             std::span<const Spec> specs);

/// The rest of a call whose arguments have been checked: results of these specs, and the
/// kernel.  Errors name the op.
void run_checked(const Operator& op, const Kernel& kernel, Stack& stack,
                 std::span<const Spec> specs);

/// The boxed entry of a structured op, at CPU and at Meta, whose shape rule is boxed.
void run_structured(const Operator& op, const Kernel& kernel, KeySet keys, Stack& stack);
/// The boxed entry of a kernel that returns its results and takes rows.
void run_rows(const Operator& op, const Kernel& kernel, KeySet keys, Stack& stack);

}  // namespace pkg::detail

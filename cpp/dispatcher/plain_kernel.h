// SPDX-License-Identifier: Apache-2.0
// dispatcher/plain_kernel.h: kernels that make their results themselves, as those in
// PyTorch's style and those written in Python do.
//
// Note [A rule from Meta]
// Such a kernel says nothing of its results before it has run.  A kernel at Meta does: given
// tensors without data it returns results without data, which is what a shape rule tells.
// So an op that has one, and writes to nothing, becomes a structured op like any other:
// calls of it can be scheduled, and become steps of plans, whose buffers are given.  There
// its results are copied into those; a call that runs at once keeps what the kernel made.
#pragma once

#include "dispatcher/operator.h"

namespace pkg::detail {

/// What a Kernel made by set_plain_kernel() has as its `function`; lives for ever.
struct PlainKernel {
  const Operator* op = nullptr;
  /// Reads the arguments of a stack and pushes the results; nothing else.
  Kernel::Boxed call = nullptr;
  void* function = nullptr;  ///< what `call` works with
  bool below_autograd = false;
  bool writes = false;  ///< to some argument: writes(*op)

  static const PlainKernel& of(const Kernel& kernel) {
    return *static_cast<const PlainKernel*>(kernel.function);
  }
};

/// Gives the op such a kernel at CPU, Meta or Autograd.  `unboxed` is a Kernel's, or null;
/// it is used where the op writes to nothing.  Its types are const Tensor&, const TensorList&,
/// const Scalar&, int64_t, double, bool, const Shape&, DType, Device, const std::string&,
/// const references to other lists, and optionals of these: by value of what is by value.
void set_plain_kernel(Operator& op, DispatchKey key, Kernel::Boxed call, void* function,
                      void* unboxed, const char* where);
/// The same for all that the op has no kernel for: it calls other ops, which have gradients
/// and places of their own.
void set_composite_kernel(Operator& op, Kernel::Boxed call, void* function, void* unboxed,
                          const char* where);

/// Whether unboxed calls of it may have the types that follow from its schema: its kernels
/// came by set_plain_kernel(), whose `unboxed` must have those.
bool has_canonical_kernels(const Operator& op);
/// Whether it writes to some argument.
bool writes(const Operator& op);
/// Whether it makes its results itself when it is called at once.
bool makes_results(const Kernel& kernel);
/// Whether set_plain_kernel() gave it to a backend.
bool is_plain(const Kernel& kernel);

/// What kernels that are registered later change in the record of an op.
struct Conduct {
  void* shape = nullptr;
  void (*shape_boxed)(void* shape, const Value* args, Spec* specs) = nullptr;
  bool in_program_order = false;
  OpKind kind = OpKind::Function;

  explicit Conduct(const Operator& op)
      : shape(op.shape),
        shape_boxed(op.shape_boxed),
        in_program_order(op.in_program_order),
        kind(op.kind) {}
};
/// Under the registry's lock; taken back with the kernels if the registration fails.
void set_conduct(Operator& op, const Conduct& conduct);

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
// dispatcher/gradient.h: the gradient of an op as its record has it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "dispatcher/schema.h"

namespace pkg {

class Operator;

/// Parameters of one op.
inline constexpr size_t kMaxParameters = 16;

/// What a gradient is computed from: the gradients of the results, and what was saved.
struct GradContext {
  std::span<const Tensor> grads;    ///< one per result; undefined when not needed
  std::span<const Value> args;      ///< as called; tensors that were not saved are None
  std::span<const Tensor> results;  ///< those that were saved, else undefined
  std::span<const Spec> specs;      ///< shape and dtype of each argument (tensors)
  uint64_t needs_mask = 0;          ///< which slots want a gradient
  const Operator* op = nullptr;     ///< whose gradient this is

  const Tensor& grad(size_t i = 0) const { return grads[i]; }
  /// Whether the tensor in slot i (of the arguments, lists expanded) wants a gradient.
  bool needs(size_t i) const { return needs_mask & needs_bit(i); }
  /// Slots from 63 on share a bit, so a gradient that nobody needs may be computed.
  static uint64_t needs_bit(size_t i) { return uint64_t{1} << std::min<size_t>(i, 63); }
  const Tensor& input(size_t i) const { return Unbox<Tensor>::from(args[i]); }
  const Tensor& result(size_t i = 0) const { return results[i]; }
  const Shape& shape(size_t i) const { return specs[i].sizes; }
  template <class T>
  decltype(auto) arg(size_t i) const {
    return Unbox<T>::from(args[i]);
  }
};

/// One thing that a formula takes: an argument or its shape or dtype, a result, or the
/// gradient of a result.
struct GradInput {
  enum Kind : uint8_t { Argument, ShapeOf, DTypeOf, Result, Grad };
  Kind kind = Argument;
  uint8_t index = 0;
};

/// The gradient of one argument, as a function of what it names.
struct Derivative {
  using Evaluate = Tensor (*)(const GradContext&, const Derivative&);
  uint8_t argument = 0;  ///< index in the schema
  uint8_t tensor = 0;    ///< which of the Tensor parameters that is
  Evaluate evaluate = nullptr;
  const void* formula = nullptr;  ///< what evaluate calls: a handle, a function
  std::array<GradInput, kMaxParameters> inputs{};
};

struct Gradient {
  /// Gradients of the tensor arguments in order (a list argument counts each tensor);
  /// undefined where there is none.
  using Formula = TensorList (*)(const GradContext&);
  Formula formula = nullptr;
  /// The same, argument by argument, for ops without a formula for all.
  std::vector<Derivative> derivatives;
  // Masks of arguments: i is kept if one of those in saved_for[i] wants a gradient, result
  // i if one of those in results_for[i] does.
  std::array<uint64_t, kMaxParameters> saved_for{};
  std::array<uint64_t, 3> results_for{};
  /// A gradient that the formula made without a graph gives zeros when differentiated
  /// again, as PyTorch's of this op does, and not the error of a constant.
  bool second_is_zero = false;

  bool defined() const { return formula || !derivatives.empty(); }
};

}  // namespace pkg

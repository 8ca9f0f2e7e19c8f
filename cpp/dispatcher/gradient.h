// SPDX-License-Identifier: Apache-2.0
// dispatcher/gradient.h: the gradient of an op as its record has it.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <type_traits>
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
  /// Gradient::Formula::object.
  template <class T>
  T& object() const {
    return *static_cast<T*>(object_of(*op));
  }

 private:
  static void* object_of(const Operator& op);
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

/// What a call keeps for its gradient, as masks of arguments: argument i is kept if one of
/// those in arguments[i] wants a gradient, result i if one of those in results[i] does.
struct Saves {
  std::array<uint64_t, kMaxParameters> arguments{};
  std::array<uint64_t, kMaxResults> results{};

  static Saves everything() {
    Saves all;
    all.arguments.fill(~uint64_t{0});
    all.results.fill(~uint64_t{0});
    return all;
  }
};

struct Gradient {
  using Function = TensorList (*)(const GradContext&);

  /// Gradients of the tensor arguments in order (a list argument counts each tensor);
  /// undefined where there is none.  A function and perhaps an object that it works with,
  /// GradContext::object: made of whatever can be called so, or given as they are.
  struct Formula {
    Function function = nullptr;
    void* object = nullptr;  ///< lives as long as the process, as the op does

    Formula(Function plain, void* with = nullptr) : function(plain), object(with) {}
    template <class F>
      requires std::is_invocable_r_v<TensorList, F&, const GradContext&>
    Formula(F callable) {
      if constexpr (std::is_convertible_v<F, Function>) {
        function = callable;
      } else {
        function = [](const GradContext& g) -> TensorList { return g.object<F>()(g); };
        object = new F(std::move(callable));
      }
    }
  };

  /// Of all arguments.  It may be given later, while other threads call the op: then it is
  /// the last to be written.
  std::atomic<Function> function = nullptr;
  void* object = nullptr;
  /// The same, argument by argument, for ops without a formula for all.
  std::vector<Derivative> derivatives;
  Saves saves;
  const char* where = "";  ///< where it was given
  /// A gradient that the formula made without a graph gives zeros when differentiated
  /// again, as PyTorch's of this op does, and not the error of a constant.
  bool second_is_zero = false;

  bool has_formula() const { return function.load(std::memory_order_acquire); }
  bool defined() const { return has_formula() || !derivatives.empty(); }
};

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// ops/loops.h: kernels of pointwise ops, made from a formula for one element.  For the op
// files only.
#pragma once

#include "ops/op.h"
#include "tensor/layout.h"

namespace pkg::ops {

/// Whether numbers that meet 16-bit floats become such themselves before they are computed
/// with, so that 0.1 equals a tensor of 0.1.  As PyTorch does: factors do not.
enum class Numbers : bool { Rounded, Kept };

/// An operand as the loops want it: the tensor itself, or a copy where the dtype differs
/// or `out` overlaps its memory in another order (x.add_(x.t()) reads the old values).
class Operand {
 public:
  Operand(const Tensor& out, const Tensor& tensor, DType common,
          Numbers numbers = Numbers::Kept)
      : tensor_(&tensor) {
    const DType dtype = compute_type(common);
    const bool rounds = numbers == Numbers::Rounded && is_reduced(common) &&
                        tensor.dtype() != common;
    if (rounds || tensor.dtype() != dtype) {
      copy_ = as_dtype(rounds ? as_dtype(tensor, common) : tensor, dtype);
      tensor_ = &copy_;
    } else if (tensor.impl() != out.impl() &&
               tensor.impl()->storage == out.impl()->storage &&
               (tensor.offset() != out.offset() || tensor.strides() != out.strides())) {
      copy_ = empty(tensor.spec());
      copy_into(copy_, tensor);
      tensor_ = &copy_;
    }
  }
  const Tensor* get() const { return tensor_; }

 private:
  const Tensor* tensor_;
  Tensor copy_;
};

/// Where the loops write: `out` itself, or memory of the computed dtype that is
/// converted at the end.
class Target {
 public:
  Target(Tensor& out, DType dtype) : out_(out) {
    if (out.dtype() != dtype) copy_ = empty_as(out, dtype, out.device());
  }
  const Tensor* get() const { return copy_.defined() ? &copy_ : &out_; }
  void finish() {
    if (copy_.defined()) copy_into(out_, copy_);
  }

 private:
  Tensor& out_;
  Tensor copy_;
};

/// Runs `f` on every element: result type C -> Out, where C is `dtype`.
template <class Visit, class F>
void run_unary(Tensor& out, const Tensor& self, DType dtype, Visit visit, F f) {
  const Operand a(out, self, dtype);
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    using Out = decltype(f(T{}));
    Target to(out, dtype_of<Out>);
    strided_loop(out.sizes(), {to.get(), a.get()},
                 [f](char* const* data, const int64_t* strides, int64_t n) {
                   unary_loop<Out, T>(data, strides, n, f);
                 });
    to.finish();
  });
}

template <class Visit, class F>
void run_binary(Tensor& out, const Tensor& self, const Tensor& other, DType dtype,
                Visit visit, F f, Numbers numbers = Numbers::Rounded) {
  const auto kept = [&](bool number) { return number ? numbers : Numbers::Rounded; };
  const Operand a(out, self, dtype, kept(self.impl()->wrapped_number));
  const Operand b(out, other, dtype, kept(other.ndim() == 0));
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    using Out = decltype(f(T{}, T{}));
    Target to(out, dtype_of<Out>);
    strided_loop(out.sizes(), {to.get(), a.get(), b.get()},
                 [f](char* const* data, const int64_t* strides, int64_t n) {
                   binary_loop<Out, T>(data, strides, n, f);
                 });
    to.finish();
  });
}

template <class Visit, class F>
void run_ternary(Tensor& out, const Tensor& self, const Tensor& second,
                 const Tensor& third, DType dtype, Visit visit, F f,
                 Numbers numbers = Numbers::Kept) {
  const Operand a(out, self, dtype), b(out, second, dtype, numbers);
  const Operand c(out, third, dtype, numbers);
  visit(compute_type(dtype), [&]<class T>(TypeTag<T>) {
    Target to(out, dtype_of<T>);
    strided_loop(out.sizes(), {to.get(), a.get(), b.get(), c.get()},
                 [f](char* const* data, const int64_t* strides, int64_t n) {
                   ternary_loop<T>(data, strides, n, f);
                 });
    to.finish();
  });
}

inline constexpr auto kAnyType = [](DType dtype, auto&& f) {
  visit_compute("elementwise", dtype, f);
};
inline constexpr auto kNumberType = [](DType dtype, auto&& f) {
  visit_compute("arithmetic", dtype, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_same_v<T, bool>) detail::unsupported_dtype("arithmetic", DType::Bool);
    else f(tag);
  });
};
inline constexpr auto kFloatType = [](DType dtype, auto&& f) {
  visit_floating("elementwise", dtype, f);
};

/// Stanza of a floating function: integers are converted first.
template <class F>
OpBuilder unary_float(OpBuilder op, F) {
  op.pointwise().shape(float_shape).cpu([](Tensor& out, const Tensor& self) {
    run_unary(out, self, to_floating(self.dtype()), kFloatType, F{});
  }, kStrided);
  return op;
}
/// Stanza of a function of any type that keeps the type.
template <class F>
OpBuilder unary_any(OpBuilder op, F) {
  op.pointwise().shape(same_shape).cpu([](Tensor& out, const Tensor& self) {
    run_unary(out, self, self.dtype(), kAnyType, [](auto x) -> decltype(x) {
      return decltype(x)(F{}(x));
    });
  }, kStrided);
  return op;
}
/// Stanza of a predicate: bool result.
template <class F>
OpBuilder unary_bool(OpBuilder op, F) {
  op.pointwise().non_differentiable().shape(bool_shape).cpu(
      [](Tensor& out, const Tensor& self) {
        run_unary(out, self, self.dtype(), kAnyType,
                  [](auto x) -> bool { return F{}(x); });
      }, kStrided);
  return op;
}
/// Stanza of a function of two tensors of any common type: a product, or one for which
/// rounding its operands changes nothing.
template <class F>
OpBuilder binary_any(OpBuilder op, F) {
  op.pointwise()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("elementwise", a, b, result_type(a, b));
      })
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, result_type(a, b), kAnyType,
                   [](auto x, auto y) -> decltype(x) { return decltype(x)(F{}(x, y)); },
                   Numbers::Kept);
      }, kStrided);
  return op;
}
/// Stanza of a gradient in one pass: f(gradient, saved value), floating.  It is for the
/// case that nobody differentiates it, where the formula would be several passes; one
/// without a formula of its own refuses to be differentiated.
template <class F>
OpBuilder gradient_pass(OpBuilder op, F) {
  op.pointwise()
      .dtypes(op.record().schema.arguments[0].name, kFloatDTypes)
      .shape([](const Tensor& grad, const Tensor& saved) {
        check_gradient(grad, saved.sizes());
        return Spec{saved.sizes(), grad.dtype(), grad.device()};
      })
      .cpu([](Tensor& out, const Tensor& grad, const Tensor& saved) {
        run_binary(out, grad, saved, grad.dtype(), kFloatType,
                   [](auto g, auto x) -> decltype(g) { return F{}(g, x); });
      }, kStrided);
  return op;
}
/// Stanza of a comparison: bool result, no gradient.
template <class F>
OpBuilder binary_bool(OpBuilder op, F) {
  op.pointwise()
      .non_differentiable()
      .shape([](const Tensor& a, const Tensor& b) {
        return broadcast_spec("elementwise", a, b, DType::Bool);
      })
      .cpu([](Tensor& out, const Tensor& a, const Tensor& b) {
        run_binary(out, a, b, result_type(a, b), kAnyType,
                   [](auto x, auto y) -> bool { return F{}(x, y); });
      }, kStrided);
  return op;
}

}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/reduce/scan.cc: running sums, products and extremes along a dimension, and prod, whose
// gradient is made of running products.
//
// Gradients of products never divide: with zeros that would be 0 / 0.  They use
// y[i] = b[i] + a[i] * y[i - 1] (_linear_scan), whose own gradient is the same scan from
// the other end, so every order exists.
#include "ops/op.h"
#include "ops/reduce/sum_dtype.h"
#include "scheduler/hooks.h"

namespace pkg::ops {
namespace {

Spec scan_rule(const Tensor& self, int64_t dim, MaybeDType dtype) {
  wrap_dim("cumsum", dim, self.ndim());
  return {self.sizes(), sum_dtype("cumsum", self, dtype), self.device()};
}

// Moves x one place along dim (towards the end, or the start), `value` coming in.
Tensor shifted(const Tensor& x, int64_t dim, double value, bool towards_end) {
  if (x.ndim() == 0) return full_like(x, value);
  const int64_t n = x.size(dim);
  if (n == 0) return x;
  const Tensor rest = towards_end ? slice(x, dim, 0, n - 1, 1) : slice(x, dim, 1, n, 1);
  const Tensor edge = full_like(slice(x, dim, 0, 1, 1), value);
  return towards_end ? cat(TensorList{edge, rest}, dim) : cat(TensorList{rest, edge}, dim);
}
Tensor reversed(const Tensor& x, int64_t dim) { return flip(x, Shape{dim}); }

// Products of all elements before each one.
Tensor product_before(const Tensor& x, int64_t dim) {
  return shifted(cumprod(x, dim, MaybeDType()), dim, 1, true);
}

Tensor cumprod_gradient(const Tensor& g, const Tensor& self, int64_t dim,
                        const Tensor& result) {
  // tail[i] = grad[i] + x[i + 1] * tail[i + 1]
  const Tensor tail = linear_scan(to_dtype(self, g.dtype()), g, dim, true);
  return shifted(result, dim, 1, true) * tail;
}
TensorList linear_scan_gradient(const GradContext& g) {
  const Tensor &a = g.input(0), &y = g.result();
  const int64_t dim = g.arg<int64_t>(2);
  const bool reverse = g.arg<bool>(3);
  const Tensor tail = linear_scan(a, g.grad(), dim, !reverse);
  // Each factor multiplied the result of the place before, or went to it.
  const Tensor slope = reverse ? shifted(tail, dim, 0, true) * y
                               : tail * shifted(y, dim, 0, true);
  return {slope, tail};
}

// The product of the others, for each element: those before times those after.
Tensor prod_formula(const Tensor& given, const Tensor& grad, int64_t dim) {
  // In double: the product of a part may overflow where that of all does not.
  const Tensor x = to_dtype(given, DType::Float64);
  const Tensor after = reversed(product_before(reversed(x, dim), dim), dim);
  const Tensor slope = mul(mul(product_before(x, dim), after), to_dtype(grad, x.dtype()));
  return to_dtype(slope, grad.dtype());
}
Tensor prod_gradient(const Tensor& g, const Tensor& self, std::optional<int64_t> dim,
                     bool keepdim) {
  Tensor x = self, grad = g;
  if (!dim) {
    x = reshape(x, Shape{x.numel()});
    grad = reshape(grad, Shape{1});
  } else if (!keepdim && x.ndim() > 0) {
    grad = unsqueeze(grad, wrap_dim("prod", *dim, x.ndim()));
  }
  const int64_t d = dim.value_or(0);
  const Tensor slope = grad_enabled() ? prod_formula(x, grad, d)
                                      : prod_backward(grad, x, d);
  return reshape(slope, self.sizes());
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("cumsum(Tensor self, int dim, *, DType? dtype=None) -> Tensor")
      .doc("Sum of all elements up to each one along dim; integers become int64.")
      .shape(scan_rule)
      .derivative("self", "dim", reverse_cumsum);
  m.def("_reverse_cumsum(Tensor self, int dim) -> Tensor")
      .doc("Sum of all elements from each one on along dim, in the dtype of self.")
      .dtypes(kFloatDTypes)
      .shape([](const Tensor& self, int64_t dim) {
        wrap_dim("_reverse_cumsum", dim, self.ndim());
        return self.spec();
      })
      .derivative("self", "dim", [](const Tensor& g, int64_t dim) {
        return cumsum(g, dim, MaybeDType());
      });
  m.def("cumprod(Tensor self, int dim, *, DType? dtype=None) -> Tensor")
      .doc("Product of all elements up to each one along dim; integers become int64.")
      .shape(scan_rule)
      .derivative("self", "self dim result", cumprod_gradient);
  m.def("_linear_scan(Tensor a, Tensor b, int dim, bool reverse=False) -> Tensor")
      .doc("y[i] = b[i] + a[i] * y[i - 1] along dim, y[-1] being zero; in reverse "
           "y[i] = b[i] + a[i + 1] * y[i + 1].")
      .dtypes(kFloatDTypes)
      .shape([](const Tensor& a, const Tensor& b, int64_t dim, bool) {
        PKG_CHECK(a.sizes() == b.sizes() && a.dtype() == b.dtype(), RuntimeError,
                  "[_linear_scan] expected a and b alike, got ", a.sizes(), " of ",
                  a.dtype(), " and ", b.sizes(), " of ", b.dtype(), ".");
        wrap_dim("_linear_scan", dim, a.ndim());
        return a.spec();
      })
      .grad("a result", linear_scan_gradient);
  m.def("prod(Tensor self, int? dim=None, bool keepdim=False, *, DType? dtype=None) "
        "-> Tensor")
      .doc("Product over dim (all by default); integers are multiplied in int64.")
      .shape([](const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                MaybeDType dtype) {
        Spec spec{{}, sum_dtype("prod", self, dtype), self.device()};
        if (!dim) {
          if (keepdim) spec.sizes = Shape(size_t(self.ndim()), 1);
          return spec;
        }
        const int64_t d = wrap_dim("prod", *dim, self.ndim());
        spec.sizes = self.sizes();
        if (self.ndim() > 0) {
          if (keepdim) spec.sizes[size_t(d)] = 1;
          else spec.sizes.erase(size_t(d));
        }
        return spec;
      })
      .derivative("self", "self dim keepdim", prod_gradient);
  m.def("_prod_backward(Tensor grad, Tensor self, int dim) -> Tensor")
      .doc("grad times the product of all others along dim, for each element.")
      .keeps_order()
      .dtypes("grad", kFloatDTypes)
      .shape([](const Tensor& grad, const Tensor& self, int64_t dim) {
        Shape sizes = self.sizes();
        if (self.ndim() > 0)
          sizes[size_t(wrap_dim("_prod_backward", dim, self.ndim()))] = 1;
        check_gradient(grad, sizes);
        return Spec{self.sizes(), grad.dtype(), self.device()};
      });
  for (const char* name : {"cummax", "cummin"}) {
    m.def(str(name, "(Tensor self, int dim) -> (Tensor values, Tensor indices)"))
        .doc("Extreme value so far along dim and where it stands, the latest of equals; "
             "NaN stays.")
        .shape([](const Tensor& self, int64_t dim) {
          wrap_dim("cummax", dim, self.ndim());
          return std::array<Spec, 2>{self.spec(),
                                     Spec{self.sizes(), DType::Int64, self.device()}};
        })
        .derivative("self", "dim result1",
                    [](const Tensor& g, int64_t dim, const Tensor& indices) {
                      return scatter_add(full_like(g, 0), dim, indices, g);
                    });
  }
  m.def("diff(Tensor self, int n=1, int dim=-1) -> Tensor")
      .doc("n-th difference of neighbours along dim; of bools, whether they differ.")
      .composite([](const Tensor& self, int64_t n, int64_t dim) {
        PKG_CHECK(n >= 0, RuntimeError, "[diff] expected order n >= 0, got ", n, ".");
        PKG_CHECK(self.ndim() > 0, RuntimeError,
                  "[diff] expected at least one dimension, got a 0-d tensor.");
        const auto differ = [](const Tensor& a, const Tensor& b) {
          return a.dtype() == DType::Bool ? ne(a, b) : sub(a, b);
        };
        Tensor x = self;
        // Each difference is one shorter.
        const int64_t left = std::max<int64_t>(self.size(dim) - n, 0);
        if (n > 0 && (left == 0 || self.numel() == 0)) {  // nothing is left, in one step
          x = slice(x, dim, 0, left, 1);
          return differ(x, x);
        }
        for (int64_t i = 0; i < n; ++i) {
          if (i % 64 == 63) check_interrupt();
          const int64_t size = x.size(dim);
          x = differ(slice(x, dim, 1, size, 1), slice(x, dim, 0, size - 1, 1));
        }
        return x;
      });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/linalg/linalg.cc: matrix products: mm, bmm and linear have kernels, matmul chooses.
#include "ops/op.h"
#include "ops/product_cost.h"

namespace pkg::ops {
namespace {

void check_product(const Tensor& a, const Tensor& b, bool fits) {
  PKG_CHECK(fits, RuntimeError, "[mm] mat1 and mat2 shapes cannot be multiplied (",
            a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
  PKG_CHECK(a.dtype() == b.dtype(), RuntimeError,
            "[mm] expected mat1 and mat2 to have the "
            "same dtype, but got: ",
            a.dtype(), " != ", b.dtype());
}
double product_cost(const Value* args, const Spec* specs) {
  const double inner = double(std::get<Tensor>(args[0]).size(-1));
  return double(specs[0].sizes.numel()) * inner / products_per_nanosecond(specs[0].dtype);
}

Spec mm_rule(const Tensor& a, const Tensor& b) {
  PKG_CHECK(a.ndim() == 2 && b.ndim() == 2, RuntimeError,
            "[mm] expected two matrices, got shapes ", a.sizes(), " and ", b.sizes());
  check_product(a, b, a.size(1) == b.size(0));
  return {Shape{a.size(0), b.size(1)}, a.dtype(), a.device()};
}

Spec bmm_rule(const Tensor& a, const Tensor& b) {
  PKG_CHECK(a.ndim() == 3 && b.ndim() == 3, RuntimeError,
            "[bmm] expected 3-d tensors, got shapes ", a.sizes(), " and ", b.sizes());
  check_product(a, b, a.size(0) == b.size(0) && a.size(2) == b.size(1));
  return {Shape{a.size(0), a.size(1), b.size(2)}, a.dtype(), a.device()};
}

// Leading dimensions of x flattened into one.
Tensor as_batch(const Tensor& x, const Shape& batch) {
  Shape sizes = batch;
  const int64_t rows = x.size(-2), columns = x.size(-1);
  sizes.push_back(rows);
  sizes.push_back(columns);
  return reshape(expand(x, sizes), Shape{batch.numel(), rows, columns});
}

Tensor matmul_fn(const Tensor& a, const Tensor& b) {
  PKG_CHECK(a.ndim() > 0 && b.ndim() > 0, RuntimeError,
            "[matmul] both arguments to matmul need to "
            "be at least 1D, but they are ",
            a.ndim(), "D and ", b.ndim(), "D");
  if (a.ndim() == 1 || b.ndim() == 1) {  // a missing dimension of size 1, dropped again
    const Tensor x = a.ndim() == 1 ? unsqueeze(a, 0) : a;
    const Tensor y = b.ndim() == 1 ? unsqueeze(b, 1) : b;
    const Tensor product = matmul_fn(x, y);
    Shape sizes = product.sizes();
    if (b.ndim() == 1) sizes.erase(sizes.size() - 1);
    if (a.ndim() == 1) sizes.erase(sizes.size() - (b.ndim() == 1 ? 1 : 2));
    return reshape(product, sizes);
  }
  const Shape &sa = a.sizes(), &sb = b.sizes();
  if (b.ndim() == 2) {
    if (a.ndim() == 2) return mm(a, b);
    if (a.is_contiguous() && a.numel() > 0) {  // one product over all rows of a
      Shape sizes = sa;
      sizes.back() = sb.back();
      return reshape(mm(reshape(a, Shape{-1, sa.back()}), b), sizes);
    }
  }
  const Shape batch = broadcast_shapes("matmul", Shape(sa.data(), sa.size() - 2),
                                       Shape(sb.data(), sb.size() - 2));
  const Tensor product = bmm(as_batch(a, batch), as_batch(b, batch));
  Shape sizes = batch;
  sizes.push_back(sa[sa.size() - 2]);
  sizes.push_back(sb.back());
  return reshape(product, sizes);
}

Spec linear_rule(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  PKG_CHECK(input.ndim() > 0 && (weight.ndim() == 1 || weight.ndim() == 2) &&
                input.size(-1) == weight.size(-1),
            RuntimeError,
            "[linear] mat1 and mat2 shapes cannot be multiplied: expected "
            "input (..., in) and weight (out, in) or (in,), got ",
            input.sizes(), " and ", weight.sizes());
  PKG_CHECK(input.dtype() == weight.dtype(), RuntimeError,
            "[linear] expected mat1 and mat2 to "
            "have the same dtype, but got: ",
            input.dtype(), " != ", weight.dtype());
  Shape sizes = input.sizes();
  if (weight.ndim() == 1) sizes.erase(sizes.size() - 1);
  else sizes.back() = weight.size(0);
  const bool fits = !bias.defined() || bias.numel() == 1 ||
                    (weight.ndim() == 2 && bias.sizes() == Shape{weight.size(0)});
  PKG_CHECK(fits && (!bias.defined() || bias.ndim() <= 1), RuntimeError,
            "[linear] expected bias (out,) for weight ", weight.sizes(), ", got ",
            bias.sizes());
  PKG_CHECK(!bias.defined() || bias.dtype() == input.dtype(), RuntimeError,
            "[linear] expected a bias of dtype ", input.dtype(), ", got ", bias.dtype());
  return {sizes, input.dtype(), input.device()};
}

// A gradient of linear() as the product of matrices that it is: those of the input's rows
// and of the weight's.
struct LinearRows {
  int64_t rows = 1, in, out;
  // From the sizes: a gradient of no columns has no number of rows of its own.
  LinearRows(const Shape& input, const Shape& weight)
      : in(input.back()), out(weight.size() == 2 ? weight[0] : 1) {
    for (size_t d = 0; d + 1 < input.size(); ++d) rows *= input[d];
  }
};
Tensor shaped(const Tensor& t, const Shape& sizes) {
  return t.sizes() == sizes ? t : reshape(t, sizes);
}
Tensor linear_input_gradient(const Tensor& g, const Tensor& weight, const Shape& input) {
  const LinearRows n(input, weight.sizes());
  return shaped(mm(shaped(g, {n.rows, n.out}), shaped(weight, {n.out, n.in})), input);
}
Tensor linear_weight_gradient(const Tensor& g, const Tensor& input, const Shape& weight) {
  const LinearRows n(input.sizes(), weight);
  const Tensor columns = transpose(shaped(g, {n.rows, n.out}), 0, 1);
  return shaped(mm(columns, shaped(input, {n.rows, n.in})), weight);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("bmm(Tensor self, Tensor mat2) -> Tensor")
      .doc("Matrix products of a batch: (b, n, k) times (b, k, m).")
      .dtypes(kNumberDTypes)
      .shape(bmm_rule)
      .cost(product_cost)
      .derivative("self", "mat2",
                  [](auto& g, auto& b) { return bmm(g, transpose(b, 1, 2)); })
      .derivative("mat2", "self",
                  [](auto& g, auto& a) { return bmm(transpose(a, 1, 2), g); });
  m.def("matmul(Tensor self, Tensor other) -> Tensor")
      .doc("Matrix product; 1-d operands are vectors, leading dimensions broadcast.")
      .composite(matmul_fn);
  m.def("mm(Tensor self, Tensor mat2) -> Tensor")
      .doc("Product of two matrices: (n, k) times (k, m).")
      .dtypes(kNumberDTypes)
      .shape(mm_rule)
      .cost(product_cost)
      .derivative("self", "mat2",
                  [](auto& g, auto& b) { return mm(g, transpose(b, 0, 1)); })
      .derivative("mat2", "self",
                  [](auto& g, auto& a) { return mm(transpose(a, 0, 1), g); });
  m.def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
      .doc("input @ weight.T + bias: input (..., in), weight (out, in) or (in,), bias "
           "(out,).")
      .dtypes(kNumberDTypes)
      .shape(linear_rule)
      .cost(product_cost)
      .derivative("input", "weight input.shape", linear_input_gradient)
      .derivative("weight", "input weight.shape", linear_weight_gradient)
      .derivative("bias", "bias.shape", sum_to);
}

}  // namespace
}  // namespace pkg::ops

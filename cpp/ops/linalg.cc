// SPDX-License-Identifier: Apache-2.0
// ops/linalg.cc: matrix products: bmm is the op, matmul and linear are written with it.
#include "ops/elementwise.h"

namespace pkg::ops {
namespace {

const BinaryOp bmm{"bmm"};
const BinaryOp matmul_op{"matmul"};

Spec bmm_rule(const Tensor& a, const Tensor& b) {
  PKG_CHECK(a.ndim() == 3 && b.ndim() == 3, RuntimeError,
            "[bmm] expected 3-d tensors, got shapes ", a.sizes(), " and ", b.sizes());
  PKG_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1), RuntimeError,
            "mat1 and mat2 shapes cannot be multiplied (", a.size(1), "x", a.size(2),
            " and ", b.size(1), "x", b.size(2), ")");
  PKG_CHECK(a.dtype() == b.dtype(), RuntimeError, "expected mat1 and mat2 to have the "
            "same dtype, but got: ", a.dtype(), " != ", b.dtype());
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

Tensor matmul(const Tensor& a, const Tensor& b) {
  PKG_CHECK(a.ndim() > 0 && b.ndim() > 0, RuntimeError, "both arguments to matmul need to "
            "be at least 1D, but they are ", a.ndim(), "D and ", b.ndim(), "D");
  if (a.ndim() == 1 || b.ndim() == 1) {  // a missing dimension of size 1, dropped again
    const Tensor x = a.ndim() == 1 ? unsqueeze(a, 0) : a;
    const Tensor y = b.ndim() == 1 ? unsqueeze(b, 1) : b;
    const Tensor product = matmul(x, y);
    Shape sizes = product.sizes();
    if (b.ndim() == 1) sizes.erase(sizes.size() - 1);
    if (a.ndim() == 1) sizes.erase(sizes.size() - (b.ndim() == 1 ? 1 : 2));
    return reshape(product, sizes);
  }
  const Shape &sa = a.sizes(), &sb = b.sizes();
  if (b.ndim() == 2 && a.is_contiguous()) {  // one product over all rows of a
    const Tensor rows = reshape(a, Shape{1, a.numel() / std::max<int64_t>(1, sa.back()),
                                         sa.back()});
    if (a.numel() > 0) {
      Shape sizes = sa;
      sizes.back() = sb.back();
      return reshape(bmm(rows, unsqueeze(b, 0)), sizes);
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

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("bmm(Tensor self, Tensor mat2) -> Tensor")
      .doc("Matrix products of a batch: (b, n, k) times (b, k, m).")
      .shape(bmm_rule)
      .cost([](const Value* args, const Spec* specs) {
        const int64_t k = std::get<Tensor>(args[0]).size(2);
        return double(specs[0].sizes.numel()) * double(k) / 25.0;
      })
      .grad("self?mat2 mat2?self", [](const GradContext& g) -> TensorList {
        Tensor a, b;
        if (g.needs(0)) a = bmm(g.grad(), transpose(g.input(1), 1, 2));
        if (g.needs(1)) b = bmm(transpose(g.input(0), 1, 2), g.grad());
        return {a, b};
      });
  m.def("matmul(Tensor self, Tensor other) -> Tensor")
      .doc("Matrix product; 1-d operands are vectors, leading dimensions broadcast.")
      .composite(matmul);
  m.def("mm(Tensor self, Tensor mat2) -> Tensor")
      .doc("Product of two matrices.")
      .composite([](const Tensor& a, const Tensor& b) {
        PKG_CHECK(a.ndim() == 2 && b.ndim() == 2, RuntimeError,
                  "[mm] expected two matrices, got shapes ", a.sizes(), " and ", b.sizes());
        return matmul(a, b);
      });
  m.def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
      .doc("input @ weight.T + bias, weight of shape (out_features, in_features).")
      .composite([](const Tensor& input, const Tensor& weight, const Tensor& bias) {
        const Tensor product = matmul(input, transpose(weight, 0, -1));
        return bias.defined() ? add(product, bias) : product;
      });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/linalg/products.cc: named products of vectors and matrices, written with matmul and bmm.
#include "base/number_fits.h"
#include "ops/op.h"

namespace pkg::ops {
namespace {

void check_ndim(const char* op, const char* name, const Tensor& t, int64_t ndim) {
  PKG_CHECK(t.ndim() == ndim, RuntimeError, "[", op, "] expected ", name, " to have ", ndim,
            " dimension(s), got shape ", t.sizes());
}
void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  PKG_CHECK(a.dtype() == b.dtype(), RuntimeError, "[", op,
            "] expected both operands to "
            "have the same dtype, but got ",
            a.dtype(), " and ", b.dtype());
}

Tensor dot(const Tensor& a, const Tensor& b) {
  check_ndim("dot", "self", a, 1);
  check_ndim("dot", "tensor", b, 1);
  check_same_dtype("dot", a, b);
  PKG_CHECK(a.size(0) == b.size(0), RuntimeError,
            "[dot] inconsistent tensor size, expected "
            "tensors to have the same number of elements, but got ",
            a.size(0), " and ", b.size(0), " elements respectively");
  return matmul(a, b);
}

// beta * self + alpha * product, of factors that were checked.  beta = 0 ignores self, NaN
// and all; of integers beta and alpha lose their fraction.
struct Blend {
  Scalar beta, alpha;

  Blend(const char* op, const Scalar& b, const Scalar& a, DType dtype)
      : beta(factor(op, b, dtype, "beta")), alpha(factor(op, a, dtype, "alpha")) {}

  static Scalar factor(const char* op, const Scalar& given, DType dtype, const char* name) {
    check_factor(op, given, dtype, name);
    return is_floating(dtype) || !given.is_float() ? given : Scalar(given.to<int64_t>());
  }
  static void check(const char* op, const Tensor& self, const Shape& product) {
    PKG_CHECK(broadcast_shapes(op, self.sizes(), product) == product, RuntimeError, "[", op,
              "] self of shape ", self.sizes(),
              " cannot be expanded to the product's shape ", product);
  }
  // beta * self + term.
  Tensor with_term(const Tensor& self, const Tensor& term) const {
    if (beta.to<double>() == 0) return term;
    return add(beta == Scalar(1) ? self : mul(self, Tensor(beta)), term);
  }
  Tensor operator()(const Tensor& self, const Tensor& product) const {
    return with_term(self, alpha == Scalar(1) ? product : mul(product, Tensor(alpha)));
  }
};
Tensor blend(const char* op, const Tensor& self, const Tensor& product, const Scalar& beta,
             const Scalar& alpha) {
  const Blend of(op, beta, alpha, product.dtype());
  Blend::check(op, self, product.sizes());
  return of(self, product);
}

// By addcmul of a column and a row, in one pass; a product alone, and bools, by outer.
Tensor addr(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
            const Scalar& alpha) {
  check_ndim("addr", "vec1", a, 1);
  check_ndim("addr", "vec2", b, 1);
  const DType dtype = result_type({&self, &a, &b});
  const auto number = [&](const Scalar& given, const char* name) {
    PKG_CHECK(is_floating(dtype) || !given.is_float(), RuntimeError,
              "[addr] For integral input tensors, ", name,
              " must not be floating point, got ", given, ".");
    PKG_CHECK(dtype == DType::Bool || given.kind() != Scalar::Kind::Bool, RuntimeError,
              "[addr] Boolean ", name, " only supported for Boolean results, got ", given,
              ".");
  };
  number(beta, "beta");
  number(alpha, "alpha");
  const Blend of("addr", beta, alpha, dtype);
  Blend::check("addr", self, Shape{a.size(0), b.size(0)});
  if (dtype != DType::Bool && beta.to<double>() != 0) {
    const Tensor base = of.beta == Scalar(1) ? self : to_dtype(self, dtype) * of.beta;
    return addcmul(base, unsqueeze(a, 1), unsqueeze(b, 0), of.alpha);
  }
  const Tensor first = to_dtype(a, dtype);
  const Tensor scaled = of.alpha == Scalar(1) ? first : mul(first, Tensor(of.alpha));
  return of.with_term(self, outer(scaled, to_dtype(b, dtype)));
}

// The sum of bmm(a, b) over the batch, as one product of longer sums.
Tensor sum_of_products(const Tensor& a, const Tensor& b) {
  check_ndim("addbmm", "batch1", a, 3);
  check_ndim("addbmm", "batch2", b, 3);
  const int64_t batches = a.size(0), rows = a.size(1), inner = a.size(2);
  PKG_CHECK(b.size(0) == batches && b.size(1) == inner, RuntimeError,
            "[addbmm] expected batch2 to have ", batches, " matrices of ", inner,
            " rows, as batch1 has shape ", a.sizes(), ", got shape ", b.sizes());
  PKG_CHECK(a.dtype() == b.dtype(), RuntimeError,
            "[addbmm] expected batch1 and batch2 to have the same dtype, but got ",
            a.dtype(), " and ", b.dtype());
  const int64_t terms = Checked(batches) * inner, columns = b.size(2);
  const Tensor left = reshape(permute(a, Shape{1, 0, 2}), Shape{rows, terms});
  // Where columns of the second lie dense its rows are taken as columns.
  if (b.strides()[1] == 1 && b.strides()[2] != 1) {
    const Tensor turned = reshape(permute(b, Shape{2, 0, 1}), Shape{columns, terms});
    return mm(left, transpose(turned, 0, 1));
  }
  return mm(left, reshape(b, Shape{terms, columns}));
}

// Contracts dims_a[i] of a with dims_b[i] of b, as one matrix product.
Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& dims_a,
                 const Shape& dims_b) {
  PKG_CHECK(dims_a.size() == dims_b.size(), RuntimeError,
            "[tensordot] both dimension lists should have same length, got ", dims_a,
            " and ", dims_b);
  const Shape da = dims_a.empty() ? Shape() : wrap_dims("tensordot", dims_a, a.ndim());
  const Shape db = dims_b.empty() ? Shape() : wrap_dims("tensordot", dims_b, b.ndim());
  int64_t contracted = 1;
  Shape last, first, sizes;
  for (size_t i = 0; i < da.size(); ++i) {
    PKG_CHECK(a.size(da[i]) == b.size(db[i]), RuntimeError,
              "[tensordot] contracted "
              "dimensions need to match, but first has size ",
              a.size(da[i]), " in dim ", da[i], " and second has size ", b.size(db[i]),
              " in dim ", db[i]);
    contracted *= a.size(da[i]);
    last.push_back(int64_t(i) - int64_t(da.size()));
    first.push_back(int64_t(i));
  }
  const auto rest = [&](const Tensor& t, const Shape& gone) {
    int64_t count = 1;
    for (int64_t d = 0; d < t.ndim(); ++d) {
      if (std::find(gone.begin(), gone.end(), d) != gone.end()) continue;
      sizes.push_back(t.size(d));
      count *= t.size(d);
    }
    return count;
  };
  const int64_t rows = rest(a, da), columns = rest(b, db);
  const Tensor left = reshape(movedim(a, da, last), Shape{rows, contracted});
  const Tensor right = reshape(movedim(b, db, first), Shape{contracted, columns});
  return reshape(matmul(left, right), sizes);
}

Tensor outer_gradient(const Tensor& grad, const Tensor& other, DType type) {
  return to_dtype(mv(grad, to_dtype(other, grad.dtype())), type);
}

// Of (..., m, n) and (..., p, q): the elements of a's rows as often as b's are long, times
// b's rows as often as a's are, so that rows of n * q are multiplied.
Tensor kron(const Tensor& a, const Tensor& b) {
  const size_t n = size_t(std::max(a.ndim(), b.ndim()));
  if (n == 0) return mul(a, b);
  const auto size = [&](const Tensor& t, size_t d) {
    const size_t missing = n - size_t(t.ndim());
    return d < missing ? 1 : t.sizes()[d - missing];
  };
  Shape left, right, joined;
  for (size_t d = 0; d + 1 < n; ++d) {
    left.push_back(size(a, d));
    left.push_back(1);
    right.push_back(1);
    right.push_back(size(b, d));
    joined.push_back(Checked(size(a, d)) * size(b, d));
  }
  const int64_t columns = size(a, n - 1), repeats = size(b, n - 1);
  const int64_t row = Checked(columns) * repeats;
  joined.push_back(row);
  const auto rows = [&](const Tensor& t, Shape sizes, int64_t outer, int64_t inner) {
    sizes.push_back(outer);
    sizes.push_back(inner);
    const Tensor narrow = reshape(t, sizes);
    sizes.resize(sizes.size() - 2);
    Shape wide = sizes;
    wide.push_back(columns);
    wide.push_back(repeats);
    sizes.push_back(row);
    return reshape(expand(narrow, wide), sizes);
  };
  return reshape(mul(rows(a, left, columns, 1), rows(b, right, 1, repeats)), joined);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  for (const char* name : {"outer", "ger"}) {
    m.def(str(name, "(Tensor self, Tensor vec2) -> Tensor"))
        .doc("self[i] * vec2[j] of two vectors.")
        .shape([](const Tensor& a, const Tensor& b) {
          check_ndim("outer", "self", a, 1);
          check_ndim("outer", "vec2", b, 1);
          return Spec{Shape{a.size(0), b.size(0)}, result_type(a, b), a.device()};
        })
        .derivative("self", "vec2 self.dtype", outer_gradient)
        .derivative("vec2", "self vec2.dtype",
                    [](const Tensor& g, const Tensor& self, DType type) {
                      return outer_gradient(transpose(g, 0, 1), self, type);
                    });
  }
  m.def("dot(Tensor self, Tensor tensor) -> Tensor")
      .doc("Sum of the products of two vectors.")
      .composite(dot);
  m.def("vdot(Tensor self, Tensor other) -> Tensor")
      .doc("dot by another name, as there are no complex numbers.")
      .composite(dot);
  m.def("inner(Tensor self, Tensor other) -> Tensor")
      .doc("Products summed over the last dimension of both; with a 0-d tensor, mul.")
      .composite([](const Tensor& a, const Tensor& b) {
        if (a.ndim() == 0 || b.ndim() == 0) return mul(a, b);
        const bool vectors = a.ndim() == 1 && b.ndim() == 1;
        if (vectors && a.size(0) == b.size(0) && a.dtype() == b.dtype()) {
          return matmul(a, b);
        }
        return tensordot(a, b, Shape{-1}, Shape{-1});
      });
  m.def("mv(Tensor self, Tensor vec) -> Tensor")
      .doc("Matrix times vector.")
      .composite([](const Tensor& a, const Tensor& v) {
        check_ndim("mv", "self", a, 2);
        check_ndim("mv", "vec", v, 1);
        return matmul(a, v);
      });
  m.def("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
        "-> Tensor")
      .doc("beta * self + alpha * mat1 @ mat2.")
      .composite([](const Tensor& self, const Tensor& a, const Tensor& b,
                    const Scalar& beta, const Scalar& alpha) {
        check_ndim("addmm", "mat1", a, 2);
        check_ndim("addmm", "mat2", b, 2);
        return blend("addmm", self, matmul(a, b), beta, alpha);
      });
  m.def("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) "
        "-> Tensor")
      .doc("beta * self + alpha * mat @ vec.")
      .composite(
          [](const Tensor& self, const Tensor& a, const Tensor& v, const Scalar& beta,
             const Scalar& alpha) { return blend("addmv", self, mv(a, v), beta, alpha); });
  m.def("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) "
        "-> Tensor")
      .doc("beta * self + alpha * outer(vec1, vec2).")
      .composite(addr);
  m.def("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
        "Scalar alpha=1) -> Tensor")
      .doc("beta * self + alpha * bmm(batch1, batch2).")
      .composite([](const Tensor& self, const Tensor& a, const Tensor& b,
                    const Scalar& beta, const Scalar& alpha) {
        return blend("baddbmm", self, bmm(a, b), beta, alpha);
      });
  m.def("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
        "Scalar alpha=1) -> Tensor")
      .doc("beta * self + alpha * the sum of bmm(batch1, batch2) over the batch.")
      .composite([](const Tensor& self, const Tensor& a, const Tensor& b,
                    const Scalar& beta, const Scalar& alpha) {
        return blend("addbmm", self, sum_of_products(a, b), beta, alpha);
      });
  m.def("tensordot(Tensor self, Tensor other, int dims=2) -> Tensor")
      .doc("Contracts the last dims dimensions of self with the first of other.")
      .composite([](const Tensor& a, const Tensor& b, int64_t dims) {
        PKG_CHECK(dims >= 0 && dims <= std::min(a.ndim(), b.ndim()), RuntimeError,
                  "[tensordot] expected dims to be between 0 and the number of dimensions, "
                  "got ",
                  dims);
        Shape from, to;
        for (int64_t d = 0; d < dims; ++d) {
          from.push_back(a.ndim() - dims + d);
          to.push_back(d);
        }
        return tensordot(a, b, from, to);
      });
  m.def("tensordot.dims(Tensor self, Tensor other, int[] dims_self, int[] dims_other) "
        "-> Tensor")
      .doc("Contracts dims_self[i] of self with dims_other[i] of other.")
      .composite(tensordot);
  m.def("kron(Tensor self, Tensor other) -> Tensor")
      .doc("Kronecker product: other scaled by every element of self.")
      .composite(kron);
}

}  // namespace
}  // namespace pkg::ops

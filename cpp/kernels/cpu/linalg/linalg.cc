// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/linalg.cc: matrix products, batched or not.  A transposed operand is passed to
// BLAS as such; only other layouts are copied.
#include "base/checked.h"
#include "dispatcher/library.h"
#include "kernels/cpu/linalg/blas.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/strided_loop.h"

namespace pkg {
namespace {

// Matrices of a batch as BLAS takes them; `tensor` may be a copy.
struct Matrices {
  Tensor tensor;
  bool transposed;
  int64_t leading;  // elements from one row (one column if transposed) to the next
  int64_t step;     // elements from one matrix to the next
};

// The last two dimensions; a third one is the batch.
Matrices as_matrices(const Tensor& t) {
  const size_t last = t.sizes().size() - 1;
  const int64_t rows = t.sizes()[last - 1], columns = t.sizes()[last];
  const int64_t rs = t.strides()[last - 1], cs = t.strides()[last];
  const int64_t least_rows = std::max<int64_t>(1, rows);
  const int64_t least_columns = std::max<int64_t>(1, columns);
  const int64_t step = last == 2 ? t.strides()[0] : 0;
  if (cs == 1 && (rs >= least_columns || rows == 1)) {
    return {t, false, rows == 1 ? least_columns : rs, step};
  }
  if (rs == 1 && (cs >= least_rows || columns == 1)) {
    return {t, true, columns == 1 ? least_rows : cs, step};
  }
  return {as_contiguous(t), false, least_columns, rows * columns};
}

// All leading dimensions as the rows of one matrix.
Matrices as_rows(const Tensor& t) {
  if (t.ndim() == 2) return as_matrices(t);
  return {as_contiguous(t), false, std::max<int64_t>(1, t.sizes().back()), 0};
}

struct Product {
  int64_t batches, m, n, k;
};

// Integer products have no BLAS; the i-l-j order writes rows.
template <class T>
void plain_product(const Product& p, const Matrices& a, const Matrices& b, const T* x,
                   const T* y, T* to) {
  const int64_t xr = a.transposed ? 1 : a.leading, xc = a.transposed ? a.leading : 1;
  const int64_t yr = b.transposed ? 1 : b.leading, yc = b.transposed ? b.leading : 1;
  with_isa([=] {
    StopCounter stop;
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t l = 0; l < p.k; ++l) {
        stop(p.n);
        const T factor = x[i * xr + l * xc];
        for (int64_t j = 0; j < p.n; ++j) {
          T& sum = to[i * p.n + j];
          sum = T(wraps(sum) + wraps(factor) * wraps(y[l * yr + j * yc]));
        }
      }
    }
  });
}

// to = a @ b of each batch, or to += a @ b.
template <class T>
void multiply(const Product& p, const Matrices& a, const Matrices& b, T* to, bool add) {
  if (p.batches * p.m * p.n == 0) return;
  const T *xs = a.tensor.data<T>(), *ys = b.tensor.data<T>();
  if (!add && (p.k == 0 || !std::is_floating_point_v<T>)) {
    std::fill_n(to, p.batches * p.m * p.n, T(0));
  }
  if (p.k == 0) return;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T *x = xs + i * a.step, *y = ys + i * b.step;
      T* out = to + i * p.m * p.n;
      if constexpr (std::is_floating_point_v<T>) {
        blas::gemm(a.transposed, b.transposed, p.m, p.n, p.k, x, a.leading, y, b.leading,
                   out, p.n, T(add ? 1 : 0));
      } else {
        plain_product(p, a, b, x, y, out);
      }
    }
  };
  // Small products are shared out whole; gemm itself cuts a large one.
  const double work = double(p.m) * double(p.n) * double(p.k);
  if (p.batches == 1 || work > 2e6) return run(0, p.batches);
  parallel_for(0, p.batches, int64_t(std::max(1.0, 1e5 / work)), run);
}

// Runs f<T>(to) for the type computed in: 16-bit floats go through float32.
template <class F>
void computed(Tensor& out, F f) {
  if (is_reduced(out.dtype())) {
    Tensor wide = empty(out.sizes(), DType::Float32);
    f(TypeTag<float>{}, wide);
    return copy_into(out, wide);
  }
  visit_compute("matmul", out.dtype(), [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_same_v<T, bool>) detail::unsupported_dtype("matmul", DType::Bool);
    else f(tag, out);
  });
}

void bmm_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  computed(out, [&]<class T>(TypeTag<T>, Tensor& to) {
    multiply({a.sizes()[0], a.sizes()[1], b.sizes()[2], a.sizes()[2]},
             as_matrices(as_dtype(a, to.dtype())), as_matrices(as_dtype(b, to.dtype())),
             to.data<T>(), false);
  });
}

void mm_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  computed(out, [&]<class T>(TypeTag<T>, Tensor& to) {
    multiply({1, a.sizes()[0], b.sizes()[1], a.sizes()[1]},
             as_matrices(as_dtype(a, to.dtype())), as_matrices(as_dtype(b, to.dtype())),
             to.data<T>(), false);
  });
}

void linear_kernel(Tensor& out, const Tensor& input, const Tensor& weight,
                   const Tensor& bias) {
  const int64_t n = weight.ndim() == 2 ? weight.sizes()[0] : 1;
  const int64_t m = n ? out.numel() / n : 0;
  computed(out, [&]<class T>(TypeTag<T>, Tensor& to) {
    if (bias.defined()) {  // the product is added to rows of biases
      const Tensor dense = as_contiguous(as_dtype(bias, to.dtype()));
      const T* b = dense.data<T>();
      T* y = to.data<T>();
      if (bias.numel() != n) std::fill_n(y, m * n, b[0]);
      else for (int64_t i = 0; i < m; ++i) std::copy_n(b, n, y + i * n);
    }
    Matrices w = as_rows(as_dtype(weight, to.dtype()));
    w.transposed = !w.transposed;
    multiply({1, m, n, input.sizes().back()}, as_rows(as_dtype(input, to.dtype())), w,
             to.data<T>(), bias.defined());
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("mm", mm_kernel);
  m.impl("bmm", bmm_kernel);
  m.impl("linear", linear_kernel);
}

}  // namespace
}  // namespace pkg

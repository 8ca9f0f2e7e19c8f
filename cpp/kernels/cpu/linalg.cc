// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg.cc: batched matrix products.  A transposed operand is passed to
// BLAS as such; only other layouts are copied.
#include "dispatcher/library.h"
#include "kernels/cpu/blas.h"
#include "tensor/strided_loop.h"

namespace pkg {
namespace {

struct Matrix {
  Tensor tensor;      // of the batch
  bool transposed;
  int64_t row_stride;  // leading dimension
};

Matrix as_matrix(const Tensor& t) {
  const int64_t rows = t.sizes()[1], columns = t.sizes()[2];
  const int64_t rs = t.strides()[1], cs = t.strides()[2];
  if (cs == 1 && (rs >= std::max<int64_t>(1, columns) || rows == 1)) {
    return {t, false, std::max<int64_t>(rs, std::max<int64_t>(1, columns))};
  }
  if (rs == 1 && (cs >= std::max<int64_t>(1, rows) || columns == 1)) {
    return {t, true, std::max<int64_t>(cs, std::max<int64_t>(1, rows))};
  }
  return {as_contiguous(t), false, std::max<int64_t>(1, columns)};
}

// Integer products have no BLAS; the i-k-j order reads both operands in rows.
template <class T>
void plain_product(const Tensor& a, const Tensor& b, Tensor& out) {
  const Tensor x = as_contiguous(a), y = as_contiguous(b);
  const int64_t m = a.sizes()[1], k = a.sizes()[2], n = b.sizes()[2];
  std::fill_n(out.data<T>(), out.numel(), T(0));
  for (int64_t batch = 0; batch < a.sizes()[0]; ++batch) {
    const T* xs = x.data<T>() + batch * m * k;
    const T* ys = y.data<T>() + batch * k * n;
    T* to = out.data<T>() + batch * m * n;
    with_isa([=] {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t l = 0; l < k; ++l) {
          const T factor = xs[i * k + l];
          for (int64_t j = 0; j < n; ++j) to[i * n + j] += T(factor * ys[l * n + j]);
        }
      }
    });
  }
}

void bmm_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  const int64_t m = a.sizes()[1], k = a.sizes()[2], n = b.sizes()[2];
  if (out.numel() == 0) return;
  visit_compute("bmm", out.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      if (k == 0) {
        std::fill_n(out.data<T>(), out.numel(), T(0));
        return;
      }
      const Matrix x = as_matrix(a), y = as_matrix(b);
      for (int64_t batch = 0; batch < a.sizes()[0]; ++batch) {
        blas::gemm(x.transposed, y.transposed, m, n, k,
                   x.tensor.data<T>() + batch * x.tensor.strides()[0], x.row_stride,
                   y.tensor.data<T>() + batch * y.tensor.strides()[0], y.row_stride,
                   out.data<T>() + batch * m * n, n);
      }
    } else if constexpr (!std::is_same_v<T, bool>) {
      plain_product<T>(a, b, out);
    } else {
      detail::unsupported_dtype("bmm", DType::Bool);
    }
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("bmm", bmm_kernel); }

}  // namespace
}  // namespace pkg

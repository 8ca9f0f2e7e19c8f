// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/blas.h: matrix products by OpenBLAS, loaded at the first product.
#pragma once

#include <cstdint>

namespace pkg::blas {

/// c = a @ b + beta * c, row-major: c is m x n with row stride ldc; a_transposed means that a is
/// stored as k x m, and so for b.  Large products are split over the pool.
void gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k,
          const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
          float beta = 0);
void gemm(bool a_transposed, bool b_transposed, int64_t m, int64_t n, int64_t k,
          const double* a, int64_t lda, const double* b, int64_t ldb, double* c,
          int64_t ldc, double beta = 0);

}  // namespace pkg::blas

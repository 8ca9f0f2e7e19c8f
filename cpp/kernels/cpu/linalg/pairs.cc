// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/pairs.cc: matrices of bfloat16 packed as pairs of terms.
#include "kernels/cpu/linalg/pairs.h"

#include <algorithm>
#include <cstring>

#include "base/isa.h"
#include "kernels/cpu/linalg/transpose_four.h"

namespace pkg::gemm {
namespace {

// A matrix of pairs: the second of a pair is `next` behind the first.
struct Pairs {
  const BFloat16* data;
  int64_t row_step, column_step, next;
};

inline Pair pair_of(const BFloat16* first, int64_t next) {
  return Pair(uint32_t(first->bits) | uint32_t(first[next].bits) << 16);
}

// to[r] is of rows that lie beside each other.
inline void pair_rows(const BFloat16* from, int64_t next, int64_t rows, uint32_t* to) {
  for (int64_t r = 0; rows >= 8; r = std::min(r + 8, rows - 8)) {  // the last may overlap
#pragma omp simd
    for (int64_t i = r; i < r + 8; ++i) to[i] = pair_of(from + i, next);
    if (r + 8 >= rows) return;
  }
  for (int64_t r = 0; r < rows; ++r) to[r] = pair_of(from + r, next);
}

// to[r * step + c] = from(r, c)
inline void pack_pairs(Pairs from, int64_t rows, int64_t columns, Pair* __restrict to,
                       int64_t step) {
  const int64_t next = from.next;
  int64_t c = 0;
  if (next == 1 && from.column_step == 2) {  // they lie in memory as they are wanted
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(to + r * step, from.data + r * from.row_step,
                  size_t(columns) * sizeof(Pair));
    }
    return;
  }
  if (from.column_step == 1) {
    for (int64_t r = 0; r < rows; ++r) {
      const BFloat16* __restrict row = from.data + r * from.row_step;
      for (int64_t i = 0; i < columns; ++i) to[r * step + i] = pair_of(row + i, next);
    }
    return;
  }
  if (rows <= kDepth && (from.row_step == 1 || (next == 1 && from.row_step == 2))) {
    for (; c + 4 <= columns; c += 4) {
      uint32_t pairs[4][kDepth];
      for (int64_t i = 0; i < 4; ++i) {
        const BFloat16* at = from.data + (c + i) * from.column_step;
        if (next == 1) {
          std::memcpy(pairs[i], at, size_t(rows) * sizeof(Pair));
        } else {
          pair_rows(at, next, rows, pairs[i]);
        }
      }
      transpose_four(pairs[0], kDepth, rows, reinterpret_cast<uint32_t*>(to + c), step);
    }
  }
  for (; c < columns; ++c) {
    const BFloat16* at = from.data + c * from.column_step;
    for (int64_t r = 0; r < rows; ++r)
      to[r * step + c] = pair_of(at + r * from.row_step, next);
  }
}

}  // namespace

void pack_rows(Strided<BFloat16> a, int64_t rows, int64_t terms, Pair* to) {
  const int64_t pairs = terms / 2;
  with_isa([=] {
    pack_pairs({a.data, a.row_step, 2 * a.column_step, a.column_step}, rows, pairs, to,
               kRowStep);
  });
  if (terms % 2 == 0) return;
  for (int64_t r = 0; r < rows; ++r) {
    to[r * kRowStep + pairs] = Pair(a.at(r, terms - 1).data->bits);
  }
}

void pack_strip(Strided<BFloat16> b, int64_t terms, int64_t columns, int64_t width,
                Pair* to) {
  const int64_t pairs = terms / 2;
  with_isa([=] {
    pack_pairs({b.data, 2 * b.row_step, b.column_step, b.row_step}, pairs, columns, to,
               width);
  });
  if (terms % 2) {
    for (int64_t c = 0; c < columns; ++c) {
      to[pairs * width + c] = Pair(b.at(terms - 1, c).data->bits);
    }
  }
  for (int64_t p = 0; columns < width && p < pairs + terms % 2; ++p) {
    std::fill(to + p * width + columns, to + (p + 1) * width, Pair(0));
  }
}

}  // namespace pkg::gemm

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/conv_taps.h: sums over taps of one plane at a time.
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace pkg::conv {

// sums[i] of `count` outputs, for one row of weights: too few for the tiles of products.
template <class T>
void sum_of_taps(const T* weight, int64_t depth, const T* tile, const int64_t* places,
                 int64_t count, T* sums) {
  constexpr int64_t kVectors = 4, kLanes = 64 / sizeof(T);
  with_isa([=] {
    // Beyond `count` there is room for whole steps, in the tile and in the sums.
    for (int64_t i = 0; i < count; i += kVectors * kLanes) {
      T lanes[kVectors][kLanes];
#pragma GCC unroll 4
      for (int64_t v = 0; v < kVectors; ++v) {
        for (int64_t l = 0; l < kLanes; ++l) lanes[v][l] = 0;
      }
      for (int64_t p = 0; p < depth; ++p) {
        const T* __restrict at = tile + places[p] + i;
        const T factor = weight[p];
#pragma GCC unroll 4
        for (int64_t v = 0; v < kVectors; ++v) {
#pragma omp simd
          for (int64_t l = 0; l < kLanes; ++l) lanes[v][l] += factor * at[v * kLanes + l];
        }
      }
#pragma GCC unroll 4
      for (int64_t v = 0; v < kVectors; ++v) {
#pragma omp simd
        for (int64_t l = 0; l < kLanes; ++l) sums[i + v * kLanes + l] = lanes[v][l];
      }
    }
  });
}

}  // namespace pkg::conv

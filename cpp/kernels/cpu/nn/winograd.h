// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/winograd.h: 3x3 convolutions with 16 products for four outputs, not 36.
//
// F(2x2, 3x3) of Winograd (Arithmetic Complexity of Computations, 1980) as Lavin and Gray
// put it (Fast Algorithms for Convolutional Neural Networks, 2015): a tile of 2x2 outputs
// sees 4x4 elements of each channel.  Sums and differences of these, one for each of 16
// places, times the same of the weights, are 16 products of matrices; sums and differences
// of their elements are the outputs.  An element of the source reaches those outputs alone
// that see it, but what is not finite may come out as NaN where a plain sum is infinite.
#pragma once

#include <cstdint>

#include "kernels/cpu/nn/conv_tile.h"

namespace pkg::conv {

inline constexpr int64_t kPlaces = 16;

/// Whether there is enough of everything to pay for the sums and differences (measured).
inline bool winograd_pays(int64_t channels, int64_t rows, int64_t tiles) {
  return channels >= 16 && rows >= 16 && channels * rows >= 512 && tiles >= 32;
}

/// A correlation with a 3x3 kernel and step 1: for each sample and group `rows` planes of
/// h x w from `channels` planes of source_h x source_w with zeros around them.
template <class T>
struct Winograd {
  int64_t n, groups, rows, channels, h, w, source_h, source_w, pad_y, pad_x;
  const T *source, *weight;
  int64_t group_step, row_step, channel_step;  // of the weight
  bool turned;                                 // the kernel is read from its end
  const T* bias;
  T* out;

  /// Whether it is faster than plain sums.
  bool pays() const;
  /// False where an output is not finite: then `out` must be computed plainly.
  bool run() const;
};

/// The gradient for the weights of such a convolution.  False where one is not finite: then
/// it must be computed plainly.
template <class T>
bool winograd_weight_grad(const Geometry& g, const T* images, const T* maps, T* out);
/// Whether it is faster than plain sums.
bool winograd_weight_pays(const Geometry& g);

}  // namespace pkg::conv

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/winograd.h: 3x3 convolutions with 36 products for 16 outputs, not 144.
//
// F(4x4, 3x3) of Winograd (Arithmetic Complexity of Computations, 1980) as Lavin and Gray
// put it (Fast Algorithms for Convolutional Neural Networks, 2015): a tile of 4x4 outputs
// sees 6x6 elements of each channel.  Weighted sums of these, one for each of 36 places,
// times the same of the weights, are 36 products of matrices; weighted sums of their
// elements are the outputs.
//
// Note [Points].  The sums are values of polynomials at six points: 0, infinity and two
// pairs, a and -a, b and -b.  The pairs decide how much is lost where sums cancel.  With
// 5/8 and 3/2 the errors in float32 are those of plain sums of as many terms (measured;
// the usual 1 and 2 lose three times as much), and their squares are exact.
//
// What a tile sees has a part in all of its outputs, so one large element costs its
// neighbours digits, and what is not finite makes all of them NaN: then plain sums follow.
#pragma once

#include <cstdint>

#include "kernels/cpu/nn/conv_tile.h"

namespace pkg::conv {

inline constexpr int64_t kEdge = 4;          ///< outputs along the edge of a tile
inline constexpr int64_t kSide = kEdge + 2;  ///< what they see
inline constexpr int64_t kPlaces = kSide * kSide;

/// Whether there is enough of everything to pay for the weighted sums (measured), and not
/// too much of the tiles lies outside of the planes.
inline bool winograd_pays(int64_t channels, int64_t rows, int64_t tiles, int64_t outputs) {
  return channels >= 16 && rows >= 16 && channels * rows >= 512 && tiles >= 16 &&
         tiles * kPlaces <= 6 * outputs;
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

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/padding.h: where the elements of a padded dimension come from.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tensor/small_vector.h"
#include "tensor/tensor.h"

namespace pkg {

enum class Border : uint8_t { Constant, Reflect, Replicate, Circular };

inline Border border_of(const std::string& mode) {
  return mode == "reflect"     ? Border::Reflect
         : mode == "replicate" ? Border::Replicate
         : mode == "circular"  ? Border::Circular
                               : Border::Constant;
}

/// One dimension, `size` elements before and `padded` after.
struct PaddedDim {
  int64_t size, before, padded;
  int64_t begin, end;  // those of the result that have a place of their own
  Border border;

  PaddedDim(int64_t size_in, int64_t before_in, int64_t after, Border border_in)
      : size(size_in), before(before_in), padded(size + before + after), border(border_in) {
    begin = std::clamp<int64_t>(before, 0, padded);
    end = std::clamp<int64_t>(size + before, begin, padded);
  }
  bool is_plain() const { return before == 0 && padded == size; }
  bool is_inside(int64_t i) const { return i >= begin && i < end; }
  /// The element that stands at index i of the result; -1: the constant.
  int64_t source(int64_t i) const {
    const int64_t at = i - before;
    if (is_inside(i)) return at;
    switch (border) {
      case Border::Reflect: return at < 0 ? -at : 2 * (size - 1) - at;
      case Border::Replicate: return std::clamp<int64_t>(at, 0, size - 1);
      case Border::Circular: return i < begin ? at + (end - begin) : at - (end - begin);
      case Border::Constant: break;
    }
    return -1;
  }
};

/// Of a tensor of `sizes`; `pad` counts from the last dimension on.
using PaddedDims = std::vector<PaddedDim, PoolAllocator<PaddedDim>>;
inline PaddedDims padded_dims(const Shape& sizes, const Shape& pad, Border border) {
  PaddedDims dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const size_t i = 2 * (sizes.size() - 1 - d);
    const bool named = i < pad.size();
    dims.push_back({sizes[d], named ? pad[i] : 0, named ? pad[i + 1] : 0, border});
  }
  return dims;
}

}  // namespace pkg

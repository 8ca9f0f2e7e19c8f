// SPDX-License-Identifier: Apache-2.0
// tensor/cutting.h: what the ways to cut tensors into blocks have in common: Note [Ways to
// cut] in staging.cc.
#pragma once

#include <algorithm>

#include "scheduler/parallel.h"
#include "tensor/blocks.h"

namespace pkg::staging {

inline constexpr int64_t kGrainStaged = grain_for(0.2);

template <class F>
void for_cells(const Cells& cells, F f) {
  const int64_t grain = std::max<int64_t>(1, kGrainStaged / cells.elements());
  parallel_for(0, cells.count(), grain, f);
}

// Steps of a cell: one element of each dimension but those that are set then.
inline Shape single_steps(const Walk& walk) { return Shape(walk.sizes.size(), 1); }

// Whether the operand is the same along the dimensions from d on.
inline bool same_from(const Walk& walk, size_t k, size_t d) {
  const Shape& strides = walk.strides[k];
  return std::all_of(strides.begin() + d, strides.end(), [](int64_t s) { return s == 0; });
}

inline constexpr int64_t kShortRow = 64;  // below which a list pays

/// Blocks of several rows, if those are better than rows.
bool run_several_rows(Plan& plan, const Walk& walk);

}  // namespace pkg::staging

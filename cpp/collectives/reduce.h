// SPDX-License-Identifier: Apache-2.0
// collectives/reduce.h: one array of several, element by element.
//
// Note [The order of a sum]
// Elements are always added in the order of the ranks, whatever lies beside them and
// however long the arrays are.  So a result has the same bits in any arrival order, fused or
// not, which MPI_Allreduce does not promise: there the order follows from the place in the
// buffer.  MPI carries bytes, and so every dtype; floating sums are made in double and
// rounded once, integers wrap.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/request.h"

namespace pkg::collectives {

/// How: result = postscale * reduction of (prescale * input), divided by `ranks` for
/// Average.
struct Scaled {
  Reduction reduction = Reduction::Sum;
  double prescale = 1, postscale = 1;
  int ranks = 1;
};

/// `out` may be one of the inputs.
void reduce(DType dtype, const Scaled& how, std::span<const char* const> inputs, char* out,
            int64_t count);

}  // namespace pkg::collectives

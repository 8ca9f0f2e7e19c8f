// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/scan_tiles.h: the walk of every running reduction, over tensors of any
// layout and element type.  It hands tiles to a loop and knows nothing of what that
// computes.
//
// A tensor is seen as lines along the scanned dimension.  Where neighbours of many lines
// lie side by side, or lines are short, the loop gets tiles in which they do, and its inner
// loop, over the lines, vectorises.  Otherwise it walks a few lines at once, as each result
// waits for the one before it.  A line's state goes from tile to tile.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "tensor/tensor.h"

namespace pkg {

inline constexpr int64_t kScanLines = 1024;  // of a tile, at most
inline constexpr int64_t kScanChains =
    4;  // that are walked at once, not being side by side

/// Element i of line j is x[k][i * x_place[k] + j * x_line[k]], and so for the results y,
/// in elements of the type that is computed in.
struct ScanTile {
  const void* x[2];
  int64_t x_place[2], x_line[2];
  void* y[2];
  int64_t y_place[2], y_line[2];
  int64_t places, lines;
  int64_t first;      // place of the first element in the tensor
  int64_t next;       // 1, or -1 if the scan runs towards the start
  bool begins;        // no tile of these lines was before
  bool side_by_side;  // all line steps are 1
  bool alone;         // the tensor has fewer lines than are walked at once
  void* state;        // 16 bytes for each line, which stay until the next tile
};

using ScanLoop = void (*)(const ScanTile& tile);
/// Whether short lines that are read along themselves are turned to lie side by side: what
/// is only computed takes less time than to be turned to and fro, what chooses does not,
/// since a processor guesses choices wrong.
enum class ShortLines { Along, Turned };

/// Scans `in` along dim into the row-major `out`, at most two of each.  The loop computes
/// in `type`; a second result is int64.  What a line's results are may not depend on the
/// lines beside it, as threads share them out.
void run_scan(DType type, int64_t dim, bool reverse,
              std::initializer_list<const Tensor*> in,
              std::initializer_list<const Tensor*> out, ScanLoop loop,
              ShortLines short_lines = ShortLines::Along);

}  // namespace pkg

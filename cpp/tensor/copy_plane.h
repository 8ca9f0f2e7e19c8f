// SPDX-License-Identifier: Apache-2.0
// tensor/copy_plane.h: rows of elements, moved from any steps to any others.
#pragma once

#include <cstdint>

namespace pkg {

/// `rows` rows of `columns` elements on either side, which do not overlap.  Steps are in
/// bytes, from one element to the next and from one row to the next.
struct Plane {
  char* to;
  const char* from;
  int64_t columns, rows;
  int64_t to_step, to_row, from_step, from_row;
};

/// For elements of 1, 2, 4 or 8 bytes.
void copy_plane(const Plane& plane, int64_t itemsize);

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// tensor/gather.h: elements copied from and to places that are apart from each other.  Only
// the size of the element type matters.
#pragma once

#include <cstdint>

namespace pkg {

/// Functions for elements of one size.  What is dense and what is not do not overlap.
struct Moves {
  /// to[i] = the element i * stride bytes behind `from`.
  void (*gather)(char* to, const char* from, int64_t stride, int64_t n);
  void (*scatter)(char* to, int64_t stride, const char* from, int64_t n);
  /// The same with a list of places, in bytes.
  void (*gather_at)(char* to, const char* from, const int64_t* places, int64_t n);
  void (*scatter_at)(char* to, const int64_t* places, const char* from, int64_t n);
  /// One element n times, dense or `stride` bytes apart.
  void (*repeat)(char* to, const char* element, int64_t n);
  void (*spread)(char* to, int64_t stride, const char* element, int64_t n);
  /// The first of `rows` dense elements `columns` times, and so on.
  void (*repeat_each)(char* to, const char* from, int64_t rows, int64_t columns);
  /// `rows` dense rows of `columns` elements, `to_row` bytes apart.  Neighbours in a row
  /// come from places `from_column` bytes apart, those in a column from `from_row`.
  void (*transpose)(char* to, int64_t to_row, const char* from, int64_t from_column,
                    int64_t from_row, int64_t rows, int64_t columns);
};

/// Of elements of 1, 2, 4 or 8 bytes.
const Moves& moves_of(int64_t itemsize);

/// n runs of as many bytes, those of each side so many apart; short ones cost no call each.
void copy_rows(char* to, int64_t to_step, const char* from, int64_t from_step,
               int64_t bytes, int64_t n);

}  // namespace pkg

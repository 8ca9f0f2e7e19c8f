// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/stage.h: brings a rectangle of elements, whatever their strides and
// type, to dense rows of the type that is computed in.
#pragma once

#include <cstdint>

#include "tensor/convert.h"

namespace pkg {

class Stage {
 public:
  static constexpr int64_t kBytes = 32768;  // with what is read it stays in the first cache

  Stage(DType from, DType to)
      : convert_(from, to, to), from_(itemsize(from)), to_(itemsize(to)) {}
  /// Whether the types are the same.
  bool none() const { return convert_.count == 0; }
  /// `rows` rows of n elements, `row_step` and `step` elements apart, dense to `out`.
  void bring(const char* x, int64_t row_step, int64_t rows, int64_t step, int64_t n,
             char* out) const;
  /// The same of rows that consist of runs of `columns` elements, `run_step` and in them
  /// `step` elements apart; a row is at most kMostInRuns elements.
  void bring_runs(const char* x, int64_t row_step, int64_t rows, int64_t run_step,
                  int64_t runs, int64_t step, int64_t columns, char* out) const;
  static constexpr int64_t kMostInRuns = 512;
  /// n dense elements of `itemsize` bytes to places `step` elements apart.
  static void scatter(char* to, int64_t step, const char* from, int64_t itemsize,
                      int64_t n);

 private:
  void convert(const char* from, char* to, int64_t n) const;
  void turn(const char* x, int64_t rows, int64_t step, int64_t n, char* out) const;

  Conversion convert_;
  int64_t from_, to_;  // bytes of an element
};

}  // namespace pkg

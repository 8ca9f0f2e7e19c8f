// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/stage.cc: strided copies and conversions, in cache.
#include "kernels/cpu/reduce/stage.h"

#include <algorithm>
#include <cstring>

#include "tensor/copy_plane.h"
#include "tensor/copy_run.h"
#include "tensor/gather.h"

namespace pkg {

constexpr int64_t kRoom = Stage::kMostInRuns;  // elements on the way
constexpr int64_t kFew = 64;  // of a row that is not worth a conversion of its own

namespace {

// The first `bytes` of the buffer, which is of so many rows, in all of it.
void repeat(char* to, int64_t bytes, int64_t rows) {
  const int64_t all = bytes * rows;
  for (int64_t done = bytes; done < all;) {
    const int64_t some = std::min(done, all - done);
    std::memcpy(to + done, to, size_t(some));
    done += some;
  }
}

}  // namespace

void Stage::convert(const char* from, char* to, int64_t n) const {
  if (convert_.count == 1) {
    char* const data[] = {to, const_cast<char*>(from)};
    return convert_.steps[0].run(nullptr, data, n);
  }
  alignas(64) char some[2][kRoom * 8];
  char* const scratch[] = {some[0], some[1]};
  for (int64_t at = 0; at < n; at += kRoom) {
    const int64_t m = std::min(kRoom, n - at);
    convert_.run(to + at * to_, from + at * from_, m, scratch);
  }
}

void Stage::bring(const char* x, int64_t row_step, int64_t rows, int64_t step, int64_t n,
                  char* out) const {
  if (n == 0) return;  // nothing may lie nowhere
  const auto gather = [&](char* to, const char* from, int64_t count) {
    if (step == 1) move_bytes(to, from, count * from_);
    else moves_of(from_).gather(to, from, step * from_, count);
  };
  if (row_step == step * n) {  // rows behind each other are one
    n *= rows;
    rows = 1;
  }
  if (row_step == 0 && rows > 1) {
    bring(x, 0, 1, step, n, out);
    return repeat(out, n * to_, rows);
  }
  if (row_step == 1 && rows > 1 && step != 1) return turn(x, rows, step, n, out);
  if (none() && n < kFew) {
    return copy_plane({out, x, n, rows, to_, n * to_, step * from_, row_step * from_},
                      from_);
  }
  if (none()) {
    for (int64_t row = 0; row < rows; ++row) {
      gather(out + row * n * to_, x + row * row_step * from_, n);
    }
    return;
  }
  if (step == 1 && (n > kFew || rows == 1)) {
    for (int64_t row = 0; row < rows; ++row) {
      convert(x + row * row_step * from_, out + row * n * to_, n);
    }
    return;
  }
  alignas(64) char some[kRoom * 8];
  if (n < kFew) {
    const int64_t most = kRoom / n;
    for (int64_t row = 0; row < rows; row += most) {
      const int64_t r = std::min(most, rows - row);
      copy_plane({some, x + row * row_step * from_, n, r, from_, n * from_, step * from_,
                  row_step * from_},
                 from_);
      convert(some, out + row * n * to_, r * n);
    }
    return;
  }
  const int64_t length = std::min(n, kRoom), most = kRoom / length;
  for (int64_t row = 0; row < rows; row += most) {
    const int64_t r = std::min(most, rows - row);
    for (int64_t at = 0; at < n; at += length) {
      const int64_t m = std::min(length, n - at);
      for (int64_t k = 0; k < r; ++k) {
        gather(some + k * m * from_, x + ((row + k) * row_step + at * step) * from_, m);
      }
      convert(some, out + (row * n + at) * to_, r * m);
    }
  }
}

void Stage::bring_runs(const char* x, int64_t row_step, int64_t rows, int64_t run_step,
                       int64_t runs, int64_t step, int64_t columns, char* out) const {
  alignas(64) char some[kRoom * 8];
  const int64_t n = runs * columns;
  for (int64_t row = 0; row < rows; ++row, x += row_step * from_, out += n * to_) {
    char* const to = none() ? out : some;
    copy_plane(
        {to, x, columns, runs, from_, columns * from_, step * from_, run_step * from_},
        from_);
    if (!none()) convert(some, out, n);
  }
}

// Elements of a column lie side by side.
void Stage::turn(const char* x, int64_t rows, int64_t step, int64_t n, char* out) const {
  const Moves& moves = moves_of(from_);
  const int64_t next = step * from_;
  if (none()) return moves.transpose(out, n * from_, x, next, from_, rows, n);
  constexpr int64_t kRows = 8, kColumns = kRoom / kRows;
  alignas(64) char some[kRoom * 8];
  if (n < kColumns && n < rows) {  // rows are short: some are converted as one
    const int64_t most = kRoom / n;
    for (int64_t row = 0; row < rows; row += most) {
      const int64_t r = std::min(most, rows - row);
      moves.transpose(some, n * from_, x + row * from_, next, from_, r, n);
      convert(some, out + row * n * to_, r * n);
    }
    return;
  }
  for (int64_t row = 0; row < rows; row += kRows) {
    const int64_t r = std::min(kRows, rows - row);
    for (int64_t at = 0; at < n; at += kColumns) {
      const int64_t m = std::min(kColumns, n - at);
      moves.transpose(some, m * from_, x + row * from_ + at * next, next, from_, r, m);
      for (int64_t k = 0; k < r; ++k) {
        convert(some + k * m * from_, out + ((row + k) * n + at) * to_, m);
      }
    }
  }
}

void Stage::scatter(char* to, int64_t step, const char* from, int64_t itemsize, int64_t n) {
  moves_of(itemsize).scatter(to, step * itemsize, from, n);
}

}  // namespace pkg

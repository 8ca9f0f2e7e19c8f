// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/line_part.cc: steps of a tensor's lines, and copies of rectangles.
#include "kernels/cpu/reduce/line_part.h"

#include <optional>

#include "tensor/copy.h"
#include "tensor/gather.h"

namespace pkg {
namespace {

// The step between neighbours of the dimensions [begin, end) seen as one; none if that is
// not a constant.
std::optional<int64_t> one_step(const Tensor& t, int64_t begin, int64_t end) {
  std::optional<int64_t> step;
  int64_t size = 1;
  for (int64_t d = end; d-- > begin;) {
    const int64_t here = t.sizes()[size_t(d)], stride = t.strides()[size_t(d)];
    if (here == 1) continue;
    if (!step) step = stride;
    else if (stride != *step * size) return {};
    size *= here;
  }
  return step.value_or(0);
}

}  // namespace

LineExtent::LineExtent(const Tensor& tensor, int64_t dim) {
  for (int64_t d = 0; d < tensor.ndim(); ++d) {
    (d < dim ? outer : d == dim ? n : inner) *= tensor.sizes()[size_t(d)];
  }
}

LinePart::LinePart(const Tensor& given, int64_t dim, DType from, DType to)
    : tensor(given),
      stage(from, to),
      size(itemsize(given.dtype())),
      width(itemsize(from == given.dtype() ? to : from)) {
  const int64_t ndim = given.ndim();
  auto step = one_step(given, 0, dim), inner = one_step(given, dim + 1, ndim);
  if (!step || !inner) {
    tensor = as_contiguous(given);
    step = one_step(tensor, 0, dim);
    inner = one_step(tensor, dim + 1, ndim);
  }
  outer = *step;
  line = *inner;
  place = ndim == 0 ? 0 : tensor.strides()[size_t(dim)];
}

char* LinePart::bring(const char* x, int64_t places, int64_t lines, bool side_by_side,
                      char* to) const {
  if (side_by_side) stage.bring(x, place, places, line, lines, to);
  else stage.bring(x, line, lines, place, places, to);
  return to;
}

void LinePart::send(const char* from, int64_t places, int64_t lines, bool side_by_side,
                    char* to) const {
  int64_t rows = side_by_side ? places : lines, n = side_by_side ? lines : places;
  const int64_t row = side_by_side ? place : line, step = side_by_side ? line : place;
  if (row == step * n) {  // rows behind each other are one
    n *= rows;
    rows = 1;
  }
  if (step == 1) {
    for (int64_t r = 0; r < rows; ++r) {
      stage.bring(from + r * n * width, 0, 1, 1, n, to + r * row * size);
    }
    return;
  }
  alignas(64) char own[kLineRoom * 8];
  if (!stage.none()) {
    stage.bring(from, n, rows, 1, n, own);
    from = own;
  }
  const Moves& moves = moves_of(size);
  if (row == 1) return moves.transpose(to, step * size, from, n * size, size, n, rows);
  for (int64_t r = 0; r < rows; ++r) {
    moves.scatter(to + r * row * size, step * size, from + r * n * size, n);
  }
}

}  // namespace pkg

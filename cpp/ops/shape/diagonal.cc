// SPDX-License-Identifier: Apache-2.0
// ops/shape/diagonal.cc: diagonals and triangles of matrices.
#include <cstring>

#include "ops/op.h"
#include "ops/shape/move_cost.h"
#include "scheduler/parallel.h"
#include "tensor/copy_run.h"
#include "tensor/fill.h"
#include "tensor/gather.h"

namespace pkg::ops {
namespace {

// The two dimensions of the matrices, checked.
std::pair<size_t, size_t> matrix_dims(const char* op, int64_t ndim, int64_t dim1,
                                      int64_t dim2) {
  const int64_t a = wrap_dim(op, dim1, ndim), b = wrap_dim(op, dim2, ndim);
  PKG_CHECK(ndim >= 2 && a != b, RuntimeError, "[", op,
            "] expected two different "
            "dimensions of a matrix, got dim1=",
            dim1, " and dim2=", dim2, " of ", ndim, " dimensions.");
  return {size_t(a), size_t(b)};
}

// `sizes` (or strides) with `last` in the place of the two dimensions.
Shape with_diagonal(Shape sizes, size_t a, size_t b, int64_t last) {
  for (size_t d : {std::max(a, b), std::min(a, b)}) sizes.erase(d);
  sizes.push_back(last);
  return sizes;
}
int64_t diagonal_length(Checked rows, Checked columns, Checked offset) {
  return std::max<int64_t>(0, offset >= 0 ? std::min<int64_t>(rows, columns - offset)
                                          : std::min<int64_t>(rows + offset, columns));
}
Shape diagonal_shape(const Shape& sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  const auto [a, b] = matrix_dims("diagonal", int64_t(sizes.size()), dim1, dim2);
  return with_diagonal(sizes, a, b, diagonal_length(sizes[a], sizes[b], offset));
}

Tensor diagonal_fn(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const auto [a, b] = matrix_dims("diagonal", self.ndim(), dim1, dim2);
  const Shape &sizes = self.sizes(), &strides = self.strides();
  const int64_t length = diagonal_length(sizes[a], sizes[b], offset);
  int64_t start = self.offset();
  if (length > 0) start += offset * (offset >= 0 ? strides[b] : -strides[a]);
  int64_t step;  // overflows where there is one element at most
  if (__builtin_add_overflow(strides[a], strides[b], &step)) step = 1;
  return alias(self, with_diagonal(sizes, a, b, length), with_diagonal(strides, a, b, step),
               start);
}

Spec embed_rule(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  PKG_CHECK(self.ndim() > 0, RuntimeError, "[diag_embed] expected at least one dimension.");
  const auto [a, b] = matrix_dims("diag_embed", self.ndim() + 1, dim1, dim2);
  const int64_t n = self.size(-1) + (offset < 0 ? -Checked(offset) : Checked(offset));
  Spec spec{Shape(self.sizes().data(), self.sizes().size() - 1), self.dtype(),
            self.device()};
  spec.sizes.insert(std::min(a, b), n);
  spec.sizes.insert(std::max(a, b), n);
  return spec;
}

// The same of row-major memory, in one pass: of zeros all bytes are 0.
template <bool Lower>
void dense_triangle(Tensor& out, const Tensor& self, int64_t k) {
  const int64_t size = itemsize(out.dtype()), rows = out.size(-2);
  const int64_t columns = out.size(-1), bytes = columns * size;
  const auto* from = static_cast<const char*>(self.data());
  auto* to = static_cast<char*>(out.data());
  const bool copies = !out.is_same(self);
  parallel_for(0, out.numel() / columns, std::max<int64_t>(1, kGrain / columns),
               [=](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const int64_t edge = std::clamp<int64_t>(
                                            row % rows + k + (Lower ? 1 : 0), 0, columns) *
                                        size;
                   char* line = to + row * bytes;
                   const int64_t first = Lower ? 0 : edge, past = Lower ? edge : bytes;
                   if (copies)
                     move_bytes(line + first, from + row * bytes + first, past - first);
                   if (Lower) std::memset(line + edge, 0, size_t(bytes - edge));
                   else std::memset(line, 0, size_t(edge));
                 }
               });
}

// Zero on one side of a diagonal, whatever the strides are: along lines of the dimension
// whose elements are closer together.
template <bool Lower>
void clear_side(const Tensor& out, int64_t k) {
  const size_t ndim = out.sizes().size();
  const Shape &sizes = out.sizes(), &strides = out.strides();
  const bool columns_apart = std::abs(strides[ndim - 1]) > std::abs(strides[ndim - 2]);
  const size_t across = columns_apart ? ndim - 1 : ndim - 2;
  const size_t along = columns_apart ? ndim - 2 : ndim - 1;
  const int64_t lines = sizes[across], n = sizes[along];
  const int64_t size = itemsize(out.dtype()), step = strides[along] * size;
  const bool behind = Lower != columns_apart;  // what is cleared is a line's end
  auto* const data = static_cast<char*>(out.data());
  parallel_for(0, out.numel() / n, std::max<int64_t>(1, kGrain / n),
               [=, &sizes, &strides](int64_t begin, int64_t end) {
                 for (int64_t line = begin; line < end; ++line) {
                   const int64_t i = line % lines;
                   char* x = data + i * strides[across] * size;
                   int64_t rest = line / lines;
                   for (size_t d = ndim - 2; d-- > 0; rest /= sizes[d]) {
                     x += rest % sizes[d] * strides[d] * size;
                   }
                   const int64_t edge = columns_apart ? i - k + (Lower ? 0 : 1)
                                                      : i + k + (Lower ? 1 : 0);
                   const int64_t cut = std::clamp<int64_t>(edge, 0, n);
                   const int64_t from = behind ? cut : 0, past = behind ? n : cut;
                   alignas(8) constexpr char zero[8] = {};
                   if (step == size)
                     std::memset(x + from * size, 0, size_t((past - from) * size));
                   else moves_of(size).spread(x + from * step, step, zero, past - from);
                 }
               });
}

// Rows and columns [from, past) of matrices.
Tensor part_of(const Tensor& t, int64_t row, int64_t past_row, int64_t column,
               int64_t past_column) {
  Shape sizes = t.sizes();
  const size_t r = sizes.size() - 2, c = sizes.size() - 1;
  sizes[r] = std::max<int64_t>(0, past_row - row);
  sizes[c] = std::max<int64_t>(0, past_column - column);
  return alias(t, sizes, t.strides(),
               t.offset() + row * t.strides()[r] + column * t.strides()[c]);
}

// Where a triangle's elements are: beyond these rows and columns all is zero.
struct Bounds {
  int64_t row, past_row, column, past_column;
  // Within them what is not kept as a whole: rows and columns that the diagonal crosses.
  int64_t cut_row, cut_past_row, cut_column, cut_past_column;

  Bounds(bool lower, int64_t rows, int64_t columns, int64_t k) {
    row = lower ? std::clamp<int64_t>(-k, 0, rows) : 0;
    past_row = lower ? rows : std::clamp<int64_t>(columns - k, 0, rows);
    column = lower ? 0 : std::clamp<int64_t>(k, 0, columns);
    past_column = lower ? std::clamp<int64_t>(rows + k, 0, columns) : columns;
    cut_row = lower ? row : std::clamp<int64_t>(column - k + 1, row, past_row);
    cut_past_row = lower ? std::clamp<int64_t>(past_column - 1 - k, row, past_row)
                         : past_row;
    cut_column = lower ? std::clamp<int64_t>(row + k + 1, column, past_column) : column;
    cut_past_column = lower ? past_column
                            : std::clamp<int64_t>(past_row - 1 + k, column, past_column);
  }
  int64_t kept() const { return (past_row - row) * (past_column - column); }
  int64_t cut() const { return (cut_past_row - cut_row) * (cut_past_column - cut_column); }
};

// Zero on one side of a diagonal of the last two dimensions.  What is zero as a whole is not
// read, and what is kept as a whole is copied, if at all.
template <bool Lower>
void triangle_kernel(Tensor& out, const Tensor& self, int64_t k) {
  if (out.numel() == 0) return;
  const int64_t rows = out.size(-2), columns = out.size(-1);
  k = std::clamp(k, -rows - 1, columns + 1);  // farther away nothing changes
  const Bounds at(Lower, rows, columns, k);
  const bool mostly_cut = 2 * at.cut() > rows * columns;
  if (mostly_cut && out.is_contiguous()) {
    if (self.is_contiguous()) return dense_triangle<Lower>(out, self, k);
    copy_into(out, self);
    return dense_triangle<Lower>(out, out, k);
  }
  const auto zero = [&out](auto... place) {
    const Tensor part = part_of(out, place...);
    if (part.numel() > 0) fill(part, 0);
  };
  zero(0, at.row, 0, columns);
  zero(at.past_row, rows, 0, columns);
  zero(at.row, at.past_row, 0, at.column);
  zero(at.row, at.past_row, at.past_column, columns);
  if (at.kept() == 0) return;
  if (!out.is_same(self)) {
    copy_into(part_of(out, at.row, at.past_row, at.column, at.past_column),
              part_of(self, at.row, at.past_row, at.column, at.past_column));
  }
  if (at.cut() == 0) return;
  const Tensor cut = part_of(out, at.cut_row, at.cut_past_row, at.cut_column,
                             at.cut_past_column);
  clear_side<Lower>(cut, k + at.cut_row - at.cut_column);
}
Spec triangle_rule(const Tensor& self, int64_t) {
  PKG_CHECK(self.ndim() >= 2, RuntimeError,
            "[tril] input tensor must have at least 2 "
            "dimensions, got shape ",
            self.sizes());
  return self.spec();
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor")
      .doc("The diagonal of the matrices in dim1 and dim2, as the last dimension.")
      .view(diagonal_fn)
      .derivative("self", "self.shape offset dim1 dim2", diagonal_backward);
  m.def("_diagonal_backward(Tensor grad, int[] sizes, int offset, int dim1, int dim2) "
        "-> Tensor")
      .doc("Zeros of these sizes with grad on a diagonal.")
      .element_cost(kMoveNanoseconds)
      .shape([](const Tensor& grad, const Shape& sizes, int64_t offset, int64_t dim1,
                int64_t dim2) {
        check_gradient(grad, diagonal_shape(sizes, offset, dim1, dim2));
        return Spec{sizes, grad.dtype(), grad.device()};
      })
      .cpu([](Tensor& out, const Tensor& grad, const Shape&, int64_t offset, int64_t dim1,
              int64_t dim2) {
        fill(out, 0);
        copy_into(diagonal_fn(out, offset, dim1, dim2), grad);
      })
      .derivative("grad", "offset dim1 dim2", diagonal);
  m.def("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
      .doc("Matrices with the last dimension of self on their diagonal, else zero.")
      .element_cost(kMoveNanoseconds)
      .shape(embed_rule)
      .cpu([](Tensor& out, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
        fill(out, 0);
        copy_into(diagonal_fn(out, offset, dim1, dim2), self);
      })
      .derivative("self", "offset dim1 dim2", diagonal);
  m.def("diag(Tensor self, int diagonal=0) -> Tensor")
      .doc("A vector as the diagonal of a matrix; of a matrix, its diagonal (a copy).")
      .composite([](const Tensor& self, int64_t k) {
        PKG_CHECK(self.ndim() == 1 || self.ndim() == 2, RuntimeError,
                  "[diag] Supports 1D "
                  "or 2D tensors. Got ",
                  self.ndim(), "D");
        return self.ndim() == 1 ? diag_embed(self, k, 0, 1)
                                : clone(diagonal(self, k, 0, 1));
      });
  m.def("trace(Tensor self) -> Tensor")
      .doc("Sum of a matrix's diagonal.")
      .composite([](const Tensor& self) {
        PKG_CHECK(self.ndim() == 2, RuntimeError,
                  "[trace] expected a matrix, but got "
                  "tensor with dim ",
                  self.ndim());
        return sum(diagonal(self, 0, 0, 1));
      });
  m.def("tril(Tensor self, int diagonal=0) -> Tensor")
      .doc("The lower triangle of matrices, from the diagonal given; zero above.")
      .element_cost(kMoveNanoseconds)
      .shape(triangle_rule)
      .cpu(triangle_kernel<true>)
      .derivative("self", "diagonal", tril)
      .in_place();
  m.def("triu(Tensor self, int diagonal=0) -> Tensor")
      .doc("The upper triangle of matrices, from the diagonal given; zero below.")
      .element_cost(kMoveNanoseconds)
      .shape(triangle_rule)
      .cpu(triangle_kernel<false>)
      .derivative("self", "diagonal", triu)
      .in_place();
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/index_walk.h: how gather, scatter and their like go through an index.
//
// Note [Walk of an index]
// All of them go through the elements of an index: `table` is what the index points into
// (self of gather, the result of scatter) and `other` lies as the index does (the result of
// gather, src of scatter).  Elements that meet in one slot of the table differ along dim
// alone, so whatever splits the other dimensions keeps their order and may run at once: the
// result is the same for any number of threads.  An index of slices repeats its values along
// all other dimensions (strides of 0), so that whole runs are moved.  Where such runs are
// written, tasks share the slots out among them: each goes through the whole index and
// writes the runs of its own slots, so that no run is cut and the order in a slot is kept.
// Short runs of a table that stays in cache have loops of their own, which are split between
// places of the outer dimensions only, as long as those are enough.
#pragma once

#include <cstdlib>
#include <vector>

#include "base/function_ref.h"
#include "tensor/copy.h"
#include "tensor/layout.h"

namespace pkg {

struct IndexWalk {
  struct Axis {
    int64_t size = 1, index = 0, table = 0, other = 0;  // steps in elements
  };
  std::vector<Axis> outer;  // dimensions whose elements share no slot
  Axis along;               // dim, unless it is the innermost
  Axis inner;
  int64_t size = 1, step = 0;  // of the table along dim
  int64_t dim = 0;             // for errors
  // Tasks: the outer dimensions, in each the parts of inner, in each those of along.
  int64_t count = 1, block = 1, blocks = 1, part = 1, parts = 1;
  int64_t owners = 1;  // tasks that share the slots; 1: all slots are anybody's
};

/// The walk along `dim`; tensors of no dimension are like vectors of their element, and a
/// number as `other` repeats.  any_order: elements that meet in one slot need not keep
/// theirs.
IndexWalk walk_of(const Tensor& table, const Tensor& index, const Tensor& other,
                  int64_t dim, bool any_order);

/// A part of the innermost dimension: offsets of its first element, in elements, and count.
/// Gives how many elements were done: up to the first index that is not in the table.
using IndexRow =
    FunctionRef<int64_t(int64_t index, int64_t table, int64_t other, int64_t n)>;

/// Calls `row` until every element of the index, of int64, had its turn.  IndexError where
/// one was not in the table.
void for_rows(const IndexWalk& walk, const Tensor& index, IndexRow row);

/// Writes or adds `source`, of the table's dtype, to the slots of `out` that the index names,
/// which was walked as `other`.  A source of halves has no gaps, and a table of halves that
/// is added to has few (write_dense).
void write_slots(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                 const Tensor& source, bool add);
/// The same of halves that are added.
void add_to_halves(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                   const Tensor& source);
/// How many elements lie between the first and the last one of `table`, with both; 0 of none.
int64_t span_of(const Tensor& table);
/// Whether so many elements of rows are added to a table whose rows have steps that it is
/// faster to copy the table, with rows without steps, to add and to copy it back.
inline bool adds_across(const Tensor& out, int64_t added) {
  constexpr int64_t kSome = 256, kRow = 16;               // elements
  const int64_t times = is_reduced(out.dtype()) ? 8 : 2;  // as long as a turn of one takes
  return added >= kSome && times * added >= out.numel() && out.ndim() > 1 &&
         out.sizes().back() >= kRow && std::abs(out.strides().back()) > 1;
}
/// Calls write(out), or write(a copy without gaps) where write_slots() needs that, or where
/// it pays.  `rows`: how many elements of whole rows are written, 0 if others are.
template <class F>
void write_dense(const Tensor& out, bool add, int64_t rows, F write) {
  constexpr int64_t kFew = 4;
  const bool gaps = is_reduced(out.dtype()) && span_of(out) > kFew * out.numel();
  if (!add || !(gaps || adds_across(out, rows))) return write(out);
  const Tensor dense = as_contiguous(out);
  write(dense);
  copy_into(out, dense);
}

/// The index in int64; what repeats its values goes on repeating them.
Tensor as_index(const Tensor& index);

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/index_walk.cc: dimensions merged, work split, indices checked.
#include "kernels/cpu/index/index_walk.h"

#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#include "scheduler/stop_point.h"

namespace pkg {
namespace {

using Axis = IndexWalk::Axis;

constexpr int64_t kTable = 1 << 18;   // bytes of a table that stay in a second-level cache
constexpr int64_t kLeastRun = 64;     // bytes of a run for which to look at its index again
constexpr int64_t kLeastPart = 1024;  // elements of one row that are worth a task
constexpr int64_t kMostAtOnce = 1 << 20;  // elements between stop points

// The values of an index without the dimensions that repeat them.
Tensor once(const Tensor& index) {
  Shape sizes = index.sizes();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (index.strides()[d] == 0 && sizes[d] > 1) sizes[d] = 1;
  }
  return as_contiguous(alias(index, sizes, index.strides(), index.offset()));
}

// A tensor of no dimension goes with vectors; a number repeats.
int64_t step_of(const Tensor& t, size_t d) {
  return d < t.strides().size() ? t.strides()[d] : 0;
}
bool merges(const Axis& outer, const Axis& inner) {
  return outer.index == inner.index * inner.size &&
         outer.table == inner.table * inner.size && outer.other == inner.other * inner.size;
}

// How the work is split.  A part of the rows needs a part of the table, which shall stay in
// cache; and several parts can run at once.
void split(IndexWalk& walk, bool along_inner, bool any_order, int64_t itemsize) {
  const int64_t n = walk.inner.size;
  const bool runs = walk.along.size > 1 && walk.inner.index == 0;
  walk.block = n;
  if (walk.along.size > 1 && !runs) {
    walk.block = std::max<int64_t>(kTable / itemsize / std::max<int64_t>(walk.size, 1), 32);
  }
  const bool long_runs = runs && n * itemsize >= kLeastRun && walk.along.size >= 8;
  if (long_runs) {
    const bool split = !any_order && walk.count < 8;
    if (split && walk.count * walk.along.size * n > kGrain) walk.owners = num_threads();
  } else if (walk.count < 8 && (!along_inner || any_order)) {
    walk.block = std::min(walk.block,
                          std::max<int64_t>(n / 8, along_inner ? kLeastPart : 32));
  }
  walk.block = std::min(walk.block, n);
  walk.blocks = (n - 1) / walk.block + 1;
  walk.part = walk.along.size;
  if (any_order && walk.count * walk.blocks < 8) walk.part = (walk.part + 7) / 8;
  walk.parts = (walk.along.size - 1) / walk.part + 1;
}

}  // namespace

IndexWalk walk_of(const Tensor& table, const Tensor& index, const Tensor& other,
                  int64_t dim, bool any_order) {
  IndexWalk walk;
  walk.dim = dim;
  walk.size = table.ndim() ? table.size(dim) : 1;
  walk.step = step_of(table, size_t(dim));
  std::vector<Axis> axes;
  size_t dim_at = SIZE_MAX;
  for (size_t d = 0; d < index.sizes().size(); ++d) {
    Axis axis{index.sizes()[d], step_of(index, d), step_of(table, d), step_of(other, d)};
    if (axis.size == 1) continue;
    if (int64_t(d) == dim) {
      axis.table = 0;
      dim_at = axes.size();
    } else if (!axes.empty() && dim_at + 1 != axes.size() && merges(axes.back(), axis)) {
      axis.size *= axes.back().size;
      axes.back() = axis;
      continue;
    }
    axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back(Axis{});
  size_t inner = axes.size() - 1;
  if (axes[inner].size < (inner == dim_at ? 6 : 4)) {
    for (size_t d = inner; d-- > 0;) {
      if (axes[d].size > axes[inner].size) inner = d;
    }
  }
  for (size_t d = 0; d < axes.size(); ++d) {
    if (d == inner) {
      walk.inner = axes[d];
    } else if (d == dim_at) {
      walk.along = axes[d];
    } else {
      walk.outer.push_back(axes[d]);
      walk.count *= axes[d].size;
    }
  }
  split(walk, inner == dim_at, any_order, itemsize(table.dtype()));
  return walk;
}

namespace {

// A row stops at the first index that is not in the table.
void check_done(const IndexWalk& walk, const int64_t* index, int64_t done, int64_t n) {
  PKG_CHECK(done == n, IndexError, "index ", index[done * walk.inner.index],
            " is out of bounds for dimension ", walk.dim, " with size ", walk.size);
}

void run_task(const IndexWalk& walk, const int64_t* index, int64_t task, StopCounter& stop,
              IndexRow row) {
  Axis at{0, 0, 0, 0};  // the task's first element
  const auto add = [&at](const Axis& axis, int64_t i) {
    at.index += i * axis.index;
    at.table += i * axis.table;
    at.other += i * axis.other;
  };
  // A slot that is not in the table is the last owner's, who finds that out.
  const int64_t owner = task % walk.owners;
  task /= walk.owners;
  const uint64_t share = uint64_t(walk.size) / uint64_t(walk.owners) + 1;
  const uint64_t first_slot = uint64_t(owner) * share;
  const uint64_t last = owner + 1 < walk.owners ? share - 1 : UINT64_MAX - first_slot;
  const int64_t from = task % walk.parts * walk.part;
  task /= walk.parts;
  int64_t first = task % walk.blocks * walk.block;
  task /= walk.blocks;
  for (size_t d = walk.outer.size(); d-- > 0; task /= walk.outer[d].size) {
    add(walk.outer[d], task % walk.outer[d].size);
  }
  add(walk.along, from);
  add(walk.inner, first);
  const int64_t past = std::min(walk.inner.size, first + walk.block);
  for (; first < past; first += kMostAtOnce, add(walk.inner, kMostAtOnce)) {
    const int64_t n = std::min(kMostAtOnce, past - first);
    Axis start = at;
    const int64_t to = std::min(walk.along.size, from + walk.part);
    for (int64_t a = from; a < to; ++a) {
      if (walk.owners == 1 || uint64_t(index[start.index]) - first_slot <= last) {
        const int64_t done = row(start.index, start.table, start.other, n);
        check_done(walk, index + start.index, done, n);
        stop(n);
      }
      start.index += walk.along.index;
      start.table += walk.along.table;
      start.other += walk.along.other;
    }
  }
}

// The same of tasks of one row each, which all lie one step apart: to find out where each
// one starts would take as long as a short row.
void run_rows(const IndexWalk& walk, const int64_t* index, int64_t begin, int64_t end,
              StopCounter& stop, IndexRow row) {
  const Axis& outer = walk.outer[0];
  const int64_t n = walk.inner.size;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t done = row(i * outer.index, i * outer.table, i * outer.other, n);
    check_done(walk, index + i * outer.index, done, n);
    stop(n);
  }
}

}  // namespace

void for_rows(const IndexWalk& walk, const Tensor& index, IndexRow row) {
  if (index.numel() == 0) return;
  const int64_t* values = index.data<int64_t>();
  const int64_t tasks = walk.count * walk.blocks * walk.parts * walk.owners;
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 * tasks / index.numel());
  const bool one_row_each = walk.outer.size() == 1 && tasks == walk.count &&
                            walk.along.size == 1 && walk.inner.size <= kMostAtOnce;
  parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
    StopCounter stop;
    if (one_row_each) return run_rows(walk, values, begin, end, stop, row);
    for (int64_t task = begin; task < end; ++task) run_task(walk, values, task, stop, row);
  });
}

int64_t span_of(const Tensor& table) {
  if (table.numel() == 0) return 0;
  int64_t span = 1;
  for (size_t d = 0; d < table.sizes().size(); ++d) {
    span += (table.sizes()[d] - 1) * table.strides()[d];
  }
  return span;
}

Tensor as_index(const Tensor& index) {
  if (index.dtype() == DType::Int64) return index;
  const Tensor dense = as_dtype(once(index), DType::Int64);
  Shape strides = dense.strides();
  for (size_t d = 0; d < strides.size(); ++d) {
    if (dense.sizes()[d] != index.sizes()[d]) strides[d] = 0;
  }
  return alias(dense, index.sizes(), strides, dense.offset());
}

}  // namespace pkg

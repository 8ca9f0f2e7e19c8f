// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/slot_loops.h: the loops that write or add to slots of a table.  For
// gather_scatter.cc and half_sums.cc.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/cpu/index/index_walk.h"
#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/index/sums.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/gather.h"

namespace pkg {

// The rows of both take their steps by value: bytes that are written may be anything, also
// what a closure holds.  A branch that is never taken costs less than a look at the indices
// before.
struct SlotSteps {
  int64_t index, table, other;  // in a row
  int64_t dim;                  // of the table
  uint64_t size;                // of it there; negative indices are larger
  explicit SlotSteps(const IndexWalk& walk)
      : index(walk.inner.index),
        table(walk.inner.table),
        other(walk.inner.other),
        dim(walk.step),
        size(uint64_t(walk.size)) {}
};

// Asks for the runs of a far table that the index names next.
class SlotsAhead {
 public:
  SlotsAhead(const IndexWalk& walk, const Tensor& table, const Tensor& index)
      : by_(walk.along.index),
        last_((walk.along.size - 1) * by_),
        step_(walk.step),
        size_(uint64_t(walk.size)),
        values_(index.data<int64_t>()) {
    const IndexWalk::Axis& inner = walk.inner;
    on_ = inner.index == 0 && inner.table == 1 && by_ > 0 && walk.owners == 1 &&
          table.numel() * itemsize(table.dtype()) > kFarBytes;
    for (const IndexWalk::Axis& axis : walk.outer) on_ &= axis.index == 0;
  }
  // Beside a run of n elements at index offset i; `table` is where slot 0 has it.
  template <class T>
  void fetch(const T* table, int64_t i, int64_t n) const {
    if (!on_) return;
    const auto slot = uint64_t(values_[std::min(i + 2 * by_, last_)]);
    if (slot >= size_) return;
    fetch_run(reinterpret_cast<const char*>(table + int64_t(slot) * step_),
              n * int64_t(sizeof(T)));
  }

 private:
  int64_t by_, last_, step_;
  uint64_t size_;
  const int64_t* values_;
  bool on_;
};

// The offsets of a task, one place of the outer dimensions.
struct SlotOffsets {
  int64_t index = 0, table = 0, other = 0;
  SlotOffsets(const IndexWalk& walk, int64_t task) {
    for (size_t d = walk.outer.size(); d-- > 0; task /= walk.outer[d].size) {
      const int64_t at = task % walk.outer[d].size;
      index += at * walk.outer[d].index;
      table += at * walk.outer[d].table;
      other += at * walk.outer[d].other;
    }
  }
};

template <class T, class S, class Put>
int64_t scatter_row(T* to, const S* from, const int64_t* index, const SlotSteps s,
                    int64_t n, Put put) {
  const auto run = [=](int64_t by, int64_t apart, int64_t dim, int64_t table) {
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = index[j * by];
      if (uint64_t(at) >= s.size) [[unlikely]]
        return j;
      T& slot = to[at * dim + j * table];
      slot = put(slot, from[j * apart]);
    }
    return n;
  };
  if (s.index == 1 && s.other == 1) {
    return s.dim == 1 && s.table == 0 ? run(1, 1, 1, 0) : run(1, 1, s.dim, s.table);
  }
  if (s.index != 0) return run(s.index, s.other, s.dim, s.table);
  if (uint64_t(*index) >= s.size) return 0;
  to += *index * s.dim;
  if (s.table == 1 && s.other == 1) {
    put_run(to, from, n, put);
  } else if (s.table == 1 && s.other == 0) {
    put_run<true>(to, from, n, put);
  } else if (s.table == 1) {
    constexpr int64_t kSome = 512, size = sizeof(S);
    S some[kSome];
    for (int64_t j = 0; j < n; j += kSome) {
      const int64_t count = std::min(kSome, n - j);
      moves_of(size).gather(reinterpret_cast<char*>(some),
                            reinterpret_cast<const char*>(from + j * s.other),
                            s.other * size, count);
      put_run(to + j, some, count, put);
    }
  } else {
    for (int64_t j = 0; j < n; ++j)
      to[j * s.table] = put(to[j * s.table], from[j * s.other]);
  }
  return n;
}

// Short runs that lie in order on both sides, or repeat one element of the source, one for each
// value of the index: many are written in one loop.  False of others.
template <class T, class S, class Put>
bool scatter_runs(const IndexWalk& walk, T* to, const S* from, const Tensor& index,
                  Put put) {
  constexpr int64_t kMost = 512;  // elements
  const IndexWalk::Axis &inner = walk.inner, &along = walk.along;
  const bool in_order = inner.index == 0 && inner.table == 1 && inner.other <= 1;
  if (!in_order || along.size < 2 || inner.size > kMost || walk.owners > 1) return false;
  const int64_t* values = index.data<int64_t>();
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / (along.size * inner.size));
  parallel_for(0, walk.count, grain, [&](int64_t task, int64_t end) {
    StopCounter stop;
    for (; task < end; ++task) {
      const SlotOffsets at(walk, task);
      const int64_t* value = values + at.index;
      int64_t done = 0;
      with_isa([=, &done, &along, run = inner.size, slots = uint64_t(walk.size),
                step = walk.step, same = inner.other == 0] {
        // Copies: a table of bytes may alias anything.
        const int64_t count = along.size, by = along.index, next = along.other;
        const int64_t length = run, dim = step;
        const uint64_t size = slots;
        const int64_t* slot = value;
        const S* first = from + at.other;
        T* const table = to + at.table;
        const auto each = [=](auto move) {
          int64_t i = 0;
          for (const S* x = first; i < count && uint64_t(slot[i * by]) < size;
               ++i, x += next) {
            move(table + slot[i * by] * dim, x);
          }
          return i;
        };
        if (same) {
          done = each([=](T* __restrict y, const S* x) {
            const S one = *x;
            for (int64_t k = 0; k < length; ++k) y[k] = put(y[k], one);
          });
        } else {
          done = each([=](T* __restrict y, const S* __restrict x) {
            for (int64_t k = 0; k < length; ++k) y[k] = put(y[k], x[k]);
          });
        }
      });
      PKG_CHECK(done == along.size, IndexError, "index ", value[done * along.index],
                " is out of bounds for dimension ", walk.dim, " with size ", walk.size);
      stop(along.size * inner.size);
    }
  });
  return true;
}

template <class T, class S, class Put>
void scatter_rows(const IndexWalk& walk, const Tensor& out, void* to, const void* from,
                  const Tensor& index, Put put) {
  const bool near = out.numel() * itemsize(out.dtype()) <= kFarBytes;
  if (near &&
      scatter_runs(walk, static_cast<T*>(to), static_cast<const S*>(from), index, put)) {
    return;
  }
  const SlotSteps steps(walk);
  const SlotsAhead ahead(walk, out, index);
  const int64_t* values = index.data<int64_t>();
  for_rows(walk, index, [&](int64_t i, int64_t table, int64_t other, int64_t n) {
    ahead.fetch(static_cast<T*>(to) + table, i, n);
    return scatter_row(static_cast<T*>(to) + table, static_cast<const S*>(from) + other,
                       values + i, steps, n, put);
  });
}

}  // namespace pkg

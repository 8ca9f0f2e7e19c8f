// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/gather_scatter.cc: gather, scatter, and slices of a dimension that an
// index names.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "dispatcher/library.h"
#include "kernels/cpu/index/index_walk.h"
#include "kernels/cpu/index/runs.h"
#include "kernels/cpu/index/sums.h"
#include "kernels/cpu/rows.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/gather.h"
#include "tensor/overlap.h"
#include "tensor/sixteen.h"

namespace pkg {
namespace {

// The rows of both take their steps by value: bytes that are written may be anything, also
// what a closure holds.  A branch that is never taken costs less than a look at the indices
// before.
struct Steps {
  int64_t index, table, other;  // in a row
  int64_t dim;                  // of the table
  uint64_t size;                // of it there; negative indices are larger
  explicit Steps(const IndexWalk& walk)
      : index(walk.inner.index),
        table(walk.inner.table),
        other(walk.inner.other),
        dim(walk.step),
        size(uint64_t(walk.size)) {}
};

// Asks for the runs of a far table that the index names next.
class Ahead {
 public:
  Ahead(const IndexWalk& walk, const Tensor& table, const Tensor& index)
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

template <class T>
int64_t gather_row(T* to, const T* from, const int64_t* index, const Steps s, int64_t n) {
  const auto run = [=](int64_t by, int64_t apart, int64_t dim, int64_t table) {
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = index[j * by];
      if (uint64_t(at) >= s.size) [[unlikely]]
        return j;
      to[j * apart] = from[at * dim + j * table];
    }
    return n;
  };
  if (s.index == 1 && s.other == 1) {
    return s.dim == 1 && s.table == 0 ? run(1, 1, 1, 0) : run(1, 1, s.dim, s.table);
  }
  if (s.index != 0) return run(s.index, s.other, s.dim, s.table);
  if (uint64_t(*index) >= s.size) return 0;
  from += *index * s.dim;
  if (s.table == 1 && s.other == 1) std::memcpy(to, from, size_t(n) * sizeof(T));
  else
    for (int64_t j = 0; j < n; ++j) to[j * s.other] = from[j * s.table];
  return n;
}

// The offsets of a task, one place of the outer dimensions.
struct Origin {
  int64_t index = 0, table = 0, other = 0;
  Origin(const IndexWalk& walk, int64_t task) {
    for (size_t d = walk.outer.size(); d-- > 0; task /= walk.outer[d].size) {
      const int64_t at = task % walk.outer[d].size;
      index += at * walk.outer[d].index;
      table += at * walk.outer[d].table;
      other += at * walk.outer[d].other;
    }
  }
};

// Short runs that lie in order, or in even steps in the table, one for each value of the index,
// of a table that stays in cache: many are moved in one loop.  False of others.
bool gather_runs(const Tensor& out, const Tensor& self, const IndexWalk& walk,
                 const Tensor& index) {
  const IndexWalk::Axis &inner = walk.inner, &along = walk.along;
  const int64_t size = itemsize(self.dtype()), bytes = inner.size * size;
  const bool in_order = inner.index == 0 && inner.other == 1;
  if (!in_order || along.size < 2 || bytes > kLongRun || self.numel() * size > kFarBytes) {
    return false;
  }
  const int64_t part = std::clamp<int64_t>(kGrain / 8 / inner.size, 1, along.size);
  const int64_t parts = (along.size - 1) / part + 1;
  const int64_t* values = index.data<int64_t>();
  const auto* from = static_cast<const char*>(self.data());
  auto* to = static_cast<char*>(out.data());
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / (part * inner.size));
  parallel_for(0, walk.count * parts, grain, [&](int64_t task, int64_t end) {
    StopCounter stop;
    for (; task < end; ++task) {
      const int64_t first = task % parts * part, n = std::min(part, along.size - first);
      const Origin at(walk, task / parts);
      const int64_t* value = values + at.index + first * along.index;
      const int64_t table = at.table, other = at.other + first * along.other;
      int64_t done = 0;
      with_isa([=, &done, by = along.index, slots = uint64_t(walk.size),
                step = walk.step * size, next = along.other * size, apart = inner.table,
                length = inner.size] {
        const char* const slot = from + table * size;
        char* place = to + other * size;
        const auto each = [&](auto move) {
          int64_t i = 0;
          for (; i < n && uint64_t(value[i * by]) < slots; ++i, place += next) {
            move(place, slot + value[i * by] * step);
          }
          done = i;
        };
        if (apart == 1) {
          return each([=](char* a, const char* b) { copy_run(a, b, bytes); });
        }
        visit_size(size, [&]<class T>(TypeTag<T>) {
          each([=](char* a, const char* b) {
#pragma GCC ivdep
            for (int64_t k = 0; k < length; ++k) {
              reinterpret_cast<T*>(a)[k] = reinterpret_cast<const T*>(b)[k * apart];
            }
          });
        });
      });
      PKG_CHECK(done == n, IndexError, "index ", value[done * along.index],
                " is out of bounds for dimension ", walk.dim, " with size ", walk.size);
      stop(n * inner.size);
    }
  });
  return true;
}

void gather_along(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.numel() == 0) return;
  const IndexWalk walk = walk_of(self, index, out, dim, true);
  if (gather_runs(out, self, walk, index)) return;
  const Steps steps(walk);
  const Ahead ahead(walk, self, index);
  const int64_t* values = index.data<int64_t>();
  visit_size(itemsize(self.dtype()), [&]<class T>(TypeTag<T>) {
    const auto* from = static_cast<const T*>(self.data());
    auto* to = static_cast<T*>(out.data());
    for_rows(walk, index, [&](int64_t i, int64_t table, int64_t other, int64_t n) {
      ahead.fetch(from + table, i, n);
      return gather_row(to + other, from + table, values + i, steps, n);
    });
  });
}

template <class T, class S, class Put>
int64_t scatter_row(T* to, const S* from, const int64_t* index, const Steps s, int64_t n,
                    Put put) {
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
      const Origin at(walk, task);
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
  const Steps steps(walk);
  const Ahead ahead(walk, out, index);
  const int64_t* values = index.data<int64_t>();
  for_rows(walk, index, [&](int64_t i, int64_t table, int64_t other, int64_t n) {
    ahead.fetch(static_cast<T*>(to) + table, i, n);
    return scatter_row(static_cast<T*>(to) + table, static_cast<const S*>(from) + other,
                       values + i, steps, n, put);
  });
}

// Copies the slots that an index names between tables that lie alike.
template <class T, class S>
void copy_slots(const IndexWalk& walk, void* to, const void* from, const Tensor& index) {
  const Steps steps(walk);
  const int64_t* values = index.data<int64_t>();
  for_rows(walk, index, [&](int64_t i, int64_t table, int64_t, int64_t n) {
    T* y = static_cast<T*>(to) + table;
    const S* x = static_cast<const S*>(from) + table;
    const auto slot_of = [&](int64_t j) { return values[i + j * steps.index]; };
    if (steps.index == 0 && steps.table == 1) {
      if (uint64_t(slot_of(0)) >= steps.size) return int64_t{0};
      const int64_t at = slot_of(0) * steps.dim;
      put_run(y + at, x + at, n, [](T, S value) { return T(float(value)); });
      return n;
    }
    for (int64_t j = 0; j < n; ++j) {
      if (uint64_t(slot_of(j)) >= steps.size) return j;
      const int64_t at = slot_of(j) * steps.dim + j * steps.table;
      y[at] = T(float(x[at]));
    }
    return n;
  });
}

// The positions of an index that name one slot, and how far apart they lie in the source.
struct Named {
  const int64_t* position;
  int64_t begin, end;
  int64_t last;  // of all slots
  int64_t step;

  // f(run) for the run of the source at each of them, of n elements.
  template <class H, class F>
  [[gnu::always_inline]] void each(const H* from, int64_t n, StopCounter& stop, F f) const {
    for (int64_t i = begin; i < end; ++i) {
      // The next one lies anywhere, and comes meanwhile.
      const H* const next = from + position[std::min(i + 2, last)] * step;
      fetch_run(reinterpret_cast<const char*>(next), n * int64_t(sizeof(H)));
      f(from + position[i] * step);
      stop(n);
    }
  }
};

constexpr int64_t kHalfRun = 512;  // elements that are added up in registers or cache

// Adds those runs to that of n elements of the table, which is rounded once.
template <class H>
void add_runs(H* to, const H* from, const Named& named, int64_t n, StopCounter& stop) {
  float sum[kHalfRun];
  std::copy_n(to, n, sum);
  named.each(from, n, stop, [&](const H* run) {
    for (int64_t i = 0; i < n; ++i) sum[i] += float(run[i]);
  });
  for (int64_t i = 0; i < n; ++i) to[i] = H(sum[i]);
}
// The same of at least sixteen, so many at a time.  The last ones overlap those before, and
// have sums of their own.
template <Isa level, class H>
void add_sixteens(H* to, const H* from, const Named& named, int64_t n, StopCounter& stop) {
  alignas(64) float sum[kHalfRun + kSixteen];
  const auto at = [n](int64_t k) { return std::min(k, n - kSixteen); };
  for (int64_t k = 0; k < n; k += kSixteen) Sixteen<level>::widen(sum + k, to + at(k));
  named.each(from, n, stop, [&](const H* run) {
    for (int64_t k = 0; k < n; k += kSixteen) {
      float value[kSixteen];
      Sixteen<level>::widen(value, run + at(k));
#pragma omp simd
      for (int64_t i = 0; i < kSixteen; ++i) sum[k + i] += value[i];
    }
  });
  for (int64_t k = 0; k < n; k += kSixteen) Sixteen<level>::narrow(to + at(k), sum + k);
}

// Whole runs that lie in order on both sides, slot by slot: each is widened, added to and
// rounded while it is in cache.  False where they do not lie so, or hardly any slot is named.
template <class H>
bool add_half_runs(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                   const Tensor& source) {
  constexpr int64_t kLeast = kSixteen, kSlots = 16;
  const IndexWalk::Axis &inner = walk.inner, &along = walk.along;
  const bool dense = inner.index == 0 && inner.table == 1 && inner.other == 1;
  if (!dense || inner.size < kLeast || walk.size > kSlots * along.size) return false;
  for (const IndexWalk::Axis& axis : walk.outer) {
    if (axis.index != 0 && axis.size > 1) return false;
  }
  // Positions in the index, in the order of their slots.
  const Tensor firsts = empty(Shape{walk.size + 1}, DType::Int64);
  const Tensor positions = empty(Shape{along.size}, DType::Int64);
  auto *first = firsts.data<int64_t>(), *position = positions.data<int64_t>();
  const int64_t* values = index.data<int64_t>();
  std::fill_n(first, walk.size + 1, 0);
  for (int64_t a = 0; a < along.size; ++a) {
    const int64_t slot = values[a * along.index];
    PKG_CHECK(uint64_t(slot) < uint64_t(walk.size), IndexError, "index ", slot,
              " is out of bounds for dimension ", walk.dim, " with size ", walk.size);
    ++first[slot];
  }
  for (int64_t slot = 0, sum = 0; slot <= walk.size; ++slot) {
    sum += std::exchange(first[slot], sum);
  }
  for (int64_t a = 0; a < along.size; ++a) position[first[values[a * along.index]]++] = a;
  // first[slot] is now where the positions of slot + 1 begin.
  const int64_t blocks = (inner.size - 1) / kHalfRun + 1, last = along.size - 1;
  auto* const to = static_cast<H*>(out.data());
  const auto* const from = static_cast<const H*>(source.data());
  const auto each = [&](int64_t task, int64_t end, auto add) {
    StopCounter stop;
    for (; task < end; ++task) {
      const int64_t slot = task % walk.size;
      const Named named{position, slot ? first[slot - 1] : 0, first[slot], last,
                        along.other};
      if (named.begin == named.end) continue;
      const int64_t block = task / walk.size % blocks, begin = block * kHalfRun;
      int64_t rest = task / walk.size / blocks, table = begin, other = begin;
      for (size_t d = walk.outer.size(); d-- > 0; rest /= walk.outer[d].size) {
        table += rest % walk.outer[d].size * walk.outer[d].table;
        other += rest % walk.outer[d].size * walk.outer[d].other;
      }
      add(to + table + slot * walk.step, from + other, named,
          std::min(kHalfRun, inner.size - begin), stop);
    }
  };
  const int64_t elements = along.size * std::min(kHalfRun, inner.size) / walk.size;
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(1, elements));
  parallel_for(0, walk.count * blocks * walk.size, grain, [&](int64_t task, int64_t end) {
    const bool done = with_sixteen([&]<Isa level>(AtIsa<level>) {
      each(task, end,
           [](H* row, const H* runs, const Named& named, int64_t n, StopCounter& stop) {
             if (n < kSixteen) add_runs(row, runs, named, n, stop);
             else add_sixteens<level>(row, runs, named, n, stop);
           });
    });
    if (!done) each(task, end, add_runs<H>);
  });
  return true;
}

// A few elements: the slots that are named are found by their hash, so that of a large
// table no others are seen.  False where it is not so.
bool add_few_halves(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                    const Tensor& source) {
  constexpr int64_t kFew = 8, kMost = 1 << 17;
  const int64_t n = index.numel();
  const bool few = n * kFew <= out.numel() && n <= kMost;
  if (!few || !walk.outer.empty() || walk.inner.index == 0) return false;
  const int bits = std::bit_width(uint64_t(2 * n));
  const Tensor heads = empty(Shape{int64_t{1} << bits}, DType::Int32);
  const Tensor numbers = empty(Shape{n}, DType::Int32),
               places = empty(Shape{n}, DType::Int64);
  const Tensor values = empty(Shape{n}, out.dtype()),
               sums = empty(Shape{n}, DType::Float32);
  auto *head = heads.data<int32_t>(), *number = numbers.data<int32_t>();
  auto* const place = places.data<int64_t>();
  auto* const value = static_cast<uint16_t*>(values.data());
  auto* const table = static_cast<uint16_t*>(out.data());
  const int64_t* slots = index.data<int64_t>();
  std::fill_n(head, heads.numel(), -1);
  const uint64_t mask = uint64_t(heads.numel()) - 1;
  int32_t found = 0;
  int64_t i = 0;
  for (int64_t a = 0; a < walk.along.size; ++a) {
    for (int64_t j = 0; j < walk.inner.size; ++j, ++i) {
      const int64_t slot = slots[a * walk.along.index + j * walk.inner.index];
      PKG_CHECK(uint64_t(slot) < uint64_t(walk.size), IndexError, "index ", slot,
                " is out of bounds for dimension ", walk.dim, " with size ", walk.size);
      const int64_t at = slot * walk.step + a * walk.along.table + j * walk.inner.table;
      uint64_t h = uint64_t(at) * 0x9e3779b97f4a7c15u >> (64 - bits);
      while (head[h] >= 0 && place[head[h]] != at) h = (h + 1) & mask;
      if (head[h] < 0) {
        head[h] = found;
        place[found] = at;
        value[found++] = table[at];
      }
      number[i] = head[h];
    }
  }
  copy_into(sums, values);
  auto* const sum = sums.data<float>();
  const Tensor given = as_dtype(source, DType::Float32);
  const auto* from = given.data<float>();
  i = 0;
  for (int64_t a = 0; a < walk.along.size; ++a) {
    for (int64_t j = 0; j < walk.inner.size; ++j, ++i) {
      sum[number[i]] += from[a * walk.along.other + j * walk.inner.other];
    }
  }
  copy_into(values, sums);
  for (int32_t k = 0; k < found; ++k) table[place[k]] = value[k];
  return true;
}

// Adds to a table of halves with few gaps, see Note [Sums of halves].  Where few slots are
// named, the others are not touched.
template <class T>
void add_halves(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                const Tensor& source) {
  if (add_half_runs<T>(out, walk, index, source)) return;
  if (add_few_halves(out, walk, index, source)) return;
  const Tensor sums = alias(empty(Shape{span_of(out)}, DType::Float32), out.sizes(),
                            out.strides(), 0);
  const bool most = 2 * index.numel() >= out.numel();
  if (most) copy_into(sums, out);
  else copy_slots<float, T>(walk, sums.data(), out.data(), index);
  if (walk.inner.index == 0) {  // runs, which are converted as they are added
    scatter_rows<float, T>(walk, sums, sums.data(), source.data(), index,
                           [](float sum, T value) { return sum + float(value); });
  } else {
    scatter_rows<float, float>(walk, sums, sums.data(),
                               as_dtype(source, DType::Float32).data(), index,
                               [](float sum, float value) { return sum + value; });
  }
  if (most) copy_into(out, sums);
  else copy_slots<T, float>(walk, out.data(), sums.data(), index);
}

// A copy of what shares memory with `out`: it is read before anything is written.
Tensor apart_from(const Tensor& t, const Tensor& out) {
  if (!share_memory(t, out)) return t;
  const Tensor copy = empty(t.spec());
  copy_into(copy, t);
  return copy;
}

// Writes or adds src, which may be larger than index, or one number for all.
void scatter_along(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src, bool add) {
  Tensor source = apart_from(as_dtype(src, out.dtype()), out);
  const Tensor places = apart_from(index, out);
  if (!out.is_same(self)) copy_into(out, self);
  if (places.numel() == 0) return;
  if (add && is_reduced(out.dtype()) && source.ndim() > 0) source = as_contiguous(source);
  const bool rows = dim + 1 < places.ndim() && places.strides().back() == 0;
  if (rows && source.ndim() > 0 && source.strides().back() != 1) {
    source = as_contiguous(source);
  }
  write_dense(out, add, rows ? places.numel() : 0, [&](const Tensor& table) {
    write_slots(table, walk_of(table, places, source, dim, false), places, source, add);
  });
}

}  // namespace

void write_slots(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                 const Tensor& source, bool add) {
  void* to = out.data();
  if (!add) {
    return visit_size(itemsize(out.dtype()), [&]<class T>(TypeTag<T>) {
      scatter_rows<T, T>(walk, out, to, source.data(), index,
                         [](T, T value) { return value; });
    });
  }
  if (out.dtype() == DType::Float16) return add_halves<Half>(out, walk, index, source);
  if (out.dtype() == DType::BFloat16) return add_halves<BFloat16>(out, walk, index, source);
  visit_sums(out.dtype(), [&]<class T>(TypeTag<T>) {
    scatter_rows<T, T>(walk, out, to, source.data(), index,
                       [](T a, T b) { return sum_of(a, b); });
  });
}

namespace {

void gather_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  gather_along(out, self, wrap_dim("gather", dim, self.ndim()), as_index(index));
}
template <bool add>
void scatter_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src) {
  scatter_along(out, self, wrap_dim("scatter", dim, self.ndim()), as_index(index), src,
                add);
}

// The first n of the places without those that were there before; how many are left.
int64_t drop_repeated(int64_t* places, int64_t n, int64_t size) {
  const RunBuffer<bool> seen(size, false);
  int64_t left = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::exchange(seen.data()[places[i]], true)) places[left++] = places[i];
  }
  return left;
}

// The vector `index`, checked and counted from the start, as an index of whole slices; if
// `once`, of many that name few no slice is named again.
Tensor slices_index(const Tensor& self, int64_t dim, const Tensor& index,
                    bool once = false) {
  const Tensor given = as_contiguous(as_dtype(index, DType::Int64));
  const int64_t n = given.numel(), size = self.size(dim);
  Tensor counted = empty(given.sizes(), DType::Int64);
  const int64_t* from = given.data<int64_t>();
  int64_t* to = counted.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    PKG_CHECK(from[i] >= -size && from[i] < size, IndexError, "index ", from[i],
              " is out of bounds for dimension ", dim, " with size ", size);
    to[i] = from[i] < 0 ? from[i] + size : from[i];
  }
  Shape sizes = self.sizes(), strides(self.sizes().size(), 0);
  sizes[size_t(dim)] = once && n > size ? drop_repeated(to, n, size) : n;
  strides[size_t(dim)] = 1;
  return alias(counted, sizes, strides, 0);
}
void slices_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim("_slices", dim, self.ndim());
  // What is read several times is brought first.
  const bool apart = self.ndim() > 0 && self.strides().back() != 1;
  const Tensor source = apart && out.numel() > self.numel() ? as_contiguous(self) : self;
  gather_along(out, source, d, slices_index(self, d, index));
}
void slices_put_kernel(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                       const Tensor& source, bool accumulate) {
  const int64_t d = wrap_dim("_slices_put", dim, self.ndim());
  const bool same = !accumulate && source.ndim() == 0;
  scatter_along(out, self, d, slices_index(self, d, index, same), source, accumulate);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("gather", gather_kernel);
  m.impl("scatter_add", scatter_kernel<true>);
  m.impl("_scatter", scatter_kernel<false>);
  m.impl("_slices", slices_kernel);
  m.impl("_slices_put", slices_put_kernel);
}

}  // namespace
}  // namespace pkg

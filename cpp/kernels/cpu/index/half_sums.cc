// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/half_sums.cc: sums of 16-bit floats in slots: Note [Sums of halves] in
// sums.h.
#include <bit>

#include "base/error.h"
#include "kernels/cpu/index/slot_loops.h"
#include "kernels/cpu/rows.h"
#include "tensor/sixteen.h"

namespace pkg {
namespace {

// Copies the slots that an index names between tables that lie alike.
template <class T, class S>
void copy_slots(const IndexWalk& walk, void* to, const void* from, const Tensor& index) {
  const SlotSteps steps(walk);
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

}  // namespace

void add_to_halves(const Tensor& out, const IndexWalk& walk, const Tensor& index,
                   const Tensor& source) {
  if (out.dtype() == DType::Float16) add_halves<Half>(out, walk, index, source);
  else add_halves<BFloat16>(out, walk, index, source);
}

}  // namespace pkg

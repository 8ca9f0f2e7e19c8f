// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/searching.cc: where values stand in a sorted vector.
//
// Note [Search of several]
// The steps of a search are the same whatever the values are: of what is left, the half that
// a value is not in is skipped.  So some values are searched for at once, step by step, and
// nothing is guessed.
#include "base/isa.h"
#include "dispatcher/library.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"
#include "tensor/promotion.h"

namespace pkg {
namespace {

constexpr int64_t kLanes = 16;

// How many of n sorted numbers are below each of kLanes values; `equals`: or equal to it.
// NaN stands behind every number, so a comparison with one is false.
template <bool equals, class T, class Place>
[[gnu::always_inline]] inline void count_below(const T* line, Place n, const T* value,
                                               Place* at) {
  const auto below = [](T x, T v) { return equals ? x <= v : x < v; };
  for (int64_t k = 0; k < kLanes; ++k) at[k] = 0;
  for (Place left = n; left > 1;) {
    const Place half = left / 2;
    for (int64_t k = 0; k < kLanes; ++k) {
      at[k] += below(line[at[k] + half - 1], value[k]) ? half : 0;
    }
    left -= half;
  }
  if (n > 0)
    for (int64_t k = 0; k < kLanes; ++k) at[k] += below(line[at[k]], value[k]);
}

// Calls put(i, k places, how many of them) for the places of all values.
template <bool equals, class Place, class T, class Put>
inline void search_some(const T* line, int64_t n, const T* values, int64_t begin,
                        int64_t end, Put put) {
  T value[kLanes];
  Place at[kLanes];
  for (int64_t i = begin; i < end; i += kLanes) {
    const int64_t lanes = std::min(kLanes, end - i);
    for (int64_t k = 0; k < kLanes; ++k) value[k] = values[i + (k < lanes ? k : 0)];
    count_below<equals>(line, Place(n), value, at);
    for (int64_t k = 0; k < kLanes; ++k) at[k] = value[k] != value[k] ? Place(n) : at[k];
    put(i, at, value, lanes);
  }
}
// Places of a line that is longer than most memories are compiled for no level.
template <bool equals, class T, class Put>
void search_all(const T* line, int64_t n, const T* values, int64_t count, Put put) {
  parallel_for(0, count, kGrain / 16, [&, line, n, values](int64_t begin, int64_t end) {
    if (n >= INT32_MAX) {
      return search_some<equals, int64_t>(line, n, values, begin, end, put);
    }
    with_isa([&put, line, n, values, begin, end] {
      search_some<equals, int32_t>(line, n, values, begin, end, put);
    });
  });
}

DType computed(const Tensor& a, const Tensor& b) {
  const DType type = result_type(a, b);
  return is_reduced(type) ? DType::Float32 : type;
}

// Calls f(line, values) of one type.
template <class F>
void visit_both(const Tensor& sorted, const Tensor& values, F f) {
  const DType type = computed(sorted, values);
  const Tensor line = as_contiguous(as_dtype(sorted, type));
  const Tensor wanted = as_contiguous(as_dtype(values, type));
  visit_compute("searchsorted", type,
                [&]<class T>(TypeTag<T>) { f(line.data<T>(), wanted.data<T>()); });
}

template <bool equals>
void search(Tensor& out, const Tensor& sorted, const Tensor& values) {
  int64_t* to = out.data<int64_t>();
  const int64_t n = sorted.numel(), count = values.numel();
  visit_both(sorted, values, [=]<class T>(const T* line, const T* value) {
    const auto put = [to](int64_t i, const auto* at, const T*, int64_t lanes) {
      for (int64_t k = 0; k < lanes; ++k) to[i + k] = at[k];
    };
    search_all<equals>(line, n, value, count, put);
  });
}
void search_kernel(Tensor& out, const Tensor& sorted, const Tensor& values, bool right) {
  if (right) search<true>(out, sorted, values);
  else search<false>(out, sorted, values);
}

// Whole numbers of a range that is not much larger than there are of them: a table says
// which of it are among the tests.  False if the range is larger.
template <class T>
bool look_up(const T* tests, int64_t n, const T* x, int64_t count, bool* to) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>) {
    return false;
  } else {
    const auto least = uint64_t(int64_t(tests[0]));
    const uint64_t range = uint64_t(int64_t(tests[n - 1])) - least;
    if (range > 1024 && (range > uint64_t(8 * n + count / 2) || range > 1 << 26))
      return false;
    const Tensor room = empty(Shape{int64_t(range) + 2}, DType::Bool);
    bool* table = room.data<bool>();
    std::fill_n(table, range + 2, false);
    // The last place stands for all numbers beyond.  Tests that are not sorted, against the
    // op's word, may be there.
    const auto place = [=](T v) {
      return std::min(uint64_t(int64_t(v)) - least, range + 1);
    };
    for (int64_t i = 0; i < n; ++i) table[place(tests[i])] = true;
    table[range + 1] = false;
    parallel_for(0, count, kGrain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = table[place(x[i])];
    });
    return true;
  }
}

void among_kernel(Tensor& out, const Tensor& elements, const Tensor& sorted) {
  bool* to = out.data<bool>();
  const int64_t n = sorted.numel(), count = elements.numel();
  if (n == 0) return std::fill_n(to, count, false), void();
  visit_both(sorted, elements, [=]<class T>(const T* line, const T* x) {
    if (count == 0 || look_up(line, n, x, count, to)) return;
    const auto put = [=](int64_t i, const auto* at, const T* value, int64_t lanes) {
      for (int64_t k = 0; k < lanes; ++k) {
        to[i + k] = at[k] < n && line[at[k]] == value[k];
      }
    };
    search_all<false>(line, n, x, count, put);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_search", search_kernel);
  m.impl("_among", among_kernel);
}

}  // namespace
}  // namespace pkg

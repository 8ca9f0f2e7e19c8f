// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/joining.cc: cat and stack.
#include "dispatcher/library.h"
#include "kernels/cpu/index/runs.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

constexpr int64_t kBytes = 4 * kGrain;  // that are worth a task
constexpr int64_t kShortRun = 32;       // bytes

// The runs of which a row of the result is made, one of each tensor: all are row-major and
// of its dtype.
struct Run {
  const char* from;
  int64_t bytes;
};
using Runs = SmallVector<Run, 8>;

// Runs [begin, end) of all, counted through the rows.
[[gnu::always_inline]] inline void copy_runs(char* to, const Run* runs, int64_t n_runs,
                                             int64_t begin, int64_t end) {
  int64_t row = begin / n_runs, next = begin % n_runs;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t bytes = runs[next].bytes;
    const char* from = runs[next].from + row * bytes;
    if (bytes > kLongRun) move_bytes(to, from, bytes);
    else copy_run(to, from, bytes);
    to += bytes;
    if (++next == n_runs) {
      next = 0;
      ++row;
    }
  }
}

// The same of two tensors of which a run is one element: stack(-1).
template <class T>
void interleave(T* to, const T* first, const T* second, int64_t n) {
  with_isa([=] {
    const int64_t count = n;
    T* __restrict y = to;
    const T* __restrict a = first;
    const T* __restrict b = second;
    for (int64_t i = 0; i < count; ++i) {
      y[2 * i] = a[i];
      y[2 * i + 1] = b[i];
    }
  });
}
bool join_elements(const Tensor& out, const Runs& runs, int64_t rows) {
  const int64_t size = itemsize(out.dtype());
  if (runs.size() != 2 || runs[0].bytes != size || runs[1].bytes != size) return false;
  visit_size(size, [&]<class T>(TypeTag<T>) {
    auto* const to = static_cast<T*>(out.data());
    const auto* first = reinterpret_cast<const T*>(runs[0].from);
    const auto* second = reinterpret_cast<const T*>(runs[1].from);
    parallel_for(0, rows, kGrain, [=](int64_t begin, int64_t end) {
      interleave(to + 2 * begin, first + begin, second + begin, end - begin);
    });
  });
  return true;
}

// Whether the tensors were joined row by row.
bool join_rows(const Tensor& out, const TensorList& tensors, int64_t rows) {
  Runs runs;
  TensorList copies;  // better than to place elements one by one
  int64_t row = 0;
  for (const Tensor& given : tensors) {
    if (given.numel() == 0) continue;
    Tensor t = given;
    if (t.dtype() != out.dtype()) return false;
    const int64_t bytes = t.numel() / rows * itemsize(out.dtype());
    if (!t.is_contiguous()) {
      if (bytes > kShortRun) return false;
      t = as_contiguous(t);
      copies.push_back(t);
    }
    runs.push_back({static_cast<const char*>(t.data()), bytes});
    row += bytes;
  }
  const auto n = int64_t(runs.size());
  if (n == 0) return true;
  if (join_elements(out, runs, rows)) return true;
  if (row / n > kBytes && rows * n < 16) return false;  // to be split inside of runs
  auto* const to = static_cast<char*>(out.data());
  const int64_t grain = std::max<int64_t>(1, kBytes * n / row);
  parallel_for(0, rows * n, grain, [&, to, row, n](int64_t begin, int64_t end) {
    char* at = to + begin / n * row;
    for (int64_t i = 0; i < begin % n; ++i) at += runs[size_t(i)].bytes;
    with_isa([at, begin, end, n, list = &runs[0]] { copy_runs(at, list, n, begin, end); });
  });
  return true;
}

// Along dimension d, which the tensors have (cat) or not (stack).
void join(Tensor& out, const TensorList& tensors, size_t d, bool theirs) {
  if (out.numel() == 0) return;
  int64_t rows = 1;
  for (size_t i = 0; i < d; ++i) rows *= out.sizes()[i];
  if (out.is_contiguous() && join_rows(out, tensors, rows)) return;
  Shape strides = out.strides();
  if (!theirs) strides.erase(d);
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    copy_into(alias(out, t.sizes(), strides, out.offset() + at * out.strides()[d]), t);
    at += theirs ? t.sizes()[d] : 1;
  }
}

void cat_kernel(Tensor& out, const TensorList& tensors, int64_t dim) {
  join(out, tensors, size_t(wrap_dim("cat", dim, out.ndim())), true);
}

void stack_kernel(Tensor& out, const TensorList& tensors, int64_t dim) {
  join(out, tensors, size_t(wrap_dim("stack", dim, out.ndim())), false);
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("cat", cat_kernel);
  m.impl("stack", stack_kernel);
}

}  // namespace
}  // namespace pkg

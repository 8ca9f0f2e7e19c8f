// SPDX-License-Identifier: Apache-2.0
// scheduler/parallel.h: splits a loop over the pool.  Called by kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/function_ref.h"

namespace pkg {

/// Elements of cheap work below which splitting does not pay.
inline constexpr int64_t kGrain = 32768;

/// The same where an element costs one core so many nanoseconds (a float32 of a + b 0.06,
/// of exp 0.16): what takes two microseconds.
constexpr int64_t grain_for(double nanoseconds) {
  constexpr double kGrainNanoseconds = 2000;
  if (nanoseconds < kGrainNanoseconds * 1e-12) return int64_t{1000000000000};
  return std::max<int64_t>(1, int64_t(kGrainNanoseconds / nanoseconds));
}

/// Whether this thread runs a chunk of a parallel_for.
bool in_parallel_region() noexcept;

namespace detail {
void parallel_run(int64_t begin, int64_t end, int64_t grain,
                  FunctionRef<void(int64_t, int64_t)> fn);
}  // namespace detail

/// Calls fn(b, e) for chunks that cover [begin, end), on the caller and workers, and
/// returns when all are done.  The caller waits for no worker that has not begun; one that
/// sleeps is woken for eight grains or more, for less where that would have paid several
/// times before, and always with a grain of 1, where an element may be any amount of work.
/// With one thread, nested and without a worker all of it runs on the caller.  Results may
/// not depend on the borders of chunks, which are multiples of 64 from `begin` where there
/// are many elements, so that a thread's vectors do not straddle cache lines.  The error of
/// the first failing chunk is thrown here, later chunks may be skipped; there are stop
/// points between chunks (scheduler/stop_point.h).
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& fn) {
  if (begin >= end) return;
  if (end - begin <= grain) {
    fn(begin, end);
    return;
  }
  detail::parallel_run(begin, end, grain, fn);
}

}  // namespace pkg

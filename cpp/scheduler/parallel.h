// SPDX-License-Identifier: Apache-2.0
// scheduler/parallel.h: splits a loop over the pool.  Called by kernels.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace pkg {

/// Elements of cheap work below which splitting does not pay.
inline constexpr int64_t kGrain = 32768;

/// Whether this thread runs a chunk of a parallel_for.
bool in_parallel_region() noexcept;

namespace detail {
void parallel_run(int64_t begin, int64_t end, int64_t grain,
                  FunctionRef<void(int64_t, int64_t)> fn);
}  // namespace detail

/// Calls fn(b, e) for chunks that cover [begin, end), on the caller and idle workers,
/// and returns when all are done.  With one thread, and nested, all of them run on the
/// caller, a range of one grain in one call.  Chunk boundaries depend on range, grain and
/// num_threads() alone.  The error of the first failing chunk is thrown here, later chunks
/// may be skipped; there are stop points between chunks (scheduler/stop_point.h).
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

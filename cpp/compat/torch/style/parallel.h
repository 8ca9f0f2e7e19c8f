// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/parallel.h: at::parallel_for on the core's threads.
#pragma once

#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"

namespace at {

/// Calls f(begin, end) for parts of the range, on several threads.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& f) {
  ::pkg::parallel_for(begin, end, grain_size, f);
}
inline int get_num_threads() { return ::pkg::num_threads(); }

}  // namespace at

// SPDX-License-Identifier: Apache-2.0
// scheduler/cpu_count.h: how many CPUs the process may use.  Called when the pool is
// made.
#pragma once

namespace pkg {

/// CPUs in the affinity mask, limited by the cgroup quota; at least 1.
int available_cpus();
/// Whether there were several when the library was loaded.  Not a static of a function: a
/// fork while another thread makes it would leave its guard held in the child for ever.
extern const bool g_several_cpus;

/// PKG_NUM_THREADS, or available_cpus().
int default_num_threads();

}  // namespace pkg

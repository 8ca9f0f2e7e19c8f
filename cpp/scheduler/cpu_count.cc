// SPDX-License-Identifier: Apache-2.0
// scheduler/cpu_count.cc: hardware_concurrency() ignores affinity and container
// quotas, and a pool that is too large is slower than one that is too small.
#include "scheduler/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "scheduler/pool.h"

namespace pkg {
namespace {

int affinity_cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

// Quota in CPUs, or a large number when there is none.
double cgroup_cpus() {
  constexpr double kNone = 1e9;
  std::string quota;
  double period = 0;
  std::ifstream v2("/sys/fs/cgroup/cpu.max");  // "max 100000" or "150000 100000"
  if (v2 >> quota >> period) {
    return quota == "max" || period <= 0 ? kNone : std::atof(quota.c_str()) / period;
  }
  double us = 0;
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (v1_quota >> us && v1_period >> period && us > 0 && period > 0) return us / period;
  return kNone;
}

}  // namespace

int available_cpus() {
  const double quota = std::ceil(cgroup_cpus());
  return std::max(1, static_cast<int>(std::min<double>(affinity_cpus(), quota)));
}

const bool g_several_cpus = available_cpus() > 1;

int default_num_threads() {
  constexpr int kMax = detail::Pool::kMaxThreads;
  const char* text = std::getenv("PKG_NUM_THREADS");
  if (!text || !*text) return std::min(available_cpus(), kMax);
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  PKG_CHECK(*end == '\0' && n >= 1 && n <= kMax, ValueError,
            "[num_threads] expected PKG_NUM_THREADS to be an integer from 1 to ", kMax,
            ", got '", text, "'");
  return static_cast<int>(n);
}

}  // namespace pkg

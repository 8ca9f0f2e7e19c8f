// SPDX-License-Identifier: Apache-2.0
// tests/benchmarks/walkthrough/ours.cc: pkg's part of what measure.py does in C++.
#include "scheduler/scheduler.h"
#include "through.h"

extern "C" [[gnu::visibility("default")]] double empty_jobs(int submitters, int jobs) {
  return time_through(submitters, jobs, [](auto job) { pkg::submit(std::move(job)); });
}

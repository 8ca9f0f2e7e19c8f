// SPDX-License-Identifier: Apache-2.0
// tensor/settings.cc: settings and counts by plain values and names.
#include "tensor/settings.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/isa.h"
#include "base/thread_local.h"
#include "scheduler/scheduler.h"
#include "tensor/allocator.h"
#include "tensor/generator.h"

namespace pkg::settings {

void manual_seed(int64_t seed) { pkg::manual_seed(uint64_t(seed)); }
int64_t initial_seed() { return int64_t(random_state().seed); }
int64_t random_position() { return int64_t(random_state().first); }
void set_random_state(int64_t seed, int64_t position) {
  pkg::set_random_state({uint64_t(seed), uint64_t(position)});
}
void set_default_dtype(const std::string& name) {
  const auto dtype = dtype_from_name(name);
  if (!dtype) throw TypeError("[set_default_dtype] expected a dtype, got '" + name + "'.");
  pkg::set_default_dtype(*dtype);
}
std::string isa_name() { return name_of(isa()); }
void set_isa(const std::string& name) {
  for (Isa isa : {Isa::Baseline, Isa::V3, Isa::V4}) {
    if (name == name_of(isa)) return pkg::set_isa(isa);
  }
  throw ValueError("[set_isa] expected 'baseline', 'v3' or 'v4', got '" + name + "'.");
}
int64_t system_allocations() { return allocator_stats().system_allocations; }
int64_t bytes_in_use() { return allocator_stats().bytes_in_use; }
int64_t peak_bytes() { return allocator_stats().peak_bytes; }
std::map<std::string, int64_t> scheduler_stats() {
  const SchedulerStats s = pkg::scheduler_stats();
  return {{"threads", s.threads},     {"submitted", s.submitted},
          {"completed", s.completed}, {"failed", s.failed},
          {"cancelled", s.cancelled}, {"inline_runs", s.inline_runs}};
}
int64_t live_tensors() { return live_count(Live::Tensors); }
int64_t live_events() { return live_count(Live::Events); }
int64_t live_streams() { return live_count(Live::Streams); }
int64_t live_nodes() { return live_count(Live::Nodes); }

}  // namespace pkg::settings

// SPDX-License-Identifier: Apache-2.0
// tensor/settings.h: settings and counts of the runtime by plain values and names, as
// languages set and show them.  The bindings wrap what stands here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace pkg::settings {

/// Restarts the default random stream.
void manual_seed(int64_t seed);
/// Seed of the default random stream.
int64_t initial_seed();
/// How many counter values of the random stream are used up.
int64_t random_position();
/// Puts the default random stream to a place it had before.
void set_random_state(int64_t seed, int64_t position);
/// Makes a floating type the dtype of Python's floats and of new tensors.
void set_default_dtype(const std::string& name);
/// Instruction set in use: baseline, v3 or v4.
std::string isa_name();
/// Forces an instruction set for the whole process; ValueError above what the CPU has.
void set_isa(const std::string& name);
/// Calls of the allocator to the system since start.
int64_t system_allocations();
/// Bytes handed out now.
int64_t bytes_in_use();
/// Highest number of bytes handed out so far.
int64_t peak_bytes();
/// Dict: threads alive; tasks submitted, completed, failed, cancelled, inline_runs.
std::map<std::string, int64_t> scheduler_stats();
/// Tensor objects alive, for leak tests.
int64_t live_tensors();
/// Tasks and other events alive, for leak tests.
int64_t live_events();
/// Streams alive, for leak tests.
int64_t live_streams();
/// Graph nodes alive, for leak tests.
int64_t live_nodes();

}  // namespace pkg::settings

// config.i: facts about the build, the processor and memory.
%{
#include "base/build_info.h"
#include "base/isa.h"
#include "tensor/generator.h"
#include "tensor/allocator.h"
#include "base/thread_local.h"
%}
namespace pkg {
/// Version of the core.
std::string version();
/// The compiler and its version.
std::string compiler_version();
/// Compile flags of the core.
std::string build_flags();
/// Value of _GLIBCXX_USE_CXX11_ABI, which C++ extensions must share.
int cxx11_abi();
/// Returns the allocator's cached blocks to the system.
void empty_cache();
}
%inline %{
/// Restarts the default random stream.
void manual_seed(int64_t seed) { pkg::manual_seed(uint64_t(seed)); }
/// Seed of the default random stream.
int64_t initial_seed() { return int64_t(pkg::random_state().seed); }
/// How many counter values of the random stream are used up.
int64_t random_position() { return int64_t(pkg::random_state().first); }
/// Puts the default random stream to a place it had before.
void set_random_state(int64_t seed, int64_t position) {
  pkg::set_random_state({uint64_t(seed), uint64_t(position)});
}
/// Makes a floating type the dtype of Python's floats and of new tensors.
void set_default_dtype(const std::string &name) {
  const auto dtype = pkg::dtype_from_name(name);
  if (!dtype) {
    throw pkg::TypeError("[set_default_dtype] expected a dtype, got '" + name + "'.");
  }
  pkg::set_default_dtype(*dtype);
}
/// Instruction set in use: baseline, v3 or v4.
std::string isa_name() { return pkg::name_of(pkg::isa()); }
/// Forces an instruction set for the whole process; ValueError above what the CPU has.
void set_isa(const std::string &name) {
  for (pkg::Isa isa : {pkg::Isa::Baseline, pkg::Isa::V3, pkg::Isa::V4}) {
    if (name == pkg::name_of(isa)) return pkg::set_isa(isa);
  }
  throw pkg::ValueError("[set_isa] expected 'baseline', 'v3' or 'v4', got '" + name + "'.");
}
/// Calls of the allocator to the system since start.
int64_t system_allocations() { return pkg::allocator_stats().system_allocations; }
/// Bytes handed out now.
int64_t bytes_in_use() { return pkg::allocator_stats().bytes_in_use; }
/// Highest number of bytes handed out so far.
int64_t peak_bytes() { return pkg::allocator_stats().peak_bytes; }
/// Tensor objects alive, for leak tests.
int64_t live_tensors() { return pkg::live_count(pkg::Live::Tensors); }
/// Tasks and other events alive, for leak tests.
int64_t live_events() { return pkg::live_count(pkg::Live::Events); }
/// Streams alive, for leak tests.
int64_t live_streams() { return pkg::live_count(pkg::Live::Streams); }
%}

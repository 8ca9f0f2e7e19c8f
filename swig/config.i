// config.i: facts about the build, the processor and memory.
%{
#include "base/build_info.h"
#include "base/isa.h"
#include "tensor/generator.h"
#include "tensor/allocator.h"
#include "base/thread_local.h"
%}
namespace pkg {
std::string version();
std::string compiler_version();
std::string build_flags();
int cxx11_abi();
void empty_cache();
}
%inline %{
/// Restarts the default random stream.
void manual_seed(int64_t seed) { pkg::manual_seed(uint64_t(seed)); }
/// Instruction set in use: baseline, v3 or v4.
std::string isa_name() { return pkg::name_of(pkg::isa()); }
/// Calls of the allocator to the system since start.
int64_t system_allocations() { return pkg::allocator_stats().system_allocations; }
/// Bytes handed out now.
int64_t bytes_in_use() { return pkg::allocator_stats().bytes_in_use; }
/// Tensor objects alive, for leak tests.
int64_t live_tensors() { return pkg::live_count(pkg::Live::Tensors); }
%}

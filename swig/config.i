// config.i: facts about the build, the processor and memory.
%{
#include "base/build_info.h"
#include "tensor/allocator.h"
#include "tensor/settings.h"
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
%include "tensor/settings.h"

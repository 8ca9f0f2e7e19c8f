// config.i: facts about the build, the processor and memory.
%{
#include "base/build_info.h"
#include "tensor/allocator.h"
#include "tensor/settings.h"
%}
namespace pkg {
/// Returns the allocator's cached blocks to the system.
void empty_cache();
}
%ignore pkg::sanitizers;
%ignore pkg::git_version;
%include "base/build_info.h"
%include "tensor/settings.h"

// profiler.i: traces; pkg/profiler shows what they found.
%{
#include "dispatcher/profile.h"
%}
namespace pkg::profiling {
/// Opens a trace and returns its number; see cpp/dispatcher/profile.h.
int64_t _trace_begin(const std::string &kinds, int64_t max_events);
/// Ends a trace and returns it as JSON; see cpp/dispatcher/profile.h.
std::string _trace_end(int64_t number);
}

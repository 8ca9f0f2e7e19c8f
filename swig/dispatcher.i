// dispatcher.i: opening libraries of ops.  pkg/ops.py shows what they registered.
%{
#include "dispatcher/library.h"
%}
namespace pkg {
/// Opens a shared library of ops; see pkg.ops.load_library.
void load_library(const std::string &path);
}

// dispatcher.i: opening libraries of ops.  pkg/ops.py shows what they registered.
%{
#include "c_api/library.h"
%}
namespace pkg::c {
/// Opens a shared library of ops; see pkg.ops.load_library.
void load_library(const std::string &path);
}

// dispatcher.i: opening libraries of ops.  pkg/ops.py shows what they registered.
%{
#include "dispatcher/library.h"
%}
namespace pkg {
void load_library(const std::string &path);
}

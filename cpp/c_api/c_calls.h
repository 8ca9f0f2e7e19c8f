// SPDX-License-Identifier: Apache-2.0
// c_api/c_calls.h: which functions of the C interface the classes of graph_handles.h call.
// A call is written as PKG_C(function)(arguments), which enters it here: pkg.symbols() and
// PKG_TRACE=calls read the table.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace pkg::c {

struct CCall {
  const char* caller;    // as the compiler spells it, "pkg::c::GraphHandle::find(...) ..."
  const char* function;  // "pkg_graph_find"
};

// The function itself; the linker collects the entries, nothing happens in a call.
#define PKG_C(name)                                                                     \
  ([] {                                                                                 \
    [[gnu::used, gnu::section("pkg_c_calls")]] static constexpr pkg::c::CCall entry = { \
        __PRETTY_FUNCTION__, #name};                                                    \
    return name;                                                                        \
  }())

/// [caller, function] of each.  The caller is "GraphHandle.find", or "GraphHandle" for the
/// constructor, "~GraphHandle", or the name of a function that is no member.
std::vector<std::array<std::string, 2>> _c_calls();

}  // namespace pkg::c

// SPDX-License-Identifier: Apache-2.0
// c_api/c_calls.cc: see c_calls.h.
#include "c_api/c_calls.h"

#include <set>
#include <string_view>

namespace pkg::c {
namespace {

// Where the linker put the table.
extern "C" {
[[gnu::visibility("hidden")]] extern const CCall __start_pkg_c_calls[];
[[gnu::visibility("hidden")]] extern const CCall __stop_pkg_c_calls[];
}

// "GraphHandle.find" of "pkg::c::GraphHandle::find(const string&) const::<lambda()>": what
// stands before the first list of parameters.
std::string name_of(std::string_view caller) {
  constexpr std::string_view space = "pkg::c::";
  caller = caller.substr(0, caller.find('('));
  const size_t place = caller.rfind(space);
  std::string_view name = place == caller.npos ? caller
                                               : caller.substr(place + space.size());
  const size_t colons = name.find("::");
  if (colons == name.npos) return std::string(name);
  const std::string_view owner = name.substr(0, colons);
  const std::string_view member = name.substr(colons + 2);
  if (member == owner || member.starts_with('~')) return std::string(member);
  return std::string(owner) + "." + std::string(member);
}

}  // namespace

std::vector<std::array<std::string, 2>> _c_calls() {
  std::set<std::array<std::string, 2>> rows;
  for (const CCall* call = __start_pkg_c_calls; call != __stop_pkg_c_calls; ++call) {
    rows.insert({name_of(call->caller), call->function});
  }
  return {rows.begin(), rows.end()};
}

}  // namespace pkg::c

// SPDX-License-Identifier: Apache-2.0
// dispatcher/probe.h: what the constructors of a library would do to this process, tried in
// another one (Note [Probe] in probe.cc).
#pragma once

#include <string>

namespace pkg::detail {

/// How the constructors of the library end a process: by which signal, and what it wrote to
/// stderr; or that they do not return within PKG_LIBRARY_PROBE_SECONDS (60).  Empty where
/// they return, and where that cannot be tried.  Ctrl-C ends it: throws what
/// check_interrupt() does.
std::string fault_of_constructors(const std::string& path);

}  // namespace pkg::detail

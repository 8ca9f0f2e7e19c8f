// SPDX-License-Identifier: Apache-2.0
// shared/python.h: what a stage asks of the language that it is bound to.  The stages know
// no Python: a binding sets these once (python_glue.h), as it sets the core's hooks.
#pragma once

#include <iostream>
#include <string>

namespace stages {

/// Throws when a wait in progress shall end, as on Ctrl-C.
inline void (*g_check_signals)() = nullptr;

/// Where output goes.
inline void (*g_print)(const std::string& text) = nullptr;
inline void print(const std::string& text) {
  if (g_print) g_print(text);
  else std::cout << text << std::flush;
}

}  // namespace stages

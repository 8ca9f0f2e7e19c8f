// SPDX-License-Identifier: Apache-2.0
// scheduler/task_name.h: names of tasks that a language finds while the program runs.
#pragma once

#include <string>

namespace pkg {

/// The text for as long as the process, as TaskOptions wants it.  There are as many as
/// functions in the program, unless somebody makes them up: those beyond 4096 are `other`.
const char* lasting_name(const std::string& text, const char* other);

}  // namespace pkg

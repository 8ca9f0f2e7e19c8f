// SPDX-License-Identifier: Apache-2.0
// dispatcher/default_text.h: defaults of parameters as a schema writes them.
#pragma once

#include <string>

#include "dispatcher/schema.h"

namespace pkg {

/// "2.5", "'mean'", "[0, 1]"; what parse_schema() reads as the same value.
std::string default_text(const Argument& argument);

}  // namespace pkg

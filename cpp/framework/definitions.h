// SPDX-License-Identifier: Apache-2.0
// framework/definitions.h: what a language shows of ops of REGISTER_OP.
#pragma once

#include <string>

namespace pkg::framework {

/// What REGISTER_OP said of an op, "tf::ZeroOut", as JSON; "" for an op without that.
std::string op_definition(const std::string& name);

}  // namespace pkg::framework

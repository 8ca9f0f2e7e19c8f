// SPDX-License-Identifier: Apache-2.0
// dispatcher/stamps.h: the stamps of a library that was read; what they are is in abi.h.
#pragma once

#include <string>
#include <string_view>

namespace pkg::detail {

/// check_stamps_of() for a file whose contents are at hand: those that are opened, if no
/// other file takes its name meanwhile.
void check_stamps_in(std::string_view contents, const std::string& path,
                     std::string_view ours);

}  // namespace pkg::detail

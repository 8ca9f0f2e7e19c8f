// SPDX-License-Identifier: Apache-2.0
// dispatcher/signature.h: what callers of a language with keywords may write for an op.
#pragma once

#include <span>
#include <string>

#include "dispatcher/operator.h"

namespace pkg {

/// "(self, dim=None, keepdim=False, *, other=None)": the parameters of all overloads.
/// Every name can be given by keyword; what not all overloads ask for has a default, and
/// what shares its place with another comes after the star.
std::string signature_text(std::span<const Operator* const> overloads);

}  // namespace pkg

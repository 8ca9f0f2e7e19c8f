// SPDX-License-Identifier: Apache-2.0
// dispatcher/pending.h: registration blocks that have state, for layers above that have
// macros of their own.
#pragma once

#include <functional>

#include "dispatcher/library.h"

namespace pkg {

/// As Registration in library.h: the block runs when the registry is next used, as part of
/// what its library registers.
void add_registration_block(Library::Kind kind, const char* ns, const char* key,
                            Origin origin, std::function<void(Library&)> block,
                            const char* stamp);

}  // namespace pkg

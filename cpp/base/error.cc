// SPDX-License-Identifier: Apache-2.0
// base/error.cc: the cold half of PKG_ASSERT.
#include "base/error.h"

namespace pkg::detail {

void assert_failed(const char* condition, const char* file, int line) {
  throw InternalError(str("internal check failed: ", condition, " (", file, ":", line,
                          "). This is a bug in pkg, please report it."));
}

}  // namespace pkg::detail

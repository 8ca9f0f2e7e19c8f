// SPDX-License-Identifier: Apache-2.0
// overload_ops_async.h: Scalars whose operators return at once.
#pragma once

#include "shared/later.h"

namespace overload_ops_async {}  // namespace overload_ops_async

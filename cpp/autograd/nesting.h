// SPDX-License-Identifier: Apache-2.0
// autograd/nesting.h: backward inside backward inside backward.  For the engine alone.
#pragma once

#include "base/function_ref.h"

namespace pkg {

/// Runs a pass: here, or, when many have begun on this thread and none of them has ended,
/// on a thread with a fresh stack while this one waits.  So nesting cannot overflow the
/// stack, neither C++'s nor Python's.  Ctrl-C is then raised after the pass.
void run_nested(FunctionRef<void()> pass);

}  // namespace pkg

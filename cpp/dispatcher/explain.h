// SPDX-License-Identifier: Apache-2.0
// dispatcher/explain.h: where a call would go, and why, without making it.
#pragma once

#include <string>
#include <vector>

#include "dispatcher/operator.h"

namespace pkg {

/// Rows of words, the first of which says what the row is:
///   op        qualified name, kind, "file:line" of the definition, schema
///   argument  name, dtype and shape, the keys that it brings; of each tensor
///   keys      "arguments", "added", "removed", "call"; the keys, highest first
///   key       name, "yes" if the call has it, what is registered there, "file:line";
///             highest first.  Registered are: kernel, fallback, falls through, nothing,
///             off (a fallback that waits for somebody to ask for it)
///   chosen    the key that the call goes to first
///   kernel    the key that computes, "file:line", the shared library with the kernel
///   refused   why the op does not take these arguments, if it does not
std::vector<std::vector<std::string>> explain(const Operator& op,
                                              std::span<const Value> args);

/// What is registered for an op at a key, as in the rows above.
std::string what_is_at(const Operator& op, DispatchKey key);

}  // namespace pkg

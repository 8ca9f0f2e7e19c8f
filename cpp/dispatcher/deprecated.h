// SPDX-License-Identifier: Apache-2.0
// dispatcher/deprecated.h: signatures that calls of an op may still have, and should not.
//
// Note [Deprecated signatures]
// They are no overloads: no record, no method, no text shows them.  What a call from Python
// fits first are the op's own schemas; only one that fits none is tried against these, so
// that a warning is never about a call that means something else.  A number stands for no
// tensor there, nor a tensor for a number.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "dispatcher/operator.h"

namespace pkg {

class DeprecatedSignature {
 public:
  /// schema: "add(Tensor self, Scalar alpha, Tensor other) -> Tensor", whose parameters are
  /// some of those of the op of this name.
  DeprecatedSignature(std::string ns, const char* schema);

  /// To be matched with; it has a schema and nothing else.
  const Operator& record() const { return record_; }
  /// What was matched, in the places that `op` has it in; false where a number stands for a
  /// tensor.  ValueError where the op has no such parameter.
  bool arrange(const Operator& op, std::span<Value> given, std::span<Value> values) const;
  /// What is to be said of it instead of `op`'s signature, once in a process.
  std::string warning(const Operator& op) const;
  mutable std::atomic<bool> warned{false};

  /// The first one there is, and the one after this; those of any op.
  static const DeprecatedSignature* first();
  const DeprecatedSignature* next() const { return next_; }
  bool is_of(const Operator& op) const {
    return op.ns == record_.ns && op.schema.name == record_.schema.name;
  }

 private:
  friend void deprecate(std::string, const char*);
  Operator record_;
  const DeprecatedSignature* next_ = nullptr;
};

/// Adds one, for good.
void deprecate(std::string ns, const char* schema);

}  // namespace pkg

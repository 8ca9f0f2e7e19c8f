// SPDX-License-Identifier: Apache-2.0
// dispatcher/unknown_size.h: sizes of results that follow from nothing that a call is given,
// so that the rule at the Meta key cannot tell them: of rows that other ranks send.
#pragma once

#include <cstdint>

namespace pkg {

/// A size that only a run tells.  NotImplementedError, but for who asks within UnknownSizes.
int64_t unknown_size(const char* op);

/// While it lives, unknown sizes of this thread are `number`: who calls a rule with several
/// numbers sees by what differs what is unknown (Note [Unknown sizes] in graph/infer.cc).
class UnknownSizes {
 public:
  explicit UnknownSizes(int64_t number);
  ~UnknownSizes();
  UnknownSizes(const UnknownSizes&) = delete;
  UnknownSizes& operator=(const UnknownSizes&) = delete;
  bool asked() const { return asked_; }

 private:
  friend int64_t unknown_size(const char* op);
  UnknownSizes* const before_;
  const int64_t number_;
  bool asked_ = false;
};

}  // namespace pkg

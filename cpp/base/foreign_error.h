// SPDX-License-Identifier: Apache-2.0
// base/foreign_error.h: exceptions of the embedding language, which must come out as they were.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace pkg {

/// An exception of the embedding language on its way through the core.  Who turns errors into
/// something else, a status say, lets it through.
class PKG_EXCEPTION ForeignError : public Error {
 public:
  /// `stops`: Ctrl-C or the like, and no error of what was tried.
  ForeignError(std::string message, bool stops)
      : Error(std::move(message)), stops_(stops) {}
  ForeignError(const ForeignError&) = default;
  ~ForeignError() override;
  bool stops() const noexcept { return stops_; }

 private:
  bool stops_;
};

/// In a handler of `error`, whose owner would go on without what has failed: throws it again
/// if it asks the work to end.  It comes once, so whoever drops it loses it.
void throw_if_stops(const Error& error);

}  // namespace pkg

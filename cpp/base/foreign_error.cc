// SPDX-License-Identifier: Apache-2.0
// base/foreign_error.cc: see foreign_error.h.
#include "base/foreign_error.h"

namespace pkg {

ForeignError::~ForeignError() = default;

void throw_if_stops(const Error& error) {
  const auto* foreign = dynamic_cast<const ForeignError*>(&error);
  if (foreign && foreign->stops()) throw;
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// collectives/error.h: the error of a collective that was begun and could not be finished.
#pragma once

#include "base/error.h"

namespace pkg {

/// A collective failed on all ranks, or the ranks can no longer work together.  Python's
/// HorovodInternalError.
class PKG_EXCEPTION CollectiveError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
  CollectiveError(const CollectiveError&) = default;
  ~CollectiveError() override;
};

}  // namespace pkg

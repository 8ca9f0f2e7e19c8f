// SPDX-License-Identifier: Apache-2.0
// collectives/error.cc: the class is in one place of the process, as those of base/error.cc.
#include "collectives/error.h"

namespace pkg {

CollectiveError::~CollectiveError() = default;

}  // namespace pkg

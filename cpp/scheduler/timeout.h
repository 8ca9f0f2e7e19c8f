// SPDX-License-Identifier: Apache-2.0
// scheduler/timeout.h: how long to wait, as callers say it.
#pragma once

#include <cmath>
#include <optional>

#include "base/error.h"

namespace pkg {

/// None: without limit; less than nothing: not at all.  ValueError for NaN.
inline double seconds_of(const char* function, std::optional<double> timeout) {
  const double seconds = timeout.value_or(HUGE_VAL);
  PKG_CHECK(!std::isnan(seconds), ValueError, "[", function,
            "] expected seconds or None, got nan (timeout=nan).");
  return seconds > 0 ? seconds : 0;
}

}  // namespace pkg

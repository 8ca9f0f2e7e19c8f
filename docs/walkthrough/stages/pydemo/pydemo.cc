// SPDX-License-Identifier: Apache-2.0
#include "pydemo.h"

namespace pydemo {

double add(double a, double b) { return a + b; }

}  // namespace pydemo

// SPDX-License-Identifier: Apache-2.0
// base/vecmath.h: branch-free elementary functions that a compiler can vectorise.
//
// Called inside with_isa() loops.  Special values are those of <cmath>; each function says
// its error, in units in the last place (ulp) of the result.
#pragma once

#include "base/vecmath/error_function.h"
#include "base/vecmath/exponential.h"
#include "base/vecmath/formulas.h"
#include "base/vecmath/hyperbolic.h"
#include "base/vecmath/power.h"
#include "base/vecmath/trigonometry.h"

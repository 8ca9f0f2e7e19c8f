// SPDX-License-Identifier: Apache-2.0
// ops/shape/shape_ops.h: kept short on purpose: the shape ops are declared in functions.h.
#pragma once

#include "ops/functions.h"

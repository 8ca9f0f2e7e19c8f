// SPDX-License-Identifier: Apache-2.0
// compat/torch/c10/core/ScalarType.h: element types.
#pragma once

#include "compat/torch/style/types.h"

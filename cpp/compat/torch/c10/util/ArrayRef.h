// SPDX-License-Identifier: Apache-2.0
// compat/torch/c10/util/ArrayRef.h: references to arrays.
#pragma once

#include "compat/torch/style/types.h"

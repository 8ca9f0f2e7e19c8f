// SPDX-License-Identifier: Apache-2.0
// compat/torch/c10/util/Half.h: 16-bit floats.
#pragma once

#include "compat/torch/style/types.h"

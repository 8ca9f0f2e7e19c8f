// SPDX-License-Identifier: Apache-2.0
// compat/torch/torch/types.h: tensors and their functions.
#pragma once

#include "compat/torch/style/functions.h"

// SPDX-License-Identifier: Apache-2.0
// compat/torch/ATen/core/Tensor.h: tensors and their functions.
#pragma once

#include "compat/torch/style/functions.h"

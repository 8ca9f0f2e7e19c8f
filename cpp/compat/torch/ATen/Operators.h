// SPDX-License-Identifier: Apache-2.0
// compat/torch/ATen/Operators.h: the functions of tensors.
#pragma once

#include "compat/torch/style/functions.h"

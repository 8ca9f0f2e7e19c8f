// SPDX-License-Identifier: Apache-2.0
// compat/torch/c10/core/TensorOptions.h: what a new tensor is to be.
#pragma once

#include "compat/torch/style/types.h"

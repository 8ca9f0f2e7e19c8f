// SPDX-License-Identifier: Apache-2.0
// compat/torch/ATen/ATen.h: tensors, their functions, and loops over dtypes.
#pragma once

#include "compat/torch/style/dispatch.h"
#include "compat/torch/style/functions.h"
#include "compat/torch/style/keys.h"
#include "compat/torch/style/parallel.h"

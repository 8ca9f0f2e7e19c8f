// SPDX-License-Identifier: Apache-2.0
// compat/torch/c10/util/Optional.h: std::optional by PyTorch's names.
#pragma once

#include "compat/torch/style/types.h"

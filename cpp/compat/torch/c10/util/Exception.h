// SPDX-License-Identifier: Apache-2.0
// compat/torch/c10/util/Exception.h: PyTorch's check macros.
#pragma once

#include "compat/torch/style/check.h"

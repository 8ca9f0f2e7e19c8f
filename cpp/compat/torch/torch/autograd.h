// SPDX-License-Identifier: Apache-2.0
// compat/torch/torch/autograd.h: torch::autograd.
#pragma once

#include "compat/torch/style/function.h"

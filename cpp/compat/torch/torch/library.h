// SPDX-License-Identifier: Apache-2.0
// compat/torch/torch/library.h: TORCH_LIBRARY and its sisters.
#pragma once

#include "compat/torch/style/dispatcher.h"
#include "compat/torch/style/functions.h"
#include "compat/torch/style/library.h"

// SPDX-License-Identifier: Apache-2.0
// compat/torch/ATen/Dispatch.h: loops over dtypes.
#pragma once

#include "compat/torch/style/dispatch.h"

// SPDX-License-Identifier: Apache-2.0
// compat/torch/ATen/Parallel.h: loops on several threads.
#pragma once

#include "compat/torch/style/parallel.h"

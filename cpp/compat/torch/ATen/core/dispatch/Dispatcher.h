// SPDX-License-Identifier: Apache-2.0
// compat/torch/ATen/core/dispatch/Dispatcher.h: ops by name.
#pragma once

#include "compat/torch/style/dispatcher.h"

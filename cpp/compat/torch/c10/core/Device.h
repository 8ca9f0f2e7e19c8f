// SPDX-License-Identifier: Apache-2.0
// compat/torch/c10/core/Device.h: devices.
#pragma once

#include "compat/torch/style/types.h"

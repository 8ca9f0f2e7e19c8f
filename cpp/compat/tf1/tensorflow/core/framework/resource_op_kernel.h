// SPDX-License-Identifier: Apache-2.0
// tensorflow/core/framework/resource_op_kernel.h: see pkg_tensorflow.h.
#pragma once

#include "compat/tf1/pkg_tensorflow.h"

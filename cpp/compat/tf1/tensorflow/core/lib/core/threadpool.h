// SPDX-License-Identifier: Apache-2.0
// tensorflow/core/lib/core/threadpool.h: see pkg_tensorflow.h.
#pragma once

#include "compat/tf1/pkg_tensorflow.h"

// SPDX-License-Identifier: Apache-2.0
// tensorflow/core/util/work_sharder.h: see pkg_tensorflow.h.
#pragma once

#include "compat/tf1/pkg_tensorflow.h"

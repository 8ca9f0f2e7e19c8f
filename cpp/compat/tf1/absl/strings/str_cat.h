// SPDX-License-Identifier: Apache-2.0
// absl/strings/str_cat.h: see pkg_tensorflow.h.
#pragma once

#include "compat/tf1/pkg_tensorflow.h"

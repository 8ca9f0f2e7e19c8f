// SPDX-License-Identifier: Apache-2.0
// compat/torch/torch/all.h: all of PyTorch's style.
#pragma once

#include "compat/torch/style/dispatch.h"
#include "compat/torch/style/dispatcher.h"
#include "compat/torch/style/extension.h"
#include "compat/torch/style/function.h"
#include "compat/torch/style/functions.h"
#include "compat/torch/style/library.h"
#include "compat/torch/style/parallel.h"

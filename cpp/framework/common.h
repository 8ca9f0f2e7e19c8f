// SPDX-License-Identifier: Apache-2.0
// framework/common.h: everything that ops and kernels in TensorFlow's style use.
#pragma once

#include "framework/bounds_check.h"
#include "framework/kernel_def.h"
#include "framework/logging.h"
#include "framework/mutex.h"
#include "framework/op.h"
#include "framework/register_types.h"
#include "framework/resource_mgr.h"
#include "framework/resource_op_kernel.h"
#include "framework/resource_var.h"
#include "framework/shape_inference.h"

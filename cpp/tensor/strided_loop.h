// SPDX-License-Identifier: Apache-2.0
// tensor/strided_loop.h: the old name of tensor/copy.h.
#pragma once

#include "base/isa.h"
#include "tensor/copy.h"

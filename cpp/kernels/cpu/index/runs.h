// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/runs.h: types that stand for every dtype of a size where elements are
// only moved.
#pragma once

#include "base/dtype.h"
#include "base/isa.h"
#include "tensor/copy_run.h"

namespace pkg {

/// Calls f(TypeTag<T>) with the unsigned integer of `bytes` bytes.
template <class F>
decltype(auto) visit_size(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<uint16_t>{});
    case 4: return f(TypeTag<uint32_t>{});
    default: return f(TypeTag<uint64_t>{});
  }
}

}  // namespace pkg

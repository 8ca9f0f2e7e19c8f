// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/runs.h: types that stand for every dtype of a size where elements are
// only moved.
#pragma once

#include <algorithm>

#include "base/dtype.h"
#include "base/isa.h"
#include "tensor/copy_run.h"

namespace pkg {

/// Tables of more bytes lie beyond the second-level cache: of those a run is asked for while
/// the ones before it are moved.
inline constexpr int64_t kFarBytes = 1 << 20;

inline void fetch_run(const char* at, int64_t bytes) {
  constexpr int64_t kLine = 64,
                    kMost = 1024;  // of a longer one the processor sees the rest
  for (int64_t b = 0; b < std::min(bytes, kMost); b += kLine) __builtin_prefetch(at + b);
}

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

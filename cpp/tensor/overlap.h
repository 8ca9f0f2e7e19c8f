// SPDX-License-Identifier: Apache-2.0
// tensor/overlap.h: whether writing to one tensor may change another one.
#pragma once

#include "tensor/tensor.h"

namespace pkg {

/// Where the memory of a tensor begins and ends.  Each tensor made of one NumPy array has a
/// storage of its own, so that it is addresses which tell what is common.
struct Extent {
  uintptr_t begin, end;
  explicit Extent(const Tensor& t)
      : begin(uintptr_t(t.storage().data())),
        end(begin + uintptr_t(t.storage().nbytes())) {}
  bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
};

/// Whether two tensors lie over common memory, be it with other elements.  What has no
/// values begins at the address 0.
inline bool share_memory(const Tensor& a, const Tensor& b) {
  return &a.storage() == &b.storage() || (a.storage().data() && Extent(a).meets(Extent(b)));
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/nonzero.cc: where a tensor is not zero.
#include "base/isa.h"
#include "dispatcher/library.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

constexpr int64_t kBlock = 1024;

// Places of what is set among n <= kBlock, which need not guess what comes next.
// Bools of others may be any byte.
int64_t find_set(const uint8_t* set, int64_t n, int64_t* places) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    places[count] = i;
    count += set[i] != 0;
  }
  return count;
}

Tensor nonzero_kernel(const Tensor& self) {
  const Tensor mask = as_contiguous(as_dtype(self, DType::Bool));
  const auto* set = reinterpret_cast<const uint8_t*>(mask.data<bool>());
  const int64_t numel = mask.numel(), ndim = self.ndim();
  int64_t total = 0;
  with_isa([&total, set, numel] {
    int64_t count = 0;
    for (int64_t i = 0; i < numel; ++i) count += set[i] != 0;
    total = count;
  });
  Tensor out = empty(Shape{total, ndim}, DType::Int64);
  if (total == 0 || ndim == 0) return out;
  int64_t* at = out.data<int64_t>();
  const int64_t columns = self.sizes().back(), last = ndim - 1;
  Shape row(size_t(ndim), 0);  // of the first column
  int64_t places[kBlock + 1];
  StopCounter stop;
  for (int64_t first = 0; first < numel; first += columns) {
    for (int64_t from = 0; from < columns; from += kBlock) {
      const int64_t n = std::min(kBlock, columns - from);
      const int64_t count = find_set(set + first + from, n, places);
      for (int64_t i = 0; i < count; ++i, at += ndim) {
        for (int64_t d = 0; d < last; ++d) at[d] = row[size_t(d)];
        at[last] = from + places[i];
      }
      stop(n);
    }
    for (int64_t d = last - 1; d >= 0; --d) {
      if (++row[size_t(d)] < self.sizes()[size_t(d)]) break;
      row[size_t(d)] = 0;
    }
  }
  return out;
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("nonzero", nonzero_kernel); }

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/nonzero.cc: where a tensor is not zero.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/isa.h"
#include "dispatcher/library.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

constexpr int64_t kBlock = 1024;
constexpr int64_t kGroup = 32;
constexpr int64_t kPiece = 1 << 16;  // elements, for one thread

// Places of what is set among n <= kBlock, which need not guess what comes next; where all
// or none of a group are, they need not be looked at.  Bools of others may be any byte.
int64_t find_set(const uint8_t* set, int64_t n, int64_t* places) {
  constexpr uint64_t kAll = 0x0101010101010101;
  int64_t count = 0, i = 0;
  const auto look = [&](int64_t end) {
    for (; i < end; ++i) {
      places[count] = i;
      count += set[i] != 0;
    }
  };
  while (i + kGroup <= n) {
    uint64_t group[kGroup / 8];
    std::memcpy(group, set + i, kGroup);
    if ((group[0] & group[1] & group[2] & group[3]) == kAll) {
      for (int64_t k = 0; k < kGroup; ++k) places[count + k] = i + k;
      count += kGroup;
      i += kGroup;
    } else if ((group[0] | group[1] | group[2] | group[3]) == 0) {
      i += kGroup;
    } else {
      look(i + kGroup);
    }
  }
  look(n);
  return count;
}

// Writes rows of indices for what is set from the element `begin` to `end`.
void write_places(const uint8_t* set, const Shape& sizes, int64_t begin, int64_t end,
                  int64_t* at) {
  const int64_t columns = sizes.back(), last = int64_t(sizes.size()) - 1;
  Shape row(sizes.size(), 0);  // of the column that is reached
  int64_t line = begin / columns, from = begin % columns;
  for (int64_t d = last - 1; d >= 0; --d) {
    row[size_t(d)] = line % sizes[size_t(d)];
    line /= sizes[size_t(d)];
  }
  int64_t places[kBlock + 1];
  StopCounter stop;
  while (begin < end) {
    const int64_t n = std::min({kBlock, columns - from, end - begin});
    const int64_t count = find_set(set + begin, n, places);
    if (last == 0 || (last == 1 && n >= kGroup)) {
      with_isa([&row, &places, at, from, count, last] {
        const int64_t first = row[0], past = count;
        if (last == 0) {
          for (int64_t i = 0; i < past; ++i) at[i] = from + places[i];
        } else {
          for (int64_t i = 0; i < past; ++i) {
            at[2 * i] = first;
            at[2 * i + 1] = from + places[i];
          }
        }
      });
      at += count * (last + 1);
    } else {
      for (int64_t i = 0; i < count; ++i, at += last + 1) {
        for (int64_t d = 0; d < last; ++d) at[d] = row[size_t(d)];
        at[last] = from + places[i];
      }
    }
    stop(n);
    begin += n;
    from += n;
    if (from < columns) continue;
    from = 0;
    for (int64_t d = last - 1; d >= 0; --d) {
      if (++row[size_t(d)] < sizes[size_t(d)]) break;
      row[size_t(d)] = 0;
    }
  }
}

int64_t count_set(const uint8_t* set, int64_t n) {
  int64_t total = 0;
  with_isa([&total, set, n] {
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += set[i] != 0;
    total = count;
  });
  return total;
}

Tensor nonzero_kernel(const Tensor& self) {
  const Tensor mask = as_contiguous(as_dtype(self, DType::Bool));
  const auto* set = reinterpret_cast<const uint8_t*>(mask.data<bool>());
  const int64_t numel = mask.numel(), ndim = self.ndim();
  // Each piece begins where those before it end, which their counts say.
  const int64_t pieces = (numel + kPiece - 1) / kPiece;
  std::vector<int64_t> starts(size_t(pieces) + 1, 0);
  const auto each = [=](auto f) {
    parallel_for(0, pieces, 1, [=](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        f(size_t(p), p * kPiece, std::min(numel, (p + 1) * kPiece));
      }
    });
  };
  each([set, to = starts.data() + 1](size_t p, int64_t begin, int64_t end) {
    to[p] = count_set(set + begin, end - begin);
  });
  for (size_t p = 1; p < starts.size(); ++p) starts[p] += starts[p - 1];
  Tensor out = empty(Shape{starts.back(), ndim}, DType::Int64);
  if (out.numel() == 0) return out;
  each([&self, set, ndim, to = out.data<int64_t>(), start = starts.data()](
           size_t p, int64_t begin, int64_t end) {
    write_places(set, self.sizes(), begin, end, to + start[p] * ndim);
  });
  return out;
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("nonzero", nonzero_kernel); }

}  // namespace
}  // namespace pkg

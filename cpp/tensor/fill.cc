// SPDX-License-Identifier: Apache-2.0
// tensor/fill.cc: what is dense is filled as it lies in memory.
#include "tensor/fill.h"

#include <cstring>

#include "scheduler/parallel.h"
#include "tensor/copy.h"
#include "tensor/gather.h"
#include "tensor/layout.h"

namespace pkg {

void fill(const Tensor& tensor, const Scalar& value) {
  alignas(8) char element[8] = {};
  visit_dtype(tensor.dtype(),
              [&]<class T>(TypeTag<T>) { *reinterpret_cast<T*>(element) = value.to<T>(); });
  const int64_t size = itemsize(tensor.dtype());
  if (!is_dense(tensor)) {
    const Tensor number = empty(Shape(), tensor.dtype());
    std::memcpy(number.data(), element, size_t(size));
    return copy_into(tensor, number);
  }
  auto* data = static_cast<char*>(tensor.data());
  parallel_for(0, tensor.numel(), kGrain, [&](int64_t begin, int64_t end) {
    moves_of(size).repeat(data + begin * size, element, end - begin);
  });
}

}  // namespace pkg

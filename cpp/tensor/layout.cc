// SPDX-License-Identifier: Apache-2.0
// tensor/layout.cc: see Note [Order of results] in layout.h.
#include "tensor/layout.h"

#include <algorithm>

namespace pkg {
namespace {

// Dimensions, those of small strides first.
using Order = Shape;

// The stride of an operand along dimension d of a result; 0 where it is repeated.
int64_t step(const Tensor& operand, const Shape& sizes, size_t d) {
  const size_t missing = sizes.size() - operand.sizes().size();
  if (d < missing) return 0;
  const bool repeated = operand.sizes()[d - missing] != sizes[d];
  return repeated ? 0 : operand.strides()[d - missing];
}

enum class Side { Inside, Outside, Undecided };

// On which side of dimension b dimension a lies.
Side side_of(size_t a, size_t b, const Shape& sizes,
             std::span<const Tensor* const> operands) {
  for (const Tensor* operand : operands) {
    if (!operand || !operand->defined()) continue;
    const int64_t x = step(*operand, sizes, a), y = step(*operand, sizes, b);
    if (x == 0 || y == 0) continue;
    if (x != y) return x < y ? Side::Inside : Side::Outside;
    if (sizes[a] > sizes[b]) return Side::Outside;  // that of size 1 is no step at all
  }
  return Side::Undecided;
}

// An insertion sort, which leaves alone what is undecided: "undecided" is not transitive,
// so that another way to sort would give another order than PyTorch's.
Order order_of(const Shape& sizes, std::span<const Tensor* const> operands) {
  Order order;
  for (size_t d = sizes.size(); d-- > 0;) order.push_back(int64_t(d));
  for (size_t i = 1; i < order.size(); ++i) {
    size_t at = i;
    for (size_t k = i; k-- > 0;) {
      const Side side = side_of(size_t(order[k]), size_t(order[at]), sizes, operands);
      if (side == Side::Inside) break;
      if (side == Side::Undecided) continue;
      std::swap(order[k], order[at]);
      at = k;
    }
  }
  return order;
}

}  // namespace

bool is_dense(const Tensor& tensor) {
  if (tensor.is_contiguous()) return true;
  const Tensor* const self[] = {&tensor};
  const Order order = order_of(tensor.sizes(), self);
  int64_t expected = 1;
  for (const int64_t d : order) {
    const int64_t size = tensor.sizes()[size_t(d)];
    if (size == 1) continue;
    if (tensor.strides()[size_t(d)] != expected) return false;
    expected *= size;
  }
  return true;
}

Shape strides_like(const Shape& sizes, std::span<const Tensor* const> operands) {
  Shape strides(sizes.size(), 0);
  int64_t next = 1;
  for (const int64_t d : order_of(sizes, operands)) {
    strides[size_t(d)] = next;
    next *= std::max<int64_t>(sizes[size_t(d)], 1);
  }
  return strides;
}

Tensor empty_in_order(const Spec& spec, std::span<const Tensor* const> operands) {
  Tensor result = empty(spec);
  if (result.numel() > 1) {
    TensorImpl& impl = *result.impl();
    Shape strides = strides_like(spec.sizes, operands);
    impl.contiguous = strides == impl.strides;
    impl.strides = std::move(strides);
  }
  return result;
}

}  // namespace pkg

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

// The dimensions of more than one element.
Order by_stride(const Shape& sizes, const Shape& strides) {
  Order order;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > 1) order.push_back(int64_t(d));
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return strides[size_t(a)] < strides[size_t(b)]; });
  return order;
}

}  // namespace

bool compute_contiguous(const Shape& sizes, const Shape& strides) {
  if (sizes.numel() == 0) return true;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

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

bool lie_alike(const Tensor& a, const Tensor& b) {
  for (size_t d = 0; d < a.sizes().size(); ++d) {
    if (a.sizes()[d] > 1 && a.strides()[d] != b.strides()[d]) return false;
  }
  return true;
}

bool may_overlap(const Shape& sizes, const Shape& strides) {
  if (sizes.numel() == 0) return false;
  int64_t last = 0;  // place of the last element of the dimensions so far
  for (const int64_t d : by_stride(sizes, strides)) {
    if (strides[size_t(d)] <= last) return true;
    last += (sizes[size_t(d)] - 1) * strides[size_t(d)];
  }
  return false;
}

bool holds(const TensorImpl& whole, const TensorImpl& part) {
  if (part.numel == 0) return true;
  const int64_t first = part.offset - whole.offset;
  if (first < 0) return false;
  if (whole.contiguous || may_overlap(whole.sizes, whole.strides)) {
    return first + extent(part.sizes, part.strides) <= extent(whole.sizes, whole.strides);
  }
  // Dimensions that lie behind each other as one, as view() makes them.
  Shape sizes, strides;
  for (const int64_t each : by_stride(whole.sizes, whole.strides)) {
    const auto d = size_t(each);
    if (!sizes.empty() && whole.strides[d] == sizes.back() * strides.back()) {
      sizes.back() *= whole.sizes[d];
    } else {
      sizes.push_back(whole.sizes[d]);
      strides.push_back(whole.strides[d]);
    }
  }
  // The index in `whole` of the last element of `part`.  Since a stride is larger than
  // all that lies inside of it, a distance is steps of the largest first.
  Shape last(sizes.size(), 0);
  bool inside = true;
  const auto advance = [&](int64_t distance, int64_t times) {
    for (size_t k = sizes.size(); k-- > 0;) {
      last[k] += distance / strides[k] * times;
      distance %= strides[k];
    }
    inside &= distance == 0;
  };
  advance(first, 1);
  for (size_t d = 0; d < part.sizes.size(); ++d) {
    if (part.sizes[d] > 1) advance(part.strides[d], part.sizes[d] - 1);
  }
  for (size_t k = 0; k < sizes.size(); ++k) inside &= last[k] < sizes[k];
  return inside;
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
  if (result.numel() <= 1) return result;
  Shape strides = strides_like(spec.sizes, operands);
  if (compute_contiguous(spec.sizes, strides)) return result;
  result.impl()->strides = std::move(strides);
  result.impl()->contiguous = false;
  return result;
}

}  // namespace pkg

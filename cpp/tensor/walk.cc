// SPDX-License-Identifier: Apache-2.0
// tensor/walk.cc: the dimensions of a walk and its cells.
#include "tensor/walk.h"

namespace pkg {

void check_broadcasts(const Shape& operand, const Shape& sizes) {
  bool fits = operand.size() <= sizes.size();
  for (size_t d = 0; fits && d < operand.size(); ++d) {
    const int64_t size = operand[d];
    fits = size == 1 || size == sizes[d + sizes.size() - operand.size()];
  }
  PKG_CHECK(fits, RuntimeError, "[op] expected a tensor that broadcasts to the shape ",
            sizes, ", got one of ", operand, ".");
}

namespace {

// The dimensions of what is written, innermost first, so that memory is walked as it lies.
Shape walk_order(const Tensor& out) {
  Shape order;
  for (size_t d = out.sizes().size(); d-- > 0;) order.push_back(int64_t(d));
  if (out.is_contiguous()) return order;
  const auto stride = [&](size_t i) { return out.strides()[size_t(order[i])]; };
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t k = i; k > 0 && stride(k) < stride(k - 1); --k) {
      std::swap(order[k], order[k - 1]);
    }
  }
  return order;
}

}  // namespace

Walk::Walk(std::span<const Tensor* const> tensors) : count(tensors.size()) {
  const Shape& whole = tensors[0]->sizes();
  for (size_t k = 0; k < count; ++k) {
    data[k] = static_cast<char*>(tensors[k]->data());
    check_broadcasts(tensors[k]->sizes(), whole);
  }
  for (const int64_t next : walk_order(*tensors[0])) {
    const auto d = size_t(next);
    if (whole[d] == 1) continue;  // whatever its strides are
    std::array<int64_t, kMaxOperands> step{};
    for (size_t k = 0; k < count; ++k) {
      const Tensor& t = *tensors[k];
      const size_t missing = whole.size() - t.sizes().size();
      if (d < missing || t.sizes()[d - missing] == 1) continue;
      step[k] = t.strides()[d - missing] * itemsize(t.dtype());
    }
    add_dim(whole[d], step);
  }
  if (sizes.empty()) add_dim(1, {});
}

void Walk::add_dim(int64_t size, const std::array<int64_t, kMaxOperands>& step) {
  if (!sizes.empty()) {
    // Behind the previous dimension for every operand: one longer dimension.
    bool merges = true;
    for (size_t k = 0; k < count; ++k) {
      merges &= step[k] == strides[k].back() * sizes.back();
    }
    if (merges) {
      sizes.back() *= size;
      return;
    }
  }
  sizes.push_back(size);
  for (size_t k = 0; k < count; ++k) strides[k].push_back(step[k]);
}

Cells::Cells(const Walk& walk, Shape step) : walk_(walk), step_(std::move(step)) {
  for (size_t d = 0; d < step_.size(); ++d) {
    count_ *= (walk_.sizes[d] - 1) / step_[d] + 1;
  }
}

Cells::Cursor::Cursor(const Cells& cells, int64_t number)
    : cells_(cells), index_(cells.step_.size(), 0), data_(cells.walk_.data) {
  const Walk& walk = cells.walk_;
  for (size_t d = 0; d < index_.size(); ++d) {
    const int64_t step = cells.step_[d], n = (walk.sizes[d] - 1) / step + 1;
    index_[d] = number % n * step;
    number /= n;
    for (size_t k = 0; k < walk.count; ++k) data_[k] += index_[d] * walk.strides[k][d];
  }
}

void Cells::Cursor::advance() {
  const Walk& walk = cells_.walk_;
  for (size_t d = 0; d < index_.size(); ++d) {
    const int64_t step = cells_.step_[d], before = index_[d];
    const bool within = walk.sizes[d] - before > step;
    index_[d] = within ? before + step : 0;
    const int64_t moved = index_[d] - before;
    for (size_t k = 0; k < walk.count; ++k) data_[k] += moved * walk.strides[k][d];
    if (within) return;
  }
}

}  // namespace pkg

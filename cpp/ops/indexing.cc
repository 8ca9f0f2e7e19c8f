// SPDX-License-Identifier: Apache-2.0
// ops/indexing.cc: the parts of a key as ops.
#include "ops/indexing.h"

#include "ops/functions.h"

namespace pkg {
namespace {

// Without the leading dimensions of size 1 that a value may have in excess.
Tensor without_leading_ones(Tensor value) {
  while (value.ndim() > 0 && value.sizes()[0] == 1) value = ops::select(value, 0, 0);
  return value;
}

}  // namespace

Indexing::Indexing(const Tensor& self, int64_t dims_of_parts)
    : self_(self), dims_of_parts_(dims_of_parts), view_(self) {
  PKG_CHECK(dims_of_parts <= self.ndim(), IndexError,
            "too many indices for tensor of dimension ", self.ndim());
}

void Indexing::refuse(const std::string& type, const std::string& why) {
  throw IndexError(str("[index] expected ints, slices, ..., None, or Tensors, arrays or "
                       "lists of ints or bools as indices, got ",
                       type, ": ", why));
}

bool Indexing::is_number(const Tensor& index) {
  return index.ndim() == 0 && index.dtype() != DType::Bool && !is_floating(index.dtype()) &&
         !index.storage().is_symbolic();
}

void Indexing::keep(int64_t count) {
  for (int64_t i = 0; i < count; ++i) indices_.push_back(Tensor());
  dim_ += count;
}

void Indexing::new_dim() {
  view_ = ops::unsqueeze(view_, dim_);
  keep(1);
}

void Indexing::slice(std::optional<int64_t> start, std::optional<int64_t> stop,
                     int64_t step) {
  if (start || stop || step != 1) view_ = ops::slice(view_, dim_, start, stop, step);
  keep(1);
}

void Indexing::select(int64_t i) { view_ = ops::select(view_, dim_, i); }

void Indexing::index(Tensor index) {
  advanced_ = true;
  if (index.dtype() == DType::Bool && index.ndim() == 0) {
    // A mask of no dimension keeps all or nothing of a new one.
    view_ = ops::unsqueeze(view_, dim_);
    index = ops::reshape(index, Shape{1});
  }
  dim_ += dims_of(index);
  indices_.push_back(std::move(index));
}

Tensor Indexing::get() const {
  if (advanced_) return ops::index(view_, indices_);
  // x[:] is a new tensor over the same memory, never x itself; -1 for the size that is there.
  return view_.is_same(self_) ? ops::expand(view_, Shape(size_t(view_.ndim()), -1)) : view_;
}

void Indexing::put(Tensor value) const {
  if (advanced_ || value.ndim() > view_.ndim()) {
    value = without_leading_ones(std::move(value));
  }
  if (advanced_) ops::index_put_(view_, indices_, value, false);
  else ops::copy_(view_, value);
}

}  // namespace pkg

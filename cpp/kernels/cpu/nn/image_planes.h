// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/image_planes.h: planes of images (..., H, W), wherever they lie in memory.
#pragma once

#include "kernels/cpu/reduce/stage.h"
#include "kernels/cpu/rows.h"
#include "tensor/copy.h"

namespace pkg {

/// The last two dimensions of a tensor, plane by plane: as they lie, or brought into a
/// buffer of the caller as dense rows of T.
template <class T>
class ImagePlanes {
 public:
  explicit ImagePlanes(const Tensor& tensor)
      : tensor_(near_and_wide(tensor)), stage_(tensor_.dtype(), dtype_of<T>) {
    const size_t d = tensor_.sizes().size() - 2;
    h_ = tensor_.sizes()[d];
    w_ = tensor_.sizes()[d + 1];
    step_ = w_ == 1 ? 1 : tensor_.strides()[d + 1];
    row_step_ = h_ == 1 ? w_ : tensor_.strides()[d];
    as_it_lies_ = stage_.none() && step_ == 1 && row_step_ == w_;
    in_order_ = tensor_.is_contiguous();
  }
  /// Elements that the buffer must have.
  int64_t room() const { return as_it_lies_ ? 0 : h_ * w_; }
  const T* plane(int64_t i, T* buffer) const { return rows(i, 0, h_, buffer); }
  /// Rows from..end of it alone.
  const T* rows(int64_t i, int64_t from, int64_t end, T* buffer) const {
    int64_t at = from * row_step_;
    if (in_order_) {
      at += i * h_ * w_;
    } else {
      for (size_t d = tensor_.sizes().size() - 2; d-- > 0;) {
        at += i % tensor_.sizes()[d] * tensor_.strides()[d];
        i /= tensor_.sizes()[d];
      }
    }
    const char* x = static_cast<const char*>(tensor_.data()) +
                    at * itemsize(tensor_.dtype());
    if (as_it_lies_) return reinterpret_cast<const T*>(x);
    stage_.bring(x, row_step_, end - from, step_, w_, reinterpret_cast<char*>(buffer));
    return buffer;
  }

 private:
  static Tensor near_and_wide(const Tensor& x) {
    const int64_t plane = x.sizes().end()[-1] * x.sizes().end()[-2];
    const Tensor near = lies_across(x) ? as_contiguous(x) : x;
    return plane < kShortRun ? as_contiguous(as_dtype(near, dtype_of<T>)) : near;
  }
  // Whether neighbours in memory are of different planes: one plane at a time would read
  // each line of the cache as often as it has elements.
  static bool lies_across(const Tensor& x) {
    const size_t d = x.sizes().size() - 2;
    const auto dense = [&](size_t k) { return x.strides()[k] == 1 && x.sizes()[k] > 1; };
    if (dense(d) || dense(d + 1)) return false;
    for (size_t k = 0; k < d; ++k) {
      if (dense(k)) return true;
    }
    return false;
  }

  Tensor tensor_;
  Stage stage_;
  int64_t h_, w_, step_, row_step_;
  bool as_it_lies_, in_order_;
};

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/rows.h: kernels that work row by row along the last dimension.
#pragma once

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "base/isa.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/allocator.h"
#include "tensor/convert.h"
#include "tensor/copy.h"

namespace pkg {

/// Calls f for the type computed in: 16-bit floats are computed in float32.
template <class F>
void with_compute_type(const char* op, DType dtype, F f) {
  visit_floating(op, is_reduced(dtype) ? DType::Float32 : dtype, f);
}

/// A tensor as dense rows of T: itself, or a copy.
template <class T>
class Rows {
 public:
  explicit Rows(const Tensor& tensor)
      : tensor_(as_contiguous(as_dtype(tensor, dtype_of<T>))) {}
  const T* data() const { return tensor_.data<T>(); }

 private:
  Tensor tensor_;
};

/// Dense memory of T for a result, copied into it at the end where it differs.
template <class T>
class RowsOut {
 public:
  explicit RowsOut(Tensor& out)
      : out_(out),
        to_(out.dtype() == dtype_of<T> && out.is_contiguous()
                ? out
                : empty(out.sizes(), dtype_of<T>)) {}
  ~RowsOut() {
    if (to_.is_same(out_) || std::uncaught_exceptions() > uncaught_) return;
    const NoStop cannot_throw;
    copy_into(out_, to_);
  }
  T* data() const { return to_.data<T>(); }

 private:
  const int uncaught_ = std::uncaught_exceptions();
  Tensor& out_;
  Tensor to_;
};

/// Memory for n elements on the way, of one thread; not initialised unless with a value.
template <class T>
class RunBuffer {
 public:
  RunBuffer() = default;
  explicit RunBuffer(int64_t n)
      : bytes_(size_t(n) * sizeof(T)),
        data_(n ? static_cast<T*>(allocate(bytes_)) : nullptr) {}
  RunBuffer(int64_t n, T value) : RunBuffer(n) { std::fill_n(data_, n, value); }
  RunBuffer(RunBuffer&& other) noexcept
      : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  RunBuffer& operator=(RunBuffer&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~RunBuffer() {
    if (data_) deallocate(data_, bytes_);
  }
  T* data() const { return data_; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  size_t bytes_ = 0;
  T* data_ = nullptr;
};

/// Runs of fewer elements are not worth a conversion each.
inline constexpr int64_t kShortRun = 64;

/// The elements of a tensor in row-major order as runs of T: as they lie in memory, or
/// converted into a buffer of the caller, where they stay in cache.
template <class T>
class Runs {
 public:
  /// `length` of most runs: short ones are converted all at once.
  explicit Runs(const Tensor& tensor, int64_t length = kShortRun)
      : convert_(tensor.dtype(), dtype_of<T>, dtype_of<T>),
        at_once_(convert_.count > 1 || length < kShortRun),
        tensor_(as_contiguous(at_once_ ? as_dtype(tensor, dtype_of<T>) : tensor)),
        size_(itemsize(tensor_.dtype())) {
    if (at_once_) convert_ = {};
  }
  /// Elements that a buffer for runs of n must have.
  int64_t room(int64_t n) const { return convert_.count ? n : 0; }
  const T* run(int64_t from, int64_t n, T* buffer) const {
    char* x = static_cast<char*>(tensor_.data()) + from * size_;
    if (!convert_.count) return reinterpret_cast<const T*>(x);
    char* const data[] = {reinterpret_cast<char*>(buffer), x};
    convert_.steps[0].run(nullptr, data, n);
    return buffer;
  }

 private:
  Conversion convert_;
  bool at_once_;
  Tensor tensor_;
  int64_t size_;
};

/// The same for a result: a run is written to memory or a buffer, and then put.
template <class T>
class RunsOut {
 public:
  explicit RunsOut(Tensor& out, int64_t length = kShortRun)
      : convert_(dtype_of<T>, out.dtype(), out.dtype()),
        at_once_(convert_.count > 1 || (convert_.count && length < kShortRun)),
        out_(out),
        to_(out.is_contiguous() && !at_once_
                ? out
                : empty(out.sizes(), at_once_ ? dtype_of<T> : out.dtype())),
        size_(itemsize(to_.dtype())) {
    if (at_once_) convert_ = {};
  }
  ~RunsOut() {
    if (to_.is_same(out_) || std::uncaught_exceptions() > uncaught_) return;
    const NoStop cannot_throw;
    copy_into(out_, to_);
  }
  int64_t room(int64_t n) const { return convert_.count ? n : 0; }
  T* run(int64_t from, T* buffer) const {
    return convert_.count ? buffer : reinterpret_cast<T*>(at(from));
  }
  void put(int64_t from, int64_t n, T* buffer) const {
    if (!convert_.count) return;
    char* const data[] = {at(from), reinterpret_cast<char*>(buffer)};
    convert_.steps[0].run(nullptr, data, n);
  }

 private:
  char* at(int64_t from) const { return static_cast<char*>(to_.data()) + from * size_; }

  const int uncaught_ = std::uncaught_exceptions();
  Conversion convert_;
  bool at_once_;
  Tensor& out_;
  Tensor to_;
  int64_t size_;
};

/// Length of the last dimension (1 for a 0-d tensor), and how many rows there are.
struct RowShape {
  int64_t count, length;
  explicit RowShape(const Tensor& tensor, int64_t length_in = -1)
      : length(length_in >= 0  ? length_in
               : tensor.ndim() ? tensor.sizes().back()
                               : 1) {
    count = length ? tensor.numel() / length : 0;
  }
};

/// Runs f(row number) for all rows, compiled for the instruction set in use.
template <class F>
void for_rows(const RowShape& rows, F f) {
  const int64_t grain = std::max<int64_t>(1,
                                          kGrain / 4 / std::max<int64_t>(1, rows.length));
  parallel_for(0, rows.count, grain, [&](int64_t begin, int64_t end) {
    with_isa([&] {
      for (int64_t i = begin; i < end; ++i) f(i);
    });
  });
}

/// The same for groups of rows of about kGroup elements, f(first row, how many, mine): short
/// rows are too short for vector instructions, a group is not.  `mine` is what make() gave
/// the thread.
inline constexpr int64_t kGroup = 1024;
template <class M, class F>
void for_row_groups(const RowShape& rows, M make, F f) {
  const int64_t size = std::max<int64_t>(1, kGroup / std::max<int64_t>(1, rows.length));
  const int64_t groups = (rows.count + size - 1) / size;
  const int64_t grain = kGrain / 4 / std::max(kGroup, rows.length);
  parallel_for(0, groups, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
    auto mine = make();
    with_isa([&] {
      for (int64_t i = begin; i < end; ++i) {
        f(i * size, std::min(size, rows.count - i * size), mine);
      }
    });
  });
}
/// Elements of the longest group.
inline int64_t group_room(const RowShape& rows) {
  return std::min(rows.count * rows.length, std::max(kGroup, rows.length));
}

/// Sum of f(i) for i below n, in as many lanes as the instruction set has.
template <class T, class F>
inline T row_sum(int64_t n, F f) {
  T total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += f(i);
  return total;
}

/// Largest (or smallest) of x; NaN when there is one.
template <bool Max, class T>
inline T row_extreme(const T* x, int64_t n) {
  T best = x[0];
  int nan = 0;
  if constexpr (Max) {
#pragma omp simd reduction(max : best) reduction(| : nan)
    for (int64_t i = 0; i < n; ++i) {
      best = x[i] > best ? x[i] : best;
      nan |= x[i] != x[i];
    }
  } else {
#pragma omp simd reduction(min : best) reduction(| : nan)
    for (int64_t i = 0; i < n; ++i) {
      best = x[i] < best ? x[i] : best;
      nan |= x[i] != x[i];
    }
  }
  return nan ? std::numeric_limits<T>::quiet_NaN() : best;
}
template <class T>
inline T row_max(const T* x, int64_t n) {
  return row_extreme<true>(x, n);
}

}  // namespace pkg

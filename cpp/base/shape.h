// SPDX-License-Identifier: Apache-2.0
// base/shape.h: sizes and strides: a short vector of int64 that lives inside its owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <vector>

namespace pkg {

/// Vector of int64 with room for six entries in place; longer ones go to the heap.
class Shape {
 public:
  static constexpr size_t kInline = 6;

  Shape() noexcept : size_(0), capacity_(kInline) {}
  Shape(std::initializer_list<int64_t> values) : Shape(values.begin(), values.size()) {}
  Shape(std::span<const int64_t> values) : Shape(values.data(), values.size()) {}
  Shape(const std::vector<int64_t>& values) : Shape(values.data(), values.size()) {}
  Shape(const int64_t* values, size_t count) : Shape() {
    reserve(count);
    size_ = uint32_t(count);
    if (count) std::memcpy(data(), values, count * sizeof(int64_t));
  }
  Shape(size_t count, int64_t value) : Shape() {
    reserve(count);
    size_ = uint32_t(count);
    std::fill_n(data(), count, value);
  }
  Shape(const Shape& other) : size_(other.size_), capacity_(kInline) {
    // Not decided by its size: a long one that became short is still on the heap.
    if (__builtin_expect(other.on_heap(), 0)) copy_from_heap(other);
    else copy_inline(other);
  }
  Shape(Shape&& other) noexcept : size_(other.size_), capacity_(other.capacity_) {
    take(other);
  }
  Shape& operator=(const Shape& other) {
    if (this != &other) {
      reserve(other.size());
      size_ = other.size_;
      std::memcpy(data(), other.data(), size_ * sizeof(int64_t));
    }
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      if (on_heap()) delete[] heap_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      take(other);
    }
    return *this;
  }
  ~Shape() {
    if (on_heap()) delete[] heap_;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return on_heap() ? heap_ : inline_; }
  const int64_t* data() const { return on_heap() ? heap_ : inline_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t front() const { return data()[0]; }
  int64_t back() const { return data()[size_ - 1]; }
  int64_t& back() { return data()[size_ - 1]; }

  void reserve(size_t count) {
    if (count > capacity_) grow(count);
  }
  void resize(size_t count, int64_t value = 0) {
    reserve(count);
    if (count > size_) std::fill(data() + size_, data() + count, value);
    size_ = uint32_t(count);
  }
  void push_back(int64_t value) {
    if (size_ == capacity_) grow(size_ * 2);
    data()[size_++] = value;
  }
  void insert(size_t at, int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  void clear() { size_ = 0; }

  /// Product of the entries; 1 when empty.  RuntimeError where the product of the entries
  /// other than 0 overflows.  The sizes of every tensor have passed this check, so the
  /// product of some of them does not overflow either.
  int64_t numel() const {
    int64_t n = 1;
    bool overflow = false;
    for (int64_t v : *this) overflow |= __builtin_mul_overflow(n, v, &n);
    return __builtin_expect(overflow || n == 0, 0) ? careful_numel() : n;
  }
  operator std::span<const int64_t>() const { return {data(), size_}; }
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.size_ != b.size_) return false;
    const int64_t *x = a.data(), *y = b.data();
    for (uint32_t i = 0; i < a.size_; ++i) {
      if (x[i] != y[i]) return false;
    }
    return true;
  }

 private:
  bool on_heap() const { return capacity_ > kInline; }
  void grow(size_t count);
  void copy_from_heap(const Shape& other);
  int64_t careful_numel() const;
  // Most shapes have at most two dimensions.  The lengths are constants, because the
  // compiler makes a call of memmove out of a loop.
  void copy_inline(const Shape& other) noexcept {
    if (size_ <= 2) std::memcpy(inline_, other.inline_, 2 * sizeof(int64_t));
    else std::memcpy(inline_, other.inline_, sizeof(inline_));
  }
  void take(Shape& other) noexcept {
    if (__builtin_expect(on_heap(), 0)) {
      heap_ = other.heap_;
      other.size_ = 0;
      other.capacity_ = kInline;
    } else {
      copy_inline(other);
    }
  }

  uint32_t size_;
  uint32_t capacity_;
  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
};

/// "(2, 3)" as Python prints a tuple.
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// Strides, in elements, of a row-major layout.  RuntimeError where one overflows.
Shape contiguous_strides(const Shape& sizes);

/// Brings `dim` from [-ndim, ndim) to [0, ndim); IndexError otherwise.  A 0-d tensor
/// accepts 0 and -1, as in PyTorch.
int64_t wrap_dim(const char* op, int64_t dim, int64_t ndim);

/// Wraps each of `dims`, refuses repeats; an empty list means every dimension.
Shape wrap_dims(const char* op, const Shape& dims, int64_t ndim);

/// Common shape of two operands under NumPy's broadcasting; RuntimeError that
/// names both sizes and the dimension otherwise.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

}  // namespace pkg

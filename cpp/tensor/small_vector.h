// SPDX-License-Identifier: Apache-2.0
// tensor/small_vector.h: a vector whose first N entries lie inside its owner and whose
// further ones come from the caching allocator.  For graph nodes, whose lists are nearly
// always short.
#pragma once

#include <new>
#include <utility>

#include "tensor/allocator.h"

namespace pkg {

template <class T, uint32_t N>
class SmallVector {
 public:
  SmallVector() = default;
  SmallVector(const SmallVector&) = delete;
  SmallVector& operator=(const SmallVector&) = delete;
  ~SmallVector() { clear(); }

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) reserve(2 * capacity_);
    return *new (data_ + size_++) T(std::forward<Args>(args)...);
  }
  void push_back(T value) { emplace_back(std::move(value)); }

  void reserve(uint32_t count) {
    if (count <= capacity_) return;
    T* fresh = static_cast<T*>(allocate(count * sizeof(T)));
    for (uint32_t i = 0; i < size_; ++i) {
      new (fresh + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    release();
    data_ = fresh;
    capacity_ = count;
  }
  /// Destroys the entries and gives back what was allocated.
  void clear() noexcept {
    for (uint32_t i = 0; i < size_; ++i) data_[i].~T();
    size_ = 0;
    release();
    data_ = inline_data();
    capacity_ = N;
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(room_); }
  void release() noexcept {
    if (capacity_ > N) deallocate(data_, capacity_ * sizeof(T));
  }

  T* data_ = inline_data();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) unsigned char room_[N * sizeof(T)];
};

/// Standard allocator over the caching one: short-lived vectors without malloc.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}
  T* allocate(size_t n) { return static_cast<T*>(pkg::allocate(n * sizeof(T))); }
  void deallocate(T* ptr, size_t n) noexcept { pkg::deallocate(ptr, n * sizeof(T)); }
  friend bool operator==(PoolAllocator, PoolAllocator) { return true; }
};

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// base/intrusive.h: objects that carry their own reference count, and the pointer
// that keeps them alive.  One word per handle, no control block.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace pkg {

/// Base of reference-counted objects.  The last Ref calls `dispose()`, which deletes
/// by default; a class that lives in a free list or must not recurse overrides it.
class Intrusive {
 public:
  Intrusive() = default;
  Intrusive(const Intrusive&) = delete;
  Intrusive& operator=(const Intrusive&) = delete;

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const_cast<Intrusive*>(this)->dispose();
    }
  }
  /// Adds a reference unless the object is already dying.
  bool try_retain() const noexcept {
    uint32_t count = count_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (count_.compare_exchange_weak(count, count + 1)) return true;
    }
    return false;
  }
  uint32_t use_count() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Whether there are just these references, all the caller's; what others did with theirs
  /// is seen.
  bool owned_by(uint32_t references) const noexcept {
    return count_.load(std::memory_order_acquire) == references;
  }

 protected:
  /// For who makes an object and hands out so many references at once.
  explicit Intrusive(uint32_t references) noexcept : count_(references) {}
  /// For who has a reference: whether nobody else has one, and what others did with theirs
  /// is seen.  Nobody can come by one then, but through who asks or by try_retain().
  bool sole_owner() const noexcept { return owned_by(1); }
  virtual ~Intrusive() = default;
  virtual void dispose() noexcept { delete this; }

 private:
  mutable std::atomic<uint32_t> count_{1};
};

/// Owning pointer to an Intrusive object.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  Ref(const Ref& other) noexcept : ptr_(other.ptr_) {
    if (ptr_) ptr_->retain();
  }
  Ref(Ref&& other) noexcept : ptr_(std::exchange(other.ptr_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U> other) noexcept : ptr_(other.detach()) {}
  ~Ref() {
    if (ptr_) ptr_->release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(ptr_, other.ptr_);
    return *this;
  }

  template <class... Args>
  static Ref make(Args&&... args) {
    return adopt(new T(std::forward<Args>(args)...));
  }
  /// Takes over one existing reference.
  static Ref adopt(T* ptr) noexcept {
    Ref ref;
    ref.ptr_ = ptr;
    return ref;
  }
  /// Adds a reference of its own.
  static Ref share(T* ptr) noexcept {
    if (ptr) ptr->retain();
    return adopt(ptr);
  }
  /// Gives the reference away.
  T* detach() noexcept { return std::exchange(ptr_, nullptr); }

  T* get() const noexcept { return ptr_; }
  T* operator->() const noexcept { return ptr_; }
  T& operator*() const noexcept { return *ptr_; }
  explicit operator bool() const noexcept { return ptr_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.ptr_ == b.ptr_; }

 private:
  T* ptr_ = nullptr;
};

}  // namespace pkg

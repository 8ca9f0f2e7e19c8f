// SPDX-License-Identifier: Apache-2.0
// scheduler/unique_function.h: the body of a task: a move-only `void()` callable whose
// captures live inside it up to kInlineSize bytes, so that most submits allocate
// nothing.  Used by Task; anything callable converts to it.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace pkg {

class UniqueFunction {
 public:
  static constexpr std::size_t kInlineSize = 88;

  UniqueFunction() noexcept = default;
  UniqueFunction(std::nullptr_t) noexcept {}

  template <class F, class T = std::decay_t<F>>
    requires(!std::is_same_v<T, UniqueFunction> && std::is_invocable_v<T&>)
  UniqueFunction(F&& fn) {
    if constexpr (kFitsInline<T>) {
      ::new (static_cast<void*>(buffer_)) T(std::forward<F>(fn));
      table_ = &kInlineTable<T>;
    } else {
      ::new (static_cast<void*>(buffer_)) T*(new T(std::forward<F>(fn)));
      table_ = &kHeapTable<T>;
    }
  }

  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~UniqueFunction() { reset(); }

  explicit operator bool() const noexcept { return table_ != nullptr; }
  void operator()() { table_->call(buffer_); }

  /// Destroys the callable and its captures.
  void reset() noexcept {
    if (const Table* table = std::exchange(table_, nullptr)) table->destroy(buffer_);
  }

 private:
  struct Table {
    void (*call)(void* self);
    void (*relocate)(void* to, void* from) noexcept;
    void (*destroy)(void* self) noexcept;
  };

  template <class T>
  static constexpr bool kFitsInline = sizeof(T) <= kInlineSize &&
                                      alignof(T) <= alignof(void*) &&
                                      std::is_nothrow_move_constructible_v<T>;

  template <class T>
  static void relocate(void* to, void* from) noexcept {
    T* source = static_cast<T*>(from);
    ::new (to) T(std::move(*source));
    source->~T();
  }

  template <class T>
  static constexpr Table kInlineTable = {
      [](void* self) { (*static_cast<T*>(self))(); }, &relocate<T>,
      [](void* self) noexcept { static_cast<T*>(self)->~T(); }};

  template <class T>
  static constexpr Table kHeapTable = {
      [](void* self) { (**static_cast<T**>(self))(); }, &relocate<T*>,
      [](void* self) noexcept { delete *static_cast<T**>(self); }};

  void take(UniqueFunction& other) noexcept {
    table_ = std::exchange(other.table_, nullptr);
    if (table_) table_->relocate(buffer_, other.buffer_);
  }

  const Table* table_ = nullptr;
  alignas(void*) std::byte buffer_[kInlineSize];
};

}  // namespace pkg

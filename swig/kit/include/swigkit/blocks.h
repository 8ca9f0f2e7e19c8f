// SPDX-License-Identifier: Apache-2.0
// swigkit/blocks.h: memory of C++ objects that Python has ended, for the next ones of their
// class.
#pragma once

#include "ref.h"

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A few pieces of memory from C++'s heap, where C++ may delete what lies in them.  Needs the
/// GIL.
class Blocks {
 public:
  /// Null when there is none.
  void* take() { return count_ ? kept_[--count_] : nullptr; }
  void give(void* block) {
    if (count_ < kMost) kept_[count_++] = block;
    else ::operator delete(block);
  }

 private:
  static constexpr int kMost = 32;
  void* kept_[kMost]{};
  int count_ = 0;
};
template <class T>
inline constinit Blocks g_blocks{};

/// Whether a class has an `operator delete` of its own, of a pointer and these.
template <class T, class Pointed, class... More>
inline constexpr bool kDeletesItself = requires(Pointed* object, More... more) {
  T::operator delete(object, more...);
} || requires(Pointed* object, More... more) {
  T::operator delete(object, more..., sizeof(T));
} || requires(Pointed* object, More... more) {
  T::operator delete(object, more..., std::align_val_t{});
} || requires(Pointed* object, More... more) {
  T::operator delete(object, more..., sizeof(T), std::align_val_t{});
};

/// Whether the memory of a T is that of C++'s heap, of its size and no other.
template <class T>
inline constexpr bool kReusesMemory = kReuses && std::is_destructible_v<T> &&
                                      (!std::is_polymorphic_v<T> || std::is_final_v<T>) &&
                                      sizeof(T) <= 256 &&
                                      alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ &&
                                      !requires { T::operator new(sizeof(T)); } &&
                                      !kDeletesItself<T, void> &&
                                      !kDeletesItself<T, T, std::destroying_delete_t>;

/// Where `::new (place) T(...)` makes an object: there, or in memory of C++'s heap.
struct Place {
  void* inside;
  Blocks* blocks;
};

}  // namespace swigkit

inline void* operator new(size_t size, swigkit::Place place) {
  if (place.inside) return place.inside;
  void* block = place.blocks ? place.blocks->take() : nullptr;
  return block ? block : ::operator new(size);
}
/// Of an object whose constructor has thrown.
inline void operator delete(void* memory, swigkit::Place place) {
  if (memory != place.inside) ::operator delete(memory);
}

namespace [[gnu::visibility("hidden")]] swigkit {

/// A new T, for which `delete` is right.
template <class T, class... Args>
  requires requires(Args&&... args) { new T(std::forward<Args>(args)...); }
T* make_in_heap(Args&&... args) {
  if constexpr (kReusesMemory<T>) {
    return ::new (Place{nullptr, &g_blocks<T>}) T(std::forward<Args>(args)...);
  } else {
    return new T(std::forward<Args>(args)...);
  }
}

}  // namespace swigkit

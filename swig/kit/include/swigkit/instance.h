// SPDX-License-Identifier: Apache-2.0
// swigkit/instance.h: Python objects that stand for C++ ones: what they are.  objects.h makes
// and finds them.
//
// All classes of a module share one layout, Instance, so that Python classes may have
// several of them as bases.  What a Python object knows of its C++ object is Class: one
// static record for each C++ class, filled where it can be from the type itself, and
// else when the module begins (classes.h).
#pragma once

#include "argument.h"
#include "blocks.h"
#include "error.h"
#include "registry.h"

#include <cxxabi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

struct Class;

/// A base class, and how to get there.
struct BaseClass {
  const Class* record;
  void* (*up)(void*);
};

/// Whether C++ has the definition, and not only the name.
template <class T>
concept IsComplete = requires { sizeof(T); };

/// A type as C++ spells it.  The text stays, one for each type.
[[gnu::cold, gnu::noinline]] inline const char* readable_name(const std::type_info& type) {
  static std::mutex mutex;  // an error need not wait for the GIL
  static auto& known = *new std::unordered_map<std::type_index, std::string>();
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(type, type.name());
  if (is_new) {
    char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
    if (text) at->second = text;
    std::free(text);
  }
  return at->second.c_str();
}

/// What is known of a wrapped C++ class.
struct Class {
  const std::type_info& cpp;
  void (*destroy)(void*);  // null: it has no public destructor
  // Takes the object over; of an overridden one its Python object is given.
  std::shared_ptr<void> (*share)(void*, struct Instance*);
  bool shares_itself;             // of std::enable_shared_from_this
  bool tracked;                   // one Python object for each C++ object
  void* (*to_heap)(const void*);  // a copy; null unless kFitsInside
  size_t size;
  // How many shares there are in an object that counts them itself (%intrusive); null where
  // nobody knows.
  long (*shares)(void*) = nullptr;
  PyTypeObject* type = nullptr;
  bool known = false;  // what Python owns is found by its address (kFoundAgain)
  std::vector<BaseClass> bases{};
  bool inside = false;   // small values lie in their Python objects
  bool derived = false;  // classes that are derived from it are wrapped, too
  // Of a class that Python may override: pickling.h.
  PyObject* (*make_overridden)(PyObject*, PyObject*) = nullptr;
  // Of another module's class: that module's record.
  const Class* original = nullptr;

  const char* name() const {
    if (!type) return readable_name(cpp);
    const char* dot = std::strrchr(type->tp_name, '.');
    return dot ? dot + 1 : type->tp_name;
  }
};

template <class T>
inline constexpr bool kSharesItself = requires(T& t) { t.weak_from_this(); };

/// Small plain values lie in their Python object, without a piece of memory of their own.
inline constexpr size_t kRoom = 32;
template <class T>
inline constexpr bool kFitsInside = std::is_copy_constructible_v<T> &&
                                    std::is_trivially_copyable_v<T> &&
                                    std::is_trivially_destructible_v<T> &&
                                    sizeof(T) <= kRoom && alignof(T) <= 8;

/// The same of a class without %value.  Where C++ may take an object over or share it, the
/// object has to stay where it is, so there each has its own piece of memory.
template <class T>
inline constexpr bool kMayLieInside = kFitsInside<T> && requires(const T& value) {
  new T(value);
} && !requires { T::operator new(sizeof(T)); };

/// Whether a constructor is given the place for its object.
template <class T, bool is_value>
inline constexpr bool kIsPlaced = kReusesMemory<T> ||
                                  (is_value ? kFitsInside<T> : kMayLieInside<T>);
/// Whether functions of this module take objects of T over or share them.
template <class T>
inline constinit bool g_leave_python = false;
template <class T>
inline const bool kLeavePython = (g_leave_python<T> = true);  // before the module begins
/// Whether they take or give objects of T in a unique_ptr.  Then C++ may give out first a
/// reference to an object and later the object: both are one Python object.
template <class T>
inline constinit bool g_owned_singly = false;
template <class T>
inline const bool kOwnedSingly = (g_owned_singly<T> = true);
/// Whether they pass objects of T by reference to Python's functions and overrides: one that
/// Python owns is the same object there.
template <class T>
inline constinit bool g_found_again = false;
template <class T>
inline const bool kFoundAgain = (g_found_again<T> = true);

/// Ends the last share in an overridden object (ownership.h).
struct EndOfShares {
  Instance* self;
  void operator()(void* object) const;
};
/// Ends the last share in another object that Python has made; a std::unique_ptr may take it
/// over before (take_from()).
struct EndOfOwn {
  void (*destroy)(void*);
  void* object;
  const std::type_info* type;
  bool given = false;
  void operator()(void* whole) const {
    if (!given) destroy(whole);
  }
};

namespace detail {
template <class T>
void destroy(void* object) {
  if constexpr (std::is_nothrow_destructible_v<T>) {
    delete static_cast<T*>(object);
  } else {
    try {
      delete static_cast<T*>(object);
    } catch (...) { show_lost_error(); }
  }
}
/// The same with the GIL.
template <class T>
void destroy_here(void* object) {
  if constexpr (std::is_nothrow_destructible_v<T>) {
    static_cast<T*>(object)->~T();
  } else {
    try {
      static_cast<T*>(object)->~T();
    } catch (...) { show_lost_error(); }
  }
  g_blocks<T>.give(object);
}
template <class T>
std::shared_ptr<void> share(void* object, Instance* overridden) {
  if (overridden)
    return std::shared_ptr<T>(static_cast<T*>(object), EndOfShares{overridden});
  return std::shared_ptr<T>(static_cast<T*>(object),
                            EndOfOwn{destroy<T>, object, &typeid(T)});
}
/// Of a class whose destructor waits for threads that may want the GIL.
template <class T>
void destroy_released(void* object) {
  GilReleaseIfHeld released;
  destroy<T>(object);
}
template <class T>
std::shared_ptr<void> share_released(void* object, Instance* overridden) {
  if (overridden) return share<T>(object, overridden);
  return std::shared_ptr<T>(static_cast<T*>(object),
                            EndOfOwn{destroy_released<T>, object, &typeid(T)});
}
template <class T>
constexpr auto copier() -> void* (*)(const void*) {
  // A class may say that its objects are on the stack alone.
  if constexpr (kFitsInside<T> && requires(const T& value) { new T(value); }) {
    return
        [](const void* object) -> void* { return new T(*static_cast<const T*>(object)); };
  } else {
    return nullptr;
  }
}
template <class T>
constexpr auto destroyer() -> void (*)(void*) {
  if constexpr (kReusesMemory<T>) return &destroy_here<T>;
  else if constexpr (std::is_destructible_v<T>) return &destroy<T>;
  else return nullptr;
}
template <class T>
constexpr auto sharer() -> std::shared_ptr<void> (*)(void*, Instance*) {
  if constexpr (std::is_destructible_v<T>) return &share<T>;
  else return nullptr;
}
}  // namespace detail

/// The record of T.  Of copies of a value each has its own Python object; others have one
/// object while it lives, so that `is` tells whether they are the same.
template <class T>
inline Class class_of{typeid(T),
                      detail::destroyer<T>(),
                      detail::sharer<T>(),
                      kSharesItself<T>,
                      std::is_polymorphic_v<T> || !std::is_copy_constructible_v<T>,
                      detail::copier<T>(),
                      sizeof(T)};

enum class Owner : unsigned char {
  Nobody,  // C++ owns the object, and must keep it
  Python,  // `object` is deleted with its Python object
  Shared,  // `holder` has a share
  Gone,    // C++ lent it, or what it is a part of, to a call that is over
  Taken,   // C++ took that over by std::unique_ptr: there is nothing to use any more
};

struct Instance {
  PyObject_HEAD void* object;  // null before __init__ and when it was taken
  const Class* record;         // what `object` is, perhaps derived from the Python class's
  PyObject* weakrefs;
  PyObject* kept;   // what the C++ object depends on: null, an object, or a list of them
  PyObject* outer;  // of a part: the Python object that has several C++ objects, or null
  Instance* next;   // of a chain of Tracked
  std::shared_ptr<void> holder;
  Owner owner;
  bool tracked;     // stands in Registry::tracked
  bool overridden;  // C++ calls methods of the Python object (a director)
  bool given;       // and C++ alone deletes it, which then drops a reference
  bool held;        // and C++ alone has shares in it; the last one drops a reference
  uint8_t listed;  // lent out of another, by a LentLink in its room; 2: of several (kept.h)
  uint16_t views;  // how many buffers of its memory there are; kManyViews: so many or more
  Instance* lent;  // the first of those that are lent out of it
  alignas(8) char room[kRoom];

  bool is_inside() const { return object == room; }
  /// Whether nothing has to be done at its end: a small value that nobody else knows of.
  bool is_bare() const {
    return is_inside() && !weakrefs && !kept && !holder && !tracked && !overridden;
  }
  /// Whether its C++ object is in memory of its own, and nobody else knows of either.
  bool is_alone() const {
    return owner == Owner::Python && !is_inside() && !weakrefs && !kept && !outer &&
           !holder && !tracked && !overridden && !listed && !lent;
  }
};

/// Where `::new (place_of<T>(self)) T(...)` makes an object: in the Python object or not.  If
/// that has one already, by an __init__ that an argument has called, nothing is overwritten.
/// `has_gil`: whether the constructor is called with the GIL.
template <class T>
Place place_of(PyObject* self, bool has_gil = true) {
  auto* instance = reinterpret_cast<Instance*>(self);
  const bool free = !instance->object && !instance->listed;
  const bool inside = kFitsInside<T> && class_of<T>.inside && free;
  return {inside ? instance->room : nullptr,
          kReusesMemory<T> && has_gil ? &g_blocks<T> : nullptr};
}

/// What all classes have as their last base.
inline PyTypeObject* g_root = nullptr;

inline bool is_instance(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), g_root);
}

/// The record of the module that has made the class.
inline const Class& actual(const Class& own) { return own.original ? *own.original : own; }

inline bool is_derived(const Class* from, const Class* to) {
  if (from == to) return true;
  for (const BaseClass& base : from->bases) {
    if (is_derived(base.record, to)) return true;
  }
  return false;
}

/// The address as that of a base class; null when `to` is none.
inline void* cast_up(const Class* from, void* object, const Class* to) {
  if (from == to) return object;
  for (const BaseClass& base : from->bases) {
    if (void* found = cast_up(base.record, base.up(object), to)) return found;
  }
  return nullptr;
}

inline void Tracked::grow() {
  std::vector<Instance*> before(std::max<size_t>(2 * chains_.size(), 64));
  before.swap(chains_);
  shift_ = 64 - std::countr_zero(chains_.size());
  for (Instance* one : before) {
    while (one) {
      Instance*& first = chains_[place_of(one->object)];
      Instance* rest = std::exchange(one->next, first);
      first = std::exchange(one, rest);
    }
  }
}
inline void Tracked::add(Instance* one) {
  if (count_ == chains_.size()) grow();
  Instance*& first = chains_[place_of(one->object)];
  one->next = std::exchange(first, one);
  ++count_;
}
inline void Tracked::remove(Instance* one) {
  Instance** at = &chains_[place_of(one->object)];
  while (*at && *at != one) at = &(*at)->next;
  if (!*at) return;
  *at = one->next;
  --count_;
}
template <class F>
Instance* Tracked::find(const void* object, F fits) const {
  if (empty()) return nullptr;
  Instance* one = chains_[place_of(object)];
  while (one && (one->object != object || !fits(one))) one = one->next;
  return one;
}

inline void track(Instance* self) {
  g_registry->tracked.add(self);
  self->tracked = true;
}
inline void untrack(Instance* self) {
  if (std::exchange(self->tracked, false)) g_registry->tracked.remove(self);
}

/// Exact objects that are no more, to be used again: all have one size.
inline constexpr int kMaxFree = 64;
inline Instance* g_free[kMaxFree];
inline int g_free_count = 0;

/// A new object of exactly this class, without its C++ object.
inline Instance* allocate(PyTypeObject* type) {
  Instance* self;
  if (__builtin_expect(PyType_IS_GC(type), 0)) {
    self = reinterpret_cast<Instance*>(type->tp_alloc(type, 0));
    if (!self) return nullptr;
  } else if (__builtin_expect(g_free_count > 0, 1)) {
    self = g_free[--g_free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(self), type);
  } else {
    self = PyObject_New(Instance, type);
    if (!self) return nullptr;
  }
  self->object = nullptr;
  self->record = nullptr;
  self->weakrefs = self->kept = self->outer = nullptr;
  new (&self->holder) std::shared_ptr<void>();
  self->owner = Owner::Nobody;
  self->tracked = self->overridden = self->given = self->held = false;
  self->listed = 0;
  self->views = 0;
  self->lent = nullptr;
  return self;
}

}  // namespace swigkit

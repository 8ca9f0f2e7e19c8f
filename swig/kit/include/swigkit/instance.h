// SPDX-License-Identifier: Apache-2.0
// swigkit/instance.h: Python objects that stand for C++ ones.
//
// All classes of a module share one layout, Instance, so that Python classes may have
// several of them as bases.  What a Python object knows of its C++ object is Class: one
// static record for each C++ class, filled where it can be from the type itself, and
// else when the module begins (classes.h).
#pragma once

#include "argument.h"
#include "error.h"
#include "registry.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
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

/// A type as C++ spells it.  The text stays, as types are few.
[[gnu::cold, gnu::noinline]] inline const char* readable_name(const std::type_info& type) {
  int status = 0;
  const char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  return text ? text : type.name();
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
  PyTypeObject* type = nullptr;
  std::vector<BaseClass> bases{};
  bool inside = false;  // small values lie in their Python objects
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

/// Ends the last share in an overridden object (ownership.h).
struct EndOfShares {
  Instance* self;
  void operator()(void* object) const;
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
template <class T>
std::shared_ptr<void> share(void* object, Instance* overridden) {
  if (overridden)
    return std::shared_ptr<T>(static_cast<T*>(object), EndOfShares{overridden});
  if constexpr (std::is_nothrow_destructible_v<T>) {
    return std::shared_ptr<T>(static_cast<T*>(object));
  } else {
    return std::shared_ptr<T>(static_cast<T*>(object), destroy<T>);
  }
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
  return std::shared_ptr<T>(static_cast<T*>(object), destroy_released<T>);
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
  if constexpr (std::is_destructible_v<T>) return &destroy<T>;
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
                      detail::copier<T>()};

enum class Owner : unsigned char {
  Nobody,  // C++ owns the object, and must keep it
  Python,  // `object` is deleted with its Python object
  Shared,  // `holder` has a share
  Gone,    // C++ lent it to a call that is over
  Taken,   // C++ took it over by std::unique_ptr: there is nothing to use any more
};

struct Instance {
  PyObject_HEAD void* object;  // null before __init__ and when it was taken
  const Class* record;         // what `object` is, perhaps derived from the Python class's
  PyObject* weakrefs;
  PyObject* kept;   // what the C++ object depends on: null, an object, or a list of them
  PyObject* outer;  // of a part: the Python object that has several C++ objects, or null
  std::shared_ptr<void> holder;
  Owner owner;
  bool tracked;     // stands in Registry::tracked
  bool overridden;  // C++ calls methods of the Python object (a director)
  bool given;       // and C++ alone deletes it, which then drops a reference
  bool held;        // and C++ alone has shares in it; the last one drops a reference
  alignas(8) char room[kRoom];

  bool is_inside() const { return object == room; }
  /// Whether nothing has to be done at its end: a small value that nobody else knows of.
  bool is_bare() const {
    return is_inside() && !weakrefs && !kept && !holder && !tracked && !overridden;
  }
};

/// Where `::new (room_of<T>(self)) T(...)` makes an object: in the Python object or not.
struct Room {
  void* inside;
};
template <class T>
Room room_of(PyObject* self) {
  return {class_of<T>.inside ? reinterpret_cast<Instance*>(self)->room : nullptr};
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

/// What an object keeps alive.
inline std::span<PyObject* const> kept_by(const Instance* self) {
  PyObject* kept = self->kept;
  if (!kept) return {};
  if (!PyList_CheckExact(kept)) return {&self->kept, 1};
  return {reinterpret_cast<PyListObject*>(kept)->ob_item, size_t(PyList_GET_SIZE(kept))};
}

/// Of a Python class with several wrapped bases, each of which has a C++ object: what stands
/// for that of the class `wanted`.
inline Instance* part_of(Instance* self, const Class* wanted) {
  if (__builtin_expect(!self->kept || is_derived(self->record, wanted), 1)) return self;
  for (PyObject* kept : kept_by(self)) {
    auto* part = reinterpret_cast<Instance*>(kept);
    if (!is_instance(kept) || !part->outer) continue;
    if (part->outer == reinterpret_cast<PyObject*>(self) &&
        is_derived(part->record, wanted)) {
      return part;
    }
  }
  return self;
}

namespace detail {
// Of a weak reference: lets go of `self`, and of the reference.
inline PyObject* let_go_of_kept(PyObject* self, PyObject* reference) {
  Py_DECREF(self);
  Py_DECREF(reference);
  Py_RETURN_NONE;
}
inline PyMethodDef g_let_go_of_kept = {"let_go", let_go_of_kept, METH_O, nullptr};
}  // namespace detail

/// `kept` lives at least as long as `holder`; false with an error set when that cannot be.
inline bool keep_alive(PyObject* holder, PyObject* kept) {
  if (!holder || !kept || holder == kept || kept == Py_None) return true;
  if (is_instance(holder)) {
    auto* self = reinterpret_cast<Instance*>(holder);
    if (!self->kept && !PyList_CheckExact(kept)) {
      self->kept = new_ref(kept);
      return true;
    }
    // Most are kept again and again.
    const auto items = kept_by(self);
    for (size_t i = items.size(); i-- > 0 && i + 8 >= items.size();) {
      if (items[i] == kept) return true;
    }
    if (!self->kept || !PyList_CheckExact(self->kept)) {
      PyObject* list = PyList_New(0);
      if (!list || (self->kept && PyList_Append(list, self->kept) < 0)) {
        Py_XDECREF(list);
        return false;
      }
      Py_XDECREF(self->kept);  // the list has it
      self->kept = list;
    }
    return PyList_Append(self->kept, kept) == 0;
  }
  PyRef callback(PyCFunction_New(&detail::g_let_go_of_kept, kept));
  if (!callback || !PyWeakref_NewRef(holder, callback.get())) return false;
  Py_INCREF(kept);
  return true;
}

inline void track(Instance* self) {
  g_registry->tracked.emplace(self->object, self);
  self->tracked = true;
}
inline void untrack(Instance* self) {
  if (!self->tracked) return;
  self->tracked = false;
  auto [at, end] = g_registry->tracked.equal_range(self->object);
  for (; at != end; ++at) {
    if (at->second == self) {
      g_registry->tracked.erase(at);
      return;
    }
  }
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
  return self;
}

/// Lets go of what objects that C++ has no share in any more referred to: where there are
/// many, once in as many calls, so that a call looks at one of them on average.
inline void drop_orphans() {
  auto& orphans = g_registry->orphans;
  if (g_registry->until_sweep > 0) {
    --g_registry->until_sweep;
    return;
  }
  std::vector<PyRef> dropped;  // last of all, as that may come here again
  std::erase_if(orphans, [&](auto& entry) {
    if (!entry.second.object.expired()) return false;
    dropped.emplace_back(entry.second.kept);
    return true;
  });
  g_registry->until_sweep = orphans.size() < 16 ? 0 : orphans.size();
}
/// Whether `one` stands for a part of an object of several bases.
inline bool is_part(PyObject* one) {
  return is_instance(one) && reinterpret_cast<Instance*>(one)->outer;
}
/// The Python object ends.  What the C++ object refers to lives as long as that, which C++
/// may have shares in; or it is that of its next Python object (wrap_shared()).
inline void keep_for_shares(Instance* self) {
  if (!self->kept) return;
  std::vector<Instance*> shared;
  const auto add = [&](Instance* one) {
    if (!one->object || one->overridden || one->owner != Owner::Shared) return;
    if (one->holder.use_count() > 1) shared.push_back(one);
  };
  add(self);
  const auto all = kept_by(self);
  const bool has_parts = std::ranges::any_of(all, is_part);
  for (PyObject* one : all) {
    if (is_part(one)) add(reinterpret_cast<Instance*>(one));
  }
  if (shared.empty()) return;
  drop_orphans();
  for (Instance* one : shared) {
    PyRef kept = PyRef::borrow(self->kept);
    if (has_parts) {  // which end with this; what else is kept may be of any of them
      kept = PyRef(PyList_New(0));
      for (PyObject* other : kept_by(self)) {
        if (is_part(other)) continue;
        if (!kept || PyList_Append(kept.get(), other) < 0) return PyErr_Clear();
      }
      if (PyList_GET_SIZE(kept.get()) == 0) return;
    }
    g_registry->orphans.emplace(one->object, Registry::Orphan{one->holder, kept.release()});
  }
}
/// The other way, of a new Python object.
inline void take_kept(Instance* self) {
  if (self->kept) return;
  auto& orphans = g_registry->orphans;
  auto [at, end] = orphans.equal_range(self->object);
  while (at != end) {
    const std::weak_ptr<void>& object = at->second.object;
    const bool other = object.owner_before(self->holder) ||
                       self->holder.owner_before(object);
    if (other) {
      ++at;
      continue;
    }
    const PyRef kept(at->second.kept);  // several of an object and a part of it
    at = orphans.erase(at);
    if (!self->kept) {
      self->kept = new_ref(kept.get());
      continue;
    }
    const bool list = PyList_CheckExact(kept.get());
    const Py_ssize_t count = list ? PyList_GET_SIZE(kept.get()) : 1;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* one = list ? PyList_GET_ITEM(kept.get(), i) : kept.get();
      if (!keep_alive(reinterpret_cast<PyObject*>(self), one)) PyErr_Clear();
    }
  }
}

/// The C++ object is Python's from now on.
inline void own(Instance* self) {
  const Class& record = *self->record;
  // Without a public destructor, or of a %borrowed class, the object is C++'s.
  if (!record.destroy) return;
  self->owner = Owner::Python;
  if (record.shares_itself && !self->overridden) {
    self->holder = record.share(self->object, nullptr);
    self->owner = Owner::Shared;
  }
}
/// The same of one that C++ lent before.
inline void own_lent(Instance* self) {
  own(self);
  if (self->owner == Owner::Nobody) return;
  // What C++ had of an overridden object (take_from()).
  if (std::exchange(self->given, false)) Py_DECREF(reinterpret_cast<PyObject*>(self));
}

/// Gives the C++ object to the Python object, or lets it refer to it.
inline void put(Instance* self, void* object, const Class& record, Owner owner) {
  self->object = object;
  self->record = &record;
  self->owner = owner;
  if (owner == Owner::Python) {
    self->owner = Owner::Nobody;
    own(self);
  }
  if (record.tracked) track(self);
}

/// Ends the C++ object, if it is Python's.
inline void let_go(Instance* self) {
  untrack(self);
  void* object = std::exchange(self->object, nullptr);
  const Owner owner = std::exchange(self->owner, Owner::Nobody);
  if (owner == Owner::Python && object != self->room) self->record->destroy(object);
  if (self->holder) self->holder.reset();
}

/// A record's Python object for this C++ object, a new reference; null when there is none.
inline PyObject* find_tracked(const void* object, const Class& record) {
  auto [at, end] = g_registry->tracked.equal_range(object);
  for (; at != end; ++at) {
    Instance* self = at->second;
    // A director is of a class that has no record.
    const bool fits = self->record == &record ||
                      (self->overridden && cast_up(self->record, self->object, &record));
    if (!fits || Py_REFCNT(self) == 0) continue;
    if (self->outer && Py_REFCNT(self->outer) == 0) continue;
    Py_INCREF(self);
    return reinterpret_cast<PyObject*>(self);
  }
  return nullptr;
}

[[gnu::cold, gnu::noinline]] inline bool refuse_no_class(const std::type_info& type) {
  if (type == typeid(PyObject)) {
    PyErr_SetString(PyExc_TypeError,
                    "no conversion for a PyObject* here: one may be a parameter, a result "
                    "or a plain member of an object.");
    return false;
  }
  const char* name = readable_name(type);
  if (std::strncmp(name, "std::", 5) == 0) {
    PyErr_Format(PyExc_TypeError,
                 "no conversion for C++'s %s: the kit has none of this standard type. "
                 "%%ignore what uses it and %%extend or %%inline a function with types "
                 "that Python has, or give it a swigkit::Convert.",
                 name);
    return false;
  }
  PyErr_Format(PyExc_TypeError,
               "no Python class for C++'s %s: the interface does not %%include its "
               "declaration, or does so in a module that was not imported.",
               name);
  return false;
}

/// A Python object for a C++ object of this class, or null with an error set.
inline PyObject* wrap_object(void* object, const Class& record, Owner owner) {
  if (!record.type) {
    if (owner == Owner::Python && record.destroy) record.destroy(object);
    refuse_no_class(record.cpp);
    return nullptr;
  }
  if (record.tracked && !g_registry->tracked.empty()) {
    if (PyObject* found = find_tracked(object, record)) {
      auto* self = reinterpret_cast<Instance*>(found);
      if (self->outer) {
        Py_INCREF(self->outer);
        Py_DECREF(found);
        return self->outer;
      }
      if (owner == Owner::Python && self->owner == Owner::Nobody) own_lent(self);
      return found;
    }
  }
  Instance* self = allocate(record.type);
  if (!self) {
    if (owner == Owner::Python && record.destroy) record.destroy(object);
    return nullptr;
  }
  put(self, object, record, owner);
  return reinterpret_cast<PyObject*>(self);
}

/// A Python object that owns this value.
template <class T, class U>
PyObject* wrap_value(U&& value) {
  const Class& record = actual(class_of<T>);
  if constexpr (kFitsInside<T>) {
    if (record.inside && record.type) {
      Instance* self = allocate(record.type);
      if (!self) return nullptr;
      put(self, ::new (static_cast<void*>(self->room)) T(std::forward<U>(value)), record,
          Owner::Python);
      return reinterpret_cast<PyObject*>(self);
    }
  }
  if constexpr (requires { new T(std::forward<U>(value)); }) {
    return wrap_object(new T(std::forward<U>(value)), record, Owner::Python);
  } else {
    PyErr_Format(PyExc_TypeError, "C++'s %s has no objects that Python could own",
                 readable_name(record.cpp));
    return nullptr;
  }
}

/// The most derived known class of the object, and its address as such.
template <class T>
std::pair<void*, const Class*> most_derived(T* object) {
  const Class& record = actual(class_of<T>);
  if constexpr (std::is_polymorphic_v<T>) {
    const std::type_info& type = typeid(*object);
    if (type != typeid(T)) {
      auto [at, end] = g_registry->by_type.equal_range(type);
      for (; at != end; ++at) {
        if (is_derived(at->second, &record)) {
          return {dynamic_cast<void*>(object), at->second};
        }
      }
      // A director is of a class that has no record.
      auto [own, last] = g_registry->tracked.equal_range(dynamic_cast<void*>(object));
      for (; own != last; ++own) {
        const Instance* self = own->second;
        if (self->overridden && cast_up(self->record, self->object, &record) == object) {
          return {self->object, self->record};
        }
      }
    }
  }
  return {object, &record};
}

/// Whether `argument` is the very Python object of this C++ object.
inline bool stands_for(PyObject* argument, const void* object, const Class& record) {
  if (!argument || !is_instance(argument)) return false;
  const auto* self = reinterpret_cast<Instance*>(argument);
  return self->object == object && self->record == &record;
}

/// The argument itself if it stands for the C++ object, or one that it keeps alive: what a
/// member points to.
inline PyObject* find_near(PyObject* argument, const void* object, const Class& record) {
  if (!argument || !is_instance(argument)) return nullptr;
  if (stands_for(argument, object, record)) return argument;
  const auto kept = kept_by(reinterpret_cast<Instance*>(argument));
  for (size_t i = kept.size(); i-- > 0 && i + 8 >= kept.size();) {  // the last ones
    if (stands_for(kept[i], object, record)) return kept[i];
  }
  return nullptr;
}

/// The arguments of a call whose result may have pointers to them inside: while it lives.
class Near {
 public:
  Near(PyObject* const* arguments, int count)
      : arguments_(arguments), count_(count), before_(std::exchange(last_, this)) {}
  Near(const Near&) = delete;
  ~Near() { last_ = before_; }

  /// The argument that stands for the object, or null; no new reference.
  static PyObject* find(const void* object, const Class& record) {
    for (int i = 0; last_ && i < last_->count_; ++i) {
      PyObject* found = find_near(last_->arguments_[i], object, record);
      if (found) return found;
    }
    return nullptr;
  }

 private:
  PyObject* const* arguments_;
  int count_;
  Near* before_;
  static inline thread_local Near* last_ = nullptr;
};

/// A Python object for *object; null is None.
template <class T>
PyObject* wrap_pointer(T* object, Owner owner) {
  if (!object) Py_RETURN_NONE;
  const auto [address, record] = most_derived(const_cast<std::remove_cv_t<T>*>(object));
  return wrap_object(address, *record, owner);
}

/// Whether the object ends with these pointers: others may only show it.
template <class T>
bool is_owned_by(const std::shared_ptr<T>& object) {
  return std::get_deleter<std::default_delete<T>>(object) ||
         std::get_deleter<std::default_delete<const T>>(object);
}
/// The same of one that others share; `owned` says that it was in a std::unique_ptr.
template <class T>
PyObject* wrap_shared(std::shared_ptr<T> object, bool owned = false) {
  if (!object) Py_RETURN_NONE;
  const auto [address, record] = most_derived(object.get());
  PyObject* made = wrap_object(address, *record, Owner::Shared);
  if (!made) return nullptr;
  auto* self = reinterpret_cast<Instance*>(made);
  if (self->holder || self->owner == Owner::Python) return made;
  // An overridden object may not keep itself alive, unless C++ gave back what it had.
  const bool gives_back = self->given && object.use_count() == 1 &&
                          (owned || is_owned_by(object));
  if (self->overridden && !gives_back) return made;
  self->holder = std::const_pointer_cast<std::remove_cv_t<T>>(std::move(object));
  self->owner = Owner::Shared;
  if (!g_registry->orphans.empty()) {
    take_kept(self);
    drop_orphans();
  }
  if (std::exchange(self->given, false)) Py_DECREF(made);
  return made;
}

[[gnu::cold, gnu::noinline]] inline void* refuse_object(PyObject* object,
                                                        const Class& wanted,
                                                        const Argument& where) {
  if (!wanted.type && !where.matching) return refuse_no_class(wanted.cpp), nullptr;
  if (wanted.type && PyType_IsSubtype(Py_TYPE(object), wanted.type)) {
    auto* self = reinterpret_cast<Instance*>(object);
    if (self->owner == Owner::Taken) {
      PyErr_Format(PyExc_ValueError,
                   "[%s] expected an object of Python's own for '%s', but this %s was "
                   "given to C++ and cannot be used any more.",
                   where.function, where.text().c_str(), Py_TYPE(object)->tp_name);
      return nullptr;
    }
    if (self->owner == Owner::Gone) {
      PyErr_Format(
          PyExc_ValueError,
          "[%s] expected an object that is still there for '%s', but C++ lent this "
          "%s for a call that is over.",
          where.function, where.text().c_str(), Py_TYPE(object)->tp_name);
      return nullptr;
    }
    PyErr_Format(PyExc_TypeError,
                 "[%s] expected an initialised %s for '%s'. Call %s.__init__() first.",
                 where.function, wanted.name(), where.text().c_str(),
                 self->object ? wanted.name() : "super()");
    return nullptr;
  }
  refuse(where, wanted.type ? one(wanted.name()) : "another class", object);
  return nullptr;
}

/// The slow way of pointer_of().
[[gnu::noinline]] inline void* find_object(PyObject* object, const Class& wanted,
                                           const Argument& where) {
  const Class* to = &actual(wanted);
  if (to->type && PyType_IsSubtype(Py_TYPE(object), to->type)) {
    auto* self = reinterpret_cast<Instance*>(object);
    if (self->object) {
      self = part_of(self, to);
      if (void* found = cast_up(self->record, self->object, to)) return found;
    }
  }
  return refuse_object(object, *to, where);
}

/// Whether the C++ object is of this class, and not of a derived one.
inline bool is_exactly(PyObject* object, const Class& wanted) {
  const Class* to = &actual(wanted);
  return to->type && PyType_IsSubtype(Py_TYPE(object), to->type) &&
         reinterpret_cast<Instance*>(object)->record == to;
}

/// The C++ object inside; null with an error set when there is none.
template <class T>
inline T* pointer_of(PyObject* object, const Argument& where) {
  using Plain = std::remove_cv_t<T>;
  const Class& wanted = class_of<Plain>;
  auto* self = reinterpret_cast<Instance*>(object);
  if (__builtin_expect(Py_TYPE(object) == wanted.type && self->record == &wanted &&
                           self->object != nullptr,
                       1)) {
    return static_cast<Plain*>(self->object);
  }
  // A derived class fits among overloads where there is none of its own.
  if (where.exact() && !is_exactly(object, wanted)) {
    where.matching->refused = true;
    return nullptr;
  }
  return static_cast<Plain*>(find_object(object, wanted, where));
}

}  // namespace swigkit

inline void* operator new(size_t size, swigkit::Room room) {
  return room.inside ? room.inside : ::operator new(size);
}
inline void operator delete(void* memory, swigkit::Room room) {
  if (memory != room.inside) ::operator delete(memory);
}

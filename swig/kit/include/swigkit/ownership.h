// SPDX-License-Identifier: Apache-2.0
// swigkit/ownership.h: shares in objects of Python's, objects that C++ takes over, and what
// overrides keep alive.
#pragma once

#include "objects.h"

#include <optional>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Whether a std::shared_ptr of C++'s has the overridden object, which was given to C++ and
/// came back so (wrap_shared()).
inline bool came_home(const Instance* self) {
  return self->overridden && self->holder && !self->record->shares_itself &&
         !std::get_deleter<EndOfShares>(self->holder);
}
/// C++ has it alone again: if that was the last share, the object ends here (end_director()).
inline void give_again(Instance* self) {
  Py_INCREF(reinterpret_cast<PyObject*>(self));
  self->owner = Owner::Nobody;
  self->given = true;
  PyObject *error_type, *error, *traceback;
  PyErr_Fetch(&error_type, &error, &traceback);  // which a destructor may not see
  self->holder.reset();
  PyErr_Restore(error_type, error, traceback);
}

/// Passed to a director's constructor, for the C++ object that it becomes a copy of.
template <class From>
struct Original {
  From&& object;
};

/// What the room of an overridden object is used for.
struct Overrides {
  void* whole = nullptr;        // where the C++ object begins
  std::weak_ptr<void> share{};  // what C++ has while the Python object has no share
};
static_assert(sizeof(Overrides) <= kRoom);
inline Overrides& overrides_of(Instance* self) {
  return *reinterpret_cast<Overrides*>(self->room);
}

/// tp_finalize of classes that Python may override: nobody in Python needs the object any
/// more.  If others have shares in it these keep its Python object, whose methods C++ calls.
inline void finalize_overridden(PyObject* object) {
  auto* self = reinterpret_cast<Instance*>(object);
  if (!self->overridden || !self->holder) return;
  if (came_home(self)) return give_again(self);
  if (self->record->shares) return keep_itself(self);
  if (!std::get_deleter<EndOfShares>(self->holder)) return;
  Py_INCREF(object);
  self->held = true;
  // Of the last share this is the end: the Python object has its C++ object back at once.
  std::shared_ptr<void> own = std::move(self->holder);
  overrides_of(self).share = own;
}

inline void EndOfShares::operator()(void* object) const {
  if (!interpreter_alive()) return;
  GilAcquire gil;
  if (!std::exchange(self->held, false)) return self->record->destroy(object);
  // Not of one that a std::unique_ptr has by now (let_go_of_share()).
  if (self->owner == Owner::Shared) self->owner = Owner::Python;
  drop(reinterpret_cast<PyObject*>(self));
}

/// Whether finalize_overridden() will be called: not where the class has a finalizer of its
/// own, nor when the object was finalized already, which CPython does once.
inline bool will_be_finalized(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  // Each module has its own finalize_overridden().
  const auto finalize = reinterpret_cast<Instance*>(object)->record->type->tp_finalize;
  if (!finalize || type->tp_finalize != finalize) return false;
  return !PyType_IS_GC(type) || !PyObject_GC_IsFinalized(object);
}
/// C++ has one share more in what counts itself.
inline void keep_counted(PyObject* object) {
  if (!is_instance(object)) return;
  auto* self = reinterpret_cast<Instance*>(object);
  if (!self->overridden || !self->holder || !self->record->shares) return;
  if (!will_be_finalized(object)) keep_itself(self);
}

/// The Python object gets the share that all others come from, so that a std::weak_ptr is
/// good as long as it lives, or until a std::unique_ptr takes the C++ object.  False when its
/// end will not be seen, but for what counts itself: see keep_counted().
inline bool share_overridden(Instance* self) {
  if (self->holder && !came_home(self)) return true;
  const bool counts = self->record->shares != nullptr;
  if (!counts && !will_be_finalized(reinterpret_cast<PyObject*>(self))) return false;
  if (self->holder) return true;
  if (self->owner != Owner::Python) return false;
  self->holder = self->record->share(self->object, self);
  self->owner = Owner::Shared;
  return true;
}

/// A share in the C++ object; false with an error set when there is none to be had.
template <class T>
bool shared_of(PyObject* object, std::shared_ptr<T>& value, const Argument& where) {
  T* pointer = pointer_of<T>(object, where);
  if (!pointer) return false;
  [[maybe_unused]] const bool* leave = &kLeavePython<T>;
  Instance* self = part_of(reinterpret_cast<Instance*>(object), &actual(class_of<T>));
  // What C++ has in a std::unique_ptr it deletes whoever shares it.
  if (!self->given && (self->overridden || self->is_inside())) {
    if (self->overridden && share_overridden(self)) {
      value = std::shared_ptr<T>(self->holder, pointer);
      return true;
    }
    std::shared_ptr<void> share;
    if (self->overridden) share = overrides_of(self).share.lock();
    if (!share) {
      // Its methods or its place are those of the Python object, which must live as long.
      Py_INCREF(object);
      share = std::shared_ptr<T>(pointer, [object](T*) {
        if (!interpreter_alive()) return;
        GilAcquire gil;
        drop(object);
      });
      if (self->overridden) overrides_of(self).share = share;
    }
    value = std::shared_ptr<T>(std::move(share), pointer);
    return true;
  }
  if (self->owner == Owner::Python) {
    self->holder = self->record->share(self->object, nullptr);
    self->owner = Owner::Shared;
  }
  if (self->owner == Owner::Shared) {
    value = std::shared_ptr<T>(self->holder, pointer);
    return true;
  }
  PyErr_Format(PyExc_ValueError,
               "[%s] expected an object that can be shared for '%s', got a %s that C++ "
               "owns without a std::shared_ptr",
               where.function, where.text().c_str(), Py_TYPE(object)->tp_name);
  return false;
}

/// Python still has buffers of memory that C++ has ended, and cannot be told to stop.
[[gnu::cold, gnu::noinline]] inline void report_views(PyObject* object, size_t views) {
  if (!views) return;
  HeldError before = HeldError::fetch();
  PyErr_Format(
      PyExc_BufferError,
      "C++ has ended a %s of whose memory there are buffers (%zu): a memoryview or "
      "an array. Using them reads what is not there. Copy it while it is.",
      Py_TYPE(object)->tp_name, views);
  PyErr_WriteUnraisable(object);
  before.restore();
}

/// Calls f(Instance*) for the Python object, and for the part of it that stands for a T.
template <class T, class F>
void for_both(PyObject* object, F f) {
  auto* whole = reinterpret_cast<Instance*>(object);
  auto* part = part_of(whole, &actual(class_of<std::remove_cv_t<T>>));
  f(whole);
  if (part != whole) f(part);
}
/// C++ has taken it for good, or some of its parts.
inline void keep_taken(PyObject* object) {
  forget_lent(reinterpret_cast<Instance*>(object));
  for (PyObject* kept : kept_by(reinterpret_cast<Instance*>(object))) {
    auto* part = reinterpret_cast<Instance*>(kept);
    if (is_instance(kept) && part->outer == object) forget_lent(part);
  }
}
/// The other way: C++ did not take it after all.
template <class T>
void give_back(PyObject* object, T* pointer) {
  using Plain = std::remove_cv_t<T>;
  Instance* self = part_of(reinterpret_cast<Instance*>(object), &actual(class_of<Plain>));
  if (std::exchange(self->given, false)) {
    self->owner = Owner::Python;
    if (self->record->shares_itself) share_overridden(self);
    drop(object);
    return;
  }
  if (self->owner != Owner::Taken || self->object) {
    delete pointer;  // it has another C++ object by now
    return;
  }
  const auto [address, record] = most_derived(const_cast<Plain*>(pointer));
  self->object = address;
  self->record = record;
  own(self);
  if (record->tracked || record->known) track(self);
  for_both<T>(object, [&](Instance* owner) {
    lend_again(owner, [&](void* before) {
      void* now = moved(before, self->room, kRoom, self->object);
      return now ? now : before;
    });
  });
}
/// After the call: what is in the argument that `taken` was given in.
template <class T>
void settle_taken(PyObject* object, std::unique_ptr<T>& left, const void* taken) {
  const bool is_it = left.get() == taken;
  if (!is_it) keep_taken(object);  // nothing, or another object
  auto* self = reinterpret_cast<Instance*>(object);
  if (self->given && !is_it) return;  // C++ has that of the overrides; the other one ends
  if (left) give_back(object, left.release());
}

/// Before C++ calls an override of `whole`.  Needs the GIL.
inline void check_director(PyObject* object, const void* whole) {
  auto& left = g_registry->left;
  if ((!left.empty() && left.count(whole)) || Py_REFCNT(object) == 0) {
    throw std::runtime_error("an override was called when its Python object had ended");
  }
}
/// The Python object of an overridden one ends, and C++ may have that still.
inline void leave(Instance* self) { g_registry->left.insert(overrides_of(self).whole); }

/// A virtual method that Python may override.
struct Overridable {
  const char* text;
  const Class& record;
  PyObject* name = nullptr;  // as long as the process
  PyObject* own = nullptr;   // C++'s, of the class

  /// Whether the class of the object, or the object itself, has a method of its own.
  bool is_overridden(PyObject* self) {
    if (!name) find_own();
    PyObject* found = _PyType_Lookup(Py_TYPE(self), name);
    if (found != own) return true;
    if (std::strncmp(text, "__", 2) == 0) return false;  // CPython asks the class alone
    PyRef method(PyObject_GetAttr(self, name));
    if (!method) {
      PyErr_Clear();
      return false;
    }
    return !PyCFunction_Check(method.get()) || PyCFunction_GET_SELF(method.get()) != self;
  }
  /// The same of one that C++ does not have.
  void check_overridden(PyObject* self) {
    if (is_overridden(self)) return;
    throw std::runtime_error(std::string("[") + record.name() + "." + text +
                             "] expected this method in the class " +
                             Py_TYPE(self)->tp_name + ": C++ has none of its own");
  }

 private:
  void find_own() {
    name = PyUnicode_InternFromString(text);
    if (!name) throw std::bad_alloc();
    own = _PyType_Lookup(actual(record).type, name);
    Py_XINCREF(own);
  }
};

/// What a method gives that may not throw, when its override raised.
template <class T>
T nothing() {
  using Plain = std::remove_reference_t<T>;
  if constexpr (std::is_void_v<T>) return;
  else if constexpr (!std::is_default_constructible_v<Plain>) std::terminate();
  else if constexpr (std::is_lvalue_reference_v<T>) {
    static thread_local std::optional<std::remove_cv_t<Plain>> value;
    return value.emplace();
  } else return T();
}

/// A director's end: what was given to C++ is no more.
inline void end_director(PyObject* object, const void* whole) {
  if (!object || !interpreter_alive()) return;
  GilAcquire gil;
  if (g_registry->left.erase(whole)) return;
  auto* self = reinterpret_cast<Instance*>(object);
  const bool given = std::exchange(self->given, false);
  // It may be deleted by C++ though it came home: by a deleter that does nothing.
  const bool only_shown = !given && self->object && came_home(self);
  if (!given && !only_shown) return;
  untrack(self);
  const size_t views = end_lent(self, Owner::Taken);
  forget_lent(self);
  self->object = nullptr;
  self->owner = Owner::Taken;
  const auto holder = given ? nullptr : std::move(self->holder);
  report_views(object, views);  // calls Python: all has ended by now
  if (given) drop(object);
}

/// An object that C++ lends to an override or a callback by reference.  If Python keeps it,
/// it gets a copy of its own when the call ends; where there is none it cannot be used any
/// more.
template <class T>
class Lent {
 public:
  Lent() = default;
  Lent(const Lent&) = delete;
  ~Lent() {
    if (!made_) return;
    if (Py_REFCNT(made_) > 1) settle();
    drop(made_);
  }

  /// The argument, a new reference as well.
  PyObject* hold(PyObject* object) {
    const bool fresh = object && Py_REFCNT(object) == 1 && is_instance(object);
    auto* self = reinterpret_cast<Instance*>(object);
    if (fresh && self->owner == Owner::Nobody) made_ = new_ref(object);
    return object;
  }

 private:
  void settle() {
    auto* self = reinterpret_cast<Instance*>(made_);
    if (self->owner != Owner::Nobody || !self->object) return;
    untrack(self);
    const void* lent = std::exchange(self->object, nullptr);
    self->owner = Owner::Gone;
    const size_t views = end_lent(self, Owner::Gone);
    void* own = copy_of(lent);
    lend_again(self, [&](void* part) {
      return own ? moved(part, lent, sizeof(T), own) : nullptr;
    });
    if (own) put(self, own, *self->record, Owner::Python);
    report_views(made_, views);
  }
  /// Null where there is none.
  void* copy_of(const void* lent) {
    const auto* self = reinterpret_cast<Instance*>(made_);
    if constexpr (std::is_copy_constructible_v<T> && !std::is_abstract_v<T>) {
      if (self->record != &actual(class_of<T>)) return nullptr;  // of a derived class
      try {
        return new T(*static_cast<const T*>(lent));
      } catch (...) {}
    }
    return nullptr;
  }
  PyObject* made_ = nullptr;
};

/// A view of what a callable returned is there until the next such call on the thread.
inline void keep_viewed(PyObject* result) {
  static thread_local PyObject* last = nullptr;  // a thread's last one stays
  PyObject* before = std::exchange(last, new_ref(result));
  if (before) drop(before);
}

/// What an override returned lives as long as the object that it was called on.
inline void keep_result(PyObject* holder, PyObject* result) {
  if (!is_instance(holder) || !is_instance(result) || holder == result) return;
  for (const PyObject* kept : kept_by(reinterpret_cast<Instance*>(holder))) {
    if (kept == result) return;
  }
  if (!keep_alive(holder, result)) throw_python_error();
}

/// What a container that an override returned refers to lives until the same thread calls the
/// method on the object again: else all that it ever returned would stay.  An address stands
/// for the method.
inline void keep_latest(PyObject* holder, const void* method, PyObject* objects) {
  constexpr const char* kMark = "swigkit.latest";
  if (!is_instance(holder)) return;
  PyRef latest;
  for (PyObject* kept : kept_by(reinterpret_cast<Instance*>(holder))) {
    if (!PyDict_CheckExact(kept) || !PyDict_GetItemString(kept, kMark)) continue;
    latest = PyRef::borrow(kept);
    break;
  }
  if (!latest) {
    latest = PyRef(PyDict_New());
    if (!latest || PyDict_SetItemString(latest.get(), kMark, Py_None) < 0 ||
        !keep_alive(holder, latest.get())) {
      throw_python_error();
    }
  }
  const PyRef key(PyUnicode_FromFormat("%p %lu", method, PyThread_get_thread_ident()));
  if (!key || PyDict_SetItem(latest.get(), key.get(), objects) < 0) throw_python_error();
}

[[gnu::cold, gnu::noinline]] inline void refuse_views(PyObject* object, size_t views,
                                                      const Argument& where) {
  PyErr_Format(PyExc_BufferError,
               "[%s] expected a %s of whose memory nobody has a buffer for '%s', got one "
               "with %zu. Release them first (memoryview.release(), or del the array).",
               where.function, Py_TYPE(object)->tp_name, where.text().c_str(), views);
}

/// Whether Python has the only share, and can let go of it without the object.  What C++ has
/// made a std::shared_ptr of, or what is a part of that, cannot be had otherwise.
inline bool is_only_share(const Instance* self) {
  if (self->holder.use_count() != 1) return false;
  if (const auto* end = std::get_deleter<EndOfOwn>(self->holder))
    return end->object == self->object && *end->type == self->record->cpp;
  const auto* end = std::get_deleter<EndOfShares>(self->holder);
  return end && end->self == self;
}
/// Then it is Python's alone; false where another thread has got a share meanwhile, of a
/// std::weak_ptr.
inline bool let_go_of_share(Instance* self) {
  if (!self->holder) return true;
  auto* end = std::get_deleter<EndOfOwn>(self->holder);
  if (end) {
    end->given = true;
  } else {
    Py_INCREF(reinterpret_cast<PyObject*>(self));  // which the last share drops
    self->held = true;
  }
  const std::weak_ptr<void> others = self->holder;
  self->holder.reset();  // of an overridden one, which is Shared, that makes it Python's
  self->holder = others.lock();
  if (!self->holder) {
    self->owner = Owner::Python;
    return true;
  }
  if (end) {
    end->given = false;
  } else {
    self->held = false;
    Py_DECREF(reinterpret_cast<PyObject*>(self));
  }
  return false;
}
[[gnu::cold, gnu::noinline]] inline void refuse_shared(PyObject* object,
                                                       const Instance* self,
                                                       const Argument& where) {
  const bool made = self->holder.use_count() == 1 && !self->record->shares;
  PyErr_Format(
      PyExc_ValueError,
      "[%s] expected an object that Python alone owns for '%s', got a %s that "
      "C++ has %s",
      where.function, where.text().c_str(), Py_TYPE(object)->tp_name,
      made ? "made in a std::shared_ptr, which cannot give it away" : "a share in");
}

/// Takes the C++ object away from its Python object; null with an error set when it is
/// not Python's alone.
template <class T>
T* take_from(PyObject* object, const Argument& where) {
  [[maybe_unused]] const bool* leave = &kLeavePython<T>;
  T* pointer = pointer_of<T>(object, where);
  if (!pointer) return nullptr;
  Instance* self = part_of(reinterpret_cast<Instance*>(object), &actual(class_of<T>));
  bool own = self->owner == Owner::Python || is_only_share(self);
  if (self->overridden && !overrides_of(self).share.expired()) own = false;
  if (!own) {
    refuse_shared(object, self, where);
    return nullptr;
  }
  if (self->overridden) {
    if (!let_go_of_share(self)) return refuse_shared(object, self, where), nullptr;
    Py_INCREF(object);  // its methods are needed as long as C++ has the object
    self->owner = Owner::Nobody;
    self->given = true;
    return pointer;
  }
  size_t views = 0;
  for_both<T>(object, [&](Instance* owner) {
    views += end_lent(owner, Owner::Taken, owner == self ? nullptr : owner);
  });
  const bool let_go = !views && let_go_of_share(self);
  if (!let_go) {
    for_both<T>(object, [](Instance* owner) {
      lend_again(owner, [](void* before) { return before; });
    });
    if (views) refuse_views(object, views, where);
    else refuse_shared(object, self, where);
    return nullptr;
  }
  untrack(self);
  if (self->is_inside()) {  // C++ takes a copy; all of it, where T is a base
    const auto offset = reinterpret_cast<char*>(pointer) - static_cast<char*>(self->object);
    void* copy = self->record->to_heap(self->object);
    pointer = reinterpret_cast<T*>(static_cast<char*>(copy) + offset);
  }
  self->object = nullptr;
  self->owner = Owner::Taken;
  return pointer;
}

/// What an override of a %newobject method returned is C++'s from now on.
template <class T>
T* give_result(T* pointer, PyObject* result, const char* function) {
  using Plain = std::remove_cv_t<T>;
  if (pointer) pointer = take_from<Plain>(result, {function, "result"});
  if (pointer) keep_taken(result);
  if (!pointer && result != Py_None) throw_python_error();
  return pointer;
}

}  // namespace swigkit

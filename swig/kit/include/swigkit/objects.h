// SPDX-License-Identifier: Apache-2.0
// swigkit/objects.h: Python objects for C++ ones (instance.h): how they are made and found
// again, and which C++ object is in one.
#pragma once

#include "orphans.h"

namespace [[gnu::visibility("hidden")]] swigkit {

/// The C++ object is Python's from now on.
inline void own(Instance* self) {
  const Class& record = *self->record;
  // Without a public destructor, or of a %borrowed class, the object is C++'s; unless its
  // shares end it.
  if (!record.destroy && !record.shares) return;
  self->owner = Owner::Python;
  if (record.shares_itself && !self->overridden) {
    self->holder = record.share(self->object, nullptr);
    self->owner = Owner::Shared;
  }
}
/// Gives Python the first share in an overridden object, which is Python's (ownership.h).
inline bool share_overridden(Instance* self);
/// The same of one that C++ lent before.
inline void own_lent(Instance* self) {
  own(self);
  if (self->owner == Owner::Nobody) return;
  if (self->overridden && self->record->shares_itself) share_overridden(self);
  // What C++ had of an overridden object (take_from()).
  if (std::exchange(self->given, false)) Py_DECREF(reinterpret_cast<PyObject*>(self));
}

/// Gives the C++ object to a Python object that had none.
inline void put_first(Instance* self, void* object, const Class& record, Owner owner) {
  if (!g_registry->lent_too.empty()) forget_lent(self);  // of one that lay there before
  self->object = object;
  self->record = &record;
  self->owner = owner;
  if (owner == Owner::Python) {
    self->owner = Owner::Nobody;
    own(self);
  }
  if (record.tracked || (record.known && owner == Owner::Python)) track(self);
}
/// Gives the C++ object to the Python object, or lets it refer to it.
inline void put(Instance* self, void* object, const Class& record, Owner owner) {
  untrack(self);  // found by what it was given before, if it was
  if (self->listed) unlist(self);
  if (self->lent) forget_lent(self);
  put_first(self, object, record, owner);
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
  auto* found = reinterpret_cast<PyObject*>(
      g_registry->tracked.find(object, [&](const Instance* self) {
        // A director is of a class that has no record.
        const bool fits = self->record == &record ||
                          (self->overridden &&
                           cast_up(self->record, self->object, &record));
        return fits && Py_REFCNT(self) > 0 && (!self->outer || Py_REFCNT(self->outer) > 0);
      }));
  Py_XINCREF(found);
  return found;
}

/// The same of an object that Python owns, or has a share in.
inline PyObject* find_owned(const void* object, const Class& record) {
  const bool listed = record.tracked || record.known;
  PyObject* found = listed ? find_tracked(object, record) : nullptr;
  if (!found || reinterpret_cast<Instance*>(found)->owner != Owner::Nobody) return found;
  Py_DECREF(found);
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
  if (name[std::strlen(name) - 1] == '*') {
    PyErr_Format(PyExc_TypeError,
                 "no conversion for C++'s %s here: Python has no such pointers. %%ignore "
                 "what uses it and %%extend or %%inline a function with types that Python "
                 "has.",
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
  if (record.tracked) {
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
  put_first(self, object, record, owner);
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
      put_first(self, ::new (static_cast<void*>(self->room)) T(std::forward<U>(value)),
                record, Owner::Python);
      return reinterpret_cast<PyObject*>(self);
    }
  }
  if constexpr (requires { new T(std::forward<U>(value)); }) {
    return wrap_object(make_in_heap<T>(std::forward<U>(value)), record, Owner::Python);
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
    // Nearly always there is no other record.
    if (const std::type_info& type = typeid(*object); record.derived && type != typeid(T)) {
      auto [at, end] = g_registry->by_type.equal_range(type);
      for (; at != end; ++at) {
        if (is_derived(at->second, &record)) {
          return {dynamic_cast<void*>(object), at->second};
        }
      }
      // A director is of a class that has no record.
      const Instance* own = g_registry->tracked.find(
          dynamic_cast<void*>(object), [&](const Instance* self) {
            return self->overridden &&
                   cast_up(self->record, self->object, &record) == object;
          });
      if (own) return {own->object, own->record};
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
    auto* whole = reinterpret_cast<Instance*>(object);
    const auto* self = whole->record ? part_of(whole, &wanted) : whole;
    if (self->owner == Owner::Taken) {
      PyErr_Format(PyExc_ValueError,
                   "[%s] expected an object of Python's own for '%s', but this %s, or "
                   "what it is a part of, was given to C++ and cannot be used any more.",
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
                 whole->object ? wanted.name() : "super()");
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
    if (self->record) {
      self = part_of(self, to);
      if (!self->object) return refuse_object(object, *to, where);
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

// SPDX-License-Identifier: Apache-2.0
// swigkit/kept.h: which Python objects others keep alive, and what ends with its owner.
#pragma once

#include "instance.h"

namespace [[gnu::visibility("hidden")]] swigkit {

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

// Note [Lent objects]
// An object that C++ lends to Python mostly lies in one that Python has: it keeps that alive,
// and ends with it all the same where C++ takes that over, or lent it for a call alone.  Else
// it would point to nothing.  So the lent objects that keep another one are in a list, by links
// in their rooms, which they have no other use for; and that one counts them, so that the
// list is read only when there are some.

/// Of a lent object in Registry::lent.
struct LentLink {
  Instance* before;
  Instance* next;
  void* object;  // what it was before it ended, as C++ may not have taken it in the end
};
static_assert(sizeof(LentLink) <= kRoom);
inline LentLink& link_of(Instance* self) {
  return *reinterpret_cast<LentLink*>(self->room);
}
/// Whether C++ has what `self` stands for.  An overridden object that was given to C++ is its
/// own one still.
inline bool is_lent(const Instance* self) {
  return self->owner == Owner::Nobody && self->object && !self->overridden;
}

/// `self` keeps `kept` from now on.
inline void lend(Instance* self, PyObject* kept) {
  if (!is_instance(kept) || (!self->listed && !is_lent(self))) return;
  ++reinterpret_cast<Instance*>(kept)->lends;
  if (std::exchange(self->listed, true)) return;
  Instance* next = std::exchange(g_registry->lent, self);
  new (self->room) LentLink{nullptr, next, nullptr};
  if (next) link_of(next).before = self;
}
/// Before `self` lets go of what it keeps.
inline void unlist(Instance* self) {
  if (!std::exchange(self->listed, false)) return;
  const LentLink link = link_of(self);
  (link.before ? link_of(link.before).next : g_registry->lent) = link.next;
  if (link.next) link_of(link.next).before = link.before;
  for (PyObject* kept : kept_by(self)) {
    if (is_instance(kept)) --reinterpret_cast<Instance*>(kept)->lends;
  }
}

/// Calls change(Instance*) for all that is lent out of `owner`, and out of that; it says
/// whether it has done so for the first time.
template <class F>
void for_each_lent(Instance* owner, F change) {
  std::vector<Instance*> owners{owner};
  for (size_t i = 0; i < owners.size(); ++i) {
    auto* kept = reinterpret_cast<PyObject*>(owners[i]);
    Instance* one = owners[i]->lends ? g_registry->lent : nullptr;
    for (; one; one = link_of(one).next) {
      if (std::ranges::count(kept_by(one), kept) && change(one)) owners.push_back(one);
    }
  }
}
/// The C++ object of `owner` is not Python's any more: nor is what lies in it.  `state` is
/// Gone or Taken.  Gives how many buffers of that memory there are.
inline size_t end_lent(Instance* owner, Owner state) {
  size_t views = owner->views;
  for_each_lent(owner, [&](Instance* one) {
    if (!is_lent(one)) return false;
    untrack(one);
    link_of(one).object = std::exchange(one->object, nullptr);
    one->owner = state;
    views += one->views;
    return true;
  });
  return views;
}
/// The other way, of what is at place(void* before) now; null where it is nowhere.
template <class F>
void lend_again(Instance* owner, F place) {
  for_each_lent(owner, [&](Instance* one) {
    if (is_lent(one) || !link_of(one).object) return false;
    one->object = place(std::exchange(link_of(one).object, nullptr));
    if (!one->object) return false;
    one->owner = Owner::Nobody;
    if (one->record->tracked) track(one);
    return true;
  });
}
/// What lay in the `size` bytes at `from` lies in those at `to` now; else null.
inline void* moved(void* part, const void* from, size_t size, void* to) {
  const size_t offset = uintptr_t(part) - uintptr_t(from);
  return offset < size ? static_cast<char*>(to) + offset : nullptr;
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
      lend(self, kept);
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
    if (PyList_Append(self->kept, kept) < 0) return false;
    lend(self, kept);
    return true;
  }
  PyRef callback(PyCFunction_New(&detail::g_let_go_of_kept, kept));
  if (!callback || !PyWeakref_NewRef(holder, callback.get())) return false;
  Py_INCREF(kept);
  return true;
}

}  // namespace swigkit

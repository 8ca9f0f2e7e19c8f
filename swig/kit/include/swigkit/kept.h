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
// it would point to nothing.  So an object has a list of what is lent out of it, by links in
// the rooms of those, which have no other use for them.  A result lies in the argument that
// has its address; else a method's is its object's, and a function's may be that of any of its
// arguments: Registry::lent_too has the others.

/// Of a lent object.
struct LentLink {
  Instance** at;  // what points to it in the list
  Instance* next;
  void* object;  // what it was before it ended, as C++ may not take its owner after all
  Instance* by;  // whose end that was; null once it is for good
};
static_assert(sizeof(LentLink) <= kRoom);
inline LentLink& link_of(Instance* self) {
  return *reinterpret_cast<LentLink*>(self->room);
}
/// Whether C++ has what `self` stands for.  An overridden object that C++ was given is not
/// lent: it ends by its own destructor.
inline bool is_lent(const Instance* self) {
  return self->owner == Owner::Nobody && self->object && !self->overridden;
}

/// `self`, which keeps `owner`, ends with it.
inline void lend(Instance* self, Instance* owner) {
  if (!is_lent(self)) return;
  if (self->listed) {
    self->listed = 2;
    g_registry->lent_too[owner].insert(self);
    return;
  }
  self->listed = 1;
  auto* link = new (self->room) LentLink{&owner->lent, owner->lent, nullptr, nullptr};
  if (link->next) link_of(link->next).at = &link->next;
  owner->lent = self;
}
/// Before `self` lets go of what it keeps.
inline void unlist(Instance* self) {
  const int before = std::exchange(self->listed, 0);
  if (!before) return;
  const LentLink& link = link_of(self);
  *link.at = link.next;
  if (link.next) link_of(link.next).at = link.at;
  if (before == 1) return;
  auto& others = g_registry->lent_too;
  const auto erase = [&](PyObject* owner) {
    const auto at = others.find(reinterpret_cast<Instance*>(owner));
    if (at != others.end() && at->second.erase(self) && at->second.empty())
      others.erase(at);
  };
  for (PyObject* owner : kept_by(self)) {
    if (!is_instance(owner)) continue;
    erase(owner);
    for (PyObject* part : kept_by(reinterpret_cast<Instance*>(owner))) erase(part);
  }
}

/// Calls change(Instance*) for all that is lent out of `owner`, and out of that where it
/// returns true.
template <class F>
void for_each_lent(Instance* owner, F change) {
  const auto& others = g_registry->lent_too;
  if (!owner->lent && others.empty()) return;
  std::vector<Instance*> owners{owner};
  for (size_t i = 0; i < owners.size(); ++i) {
    for (Instance* one = owners[i]->lent; one; one = link_of(one).next) {
      if (change(one)) owners.push_back(one);
    }
    const auto at = others.find(owners[i]);
    if (at == others.end()) continue;
    for (Instance* one : at->second) {
      if (change(one)) owners.push_back(one);
    }
  }
}
/// Whether the address lies in the C++ object itself.
inline bool surrounds(const Instance* self, const void* address) {
  return self->object && uintptr_t(address) - uintptr_t(self->object) < self->record->size;
}
/// A number of views that is not counted any more.
inline constexpr uint16_t kManyViews = UINT16_MAX;
/// The C++ object of `owner` is not Python's any more: nor is what lies in it.  `state` is
/// Gone or Taken.  Gives how many buffers of that memory there are.  Of several objects in
/// one of Python's, what lies in `other` stays.
inline size_t end_lent(Instance* owner, Owner state, const Instance* other = nullptr) {
  size_t views = owner->views;
  for_each_lent(owner, [&](Instance* one) {
    if (!is_lent(one) || (other && surrounds(other, one->object))) return false;
    untrack(one);
    link_of(one).object = std::exchange(one->object, nullptr);
    link_of(one).by = owner;
    one->owner = state;
    views += one->views;
    return true;
  });
  return views;
}
/// That was for good; of all owners, or where it was by the end of this one.
inline void forget_lent(Instance* owner, const Instance* by = nullptr) {
  std::vector<Instance*> ended;
  for_each_lent(owner, [&](Instance* one) {
    if (!one->listed || !link_of(one).by || (by && link_of(one).by != by)) return false;
    link_of(one).by = nullptr;
    ended.push_back(one);
    return true;
  });
  for (Instance* one : ended) unlist(one);
}
/// The other way, of what is at place(void* before) now; null where it is nowhere.
template <class F>
void lend_again(Instance* owner, F place) {
  for_each_lent(owner, [&](Instance* one) {
    if (link_of(one).by != owner || !link_of(one).object) return false;
    void* object = place(std::exchange(link_of(one).object, nullptr));
    if (!object) return true;  // what lies in it may be somewhere
    link_of(one).by = nullptr;
    one->object = object;
    one->owner = Owner::Nobody;
    if (one->record->tracked) track(one);
    return true;
  });
  forget_lent(owner, owner);
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

/// Calls visit(PyObject*) for the object and all objects of C++'s that it keeps alive, by
/// others or not, the nearest first; goes on from those for which that returns true.
template <class F>
void for_each_kept(PyObject* object, const F& visit) {
  std::vector<PyObject*> all{object};
  std::unordered_set<PyObject*> seen{object};
  for (size_t i = 0; i < all.size(); ++i) {
    if (!visit(all[i])) continue;
    for (PyObject* kept : kept_by(reinterpret_cast<Instance*>(all[i]))) {
      if (is_instance(kept) && seen.insert(kept).second) all.push_back(kept);
    }
  }
}
/// The Python objects that own what `holder` is a part of: several if it was lent by a call
/// with several.
inline void owners_of(PyObject* holder, std::vector<PyObject*>& owners) {
  for_each_kept(holder, [&](PyObject* one) {
    const bool lent = reinterpret_cast<Instance*>(one)->owner == Owner::Nobody;
    if (!lent) owners.push_back(one);
    return lent;
  });
}
/// Whether `object` keeps `what` alive, by others or not.
[[gnu::noinline]] inline bool keeps(PyObject* object, const PyObject* what) {
  const auto direct = kept_by(reinterpret_cast<Instance*>(object));
  if (direct.empty()) return false;
  if (std::ranges::find(direct, what) != direct.end()) return true;
  bool found = false;
  for_each_kept(object, [&](PyObject* one) {
    found = found || one == what;
    return !found;
  });
  return found;
}
/// Once in a while: as keep_alive() looks at the last ones only, a list may have doubles.
[[gnu::noinline]] inline bool drop_doubles(PyObject* list) {
  std::unordered_set<PyObject*> seen;
  PyRef once(PyList_New(0));  // may collect, and so change the other one
  const Py_ssize_t size = PyList_GET_SIZE(list);
  for (Py_ssize_t i = 0; once && i < size; ++i) {
    PyObject* one = PyList_GET_ITEM(list, i);
    if (seen.insert(one).second && PyList_Append(once.get(), one) < 0) return false;
  }
  // Where more than half are needed the next look is at twice the size.
  if (!once) return false;
  if (seen.size() > size_t(size) / 2) return true;
  return PyList_SetSlice(list, 0, size, once.get()) == 0;
}

/// Whether the argument keeps `made`, a result that was found: if that in turn kept the
/// argument, neither would end.
inline bool is_ring(PyObject* made, PyObject* argument) {
  return Py_REFCNT(made) > 1 && keeps(argument, made);
}

inline bool keep_alive(PyObject* holder, PyObject* kept, Instance* lender = nullptr,
                       bool result = false);
/// The result keeps those alive that own what the argument is a part of.
[[gnu::cold, gnu::noinline]] inline bool keep_owners(PyObject* made, PyObject* argument) {
  std::vector<PyObject*> owners;
  owners_of(argument, owners);
  return std::ranges::all_of(owners, [&](PyObject* owner) {
    return keeps(owner, made) ||
           keep_alive(made, owner, reinterpret_cast<Instance*>(owner));
  });
}

/// `kept` lives at least as long as `holder`, which is lent out of `lender`, if that is
/// given; false with an error set when that cannot be.  A result does not keep what keeps it.
inline bool keep_alive(PyObject* holder, PyObject* kept, Instance* lender, bool result) {
  if (!holder || !kept || holder == kept || kept == Py_None) return true;
  if (is_instance(holder)) {
    auto* self = reinterpret_cast<Instance*>(holder);
    if (!self->kept && !PyList_CheckExact(kept)) {
      if (result && is_ring(holder, kept)) return keep_owners(holder, kept);
      self->kept = new_ref(kept);
      if (lender) lend(self, lender);
      return true;
    }
    // Most are kept again and again.
    const auto items = kept_by(self);
    for (size_t i = items.size(); i-- > 0 && i + 8 >= items.size();) {
      if (items[i] != kept) continue;
      if (lender && items.size() > 1 && lender->lent != self) lend(self, lender);
      return true;
    }
    if (result && is_ring(holder, kept)) return keep_owners(holder, kept);
    if (!self->kept || !PyList_CheckExact(self->kept)) {
      PyRef list(PyList_New(0));  // may collect, so that it is a list by now
      if (!list) return false;
      if (!self->kept || !PyList_CheckExact(self->kept)) {
        if (self->kept && PyList_Append(list.get(), self->kept) < 0) return false;
        Py_XDECREF(self->kept);  // the list has it
        self->kept = list.release();
      }
    }
    if (PyList_Append(self->kept, kept) < 0) return false;
    const auto size = size_t(PyList_GET_SIZE(self->kept));
    if (size >= 16 && std::has_single_bit(size) && !drop_doubles(self->kept)) return false;
    if (lender) lend(self, lender);
    return true;
  }
  PyRef callback(PyCFunction_New(&detail::g_let_go_of_kept, kept));
  if (!callback || !PyWeakref_NewRef(holder, callback.get())) return false;
  Py_INCREF(kept);
  return true;
}

/// The arguments of a call, of which a method's first one is its object.
struct Count {
  int all;
  bool method;
  Count(int all, bool method = false) : all(all), method(method) {}
};
/// The C++ object of this Python object in which the address lies; null if in none.
inline Instance* surrounding(PyObject* object, const void* address) {
  auto* self = reinterpret_cast<Instance*>(object);
  if (surrounds(self, address)) return self;
  if (!self->record || self->record->type == Py_TYPE(object)) return nullptr;
  for (PyObject* kept : kept_by(self)) {
    auto* part = reinterpret_cast<Instance*>(kept);
    if (is_instance(kept) && part->outer == object && surrounds(part, address)) return part;
  }
  return nullptr;
}
/// A result keeps the arguments alive that it may be a part of.
inline bool keep_arguments(PyObject* made, PyObject* const* arguments, Count count) {
  auto* self = reinterpret_cast<Instance*>(made);
  if (self->given) return true;  // C++ keeps it
  const void* address = self->object;
  Instance* lender = nullptr;
  if (count.all == 1 && !self->kept) {  // a member, as most are
    PyObject* owner = arguments[0];
    if (!owner || owner == made || !is_instance(owner)) return true;
    if (is_ring(made, owner)) return keep_owners(made, owner);
    lender = surrounding(owner, address);
    self->kept = new_ref(owner);
    lend(self, lender ? lender : reinterpret_cast<Instance*>(owner));
    return true;
  }
  for (int i = 0; i < count.all && !lender; ++i) {
    if (!arguments[i] || !is_instance(arguments[i])) continue;
    lender = surrounding(arguments[i], address);
  }
  const bool found = lender != nullptr;
  for (int i = 0; i < count.all; ++i) {
    if (!arguments[i] || !is_instance(arguments[i])) continue;
    auto* owner = reinterpret_cast<Instance*>(arguments[i]);
    if (found) {
      const bool is = owner == lender || lender->outer == arguments[i];
      owner = is ? lender : nullptr;
    } else if (count.method && i > 0 && owner->owner != Owner::Taken) {
      owner = nullptr;  // where a taken one has its memory is not known
    }
    if (!keep_alive(made, arguments[i], owner, true)) return false;
  }
  return true;
}

}  // namespace swigkit

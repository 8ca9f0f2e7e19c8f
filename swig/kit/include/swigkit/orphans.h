// SPDX-License-Identifier: Apache-2.0
// swigkit/orphans.h: what C++ objects refer to (keep_alive()) that C++ keeps longer than
// Python: it lives as long as they do.
//
// Note [Orphans]
// Of an object in a std::shared_ptr a std::weak_ptr tells that it is no more.  One that
// counts its shares itself (%intrusive) tells nobody, so what it refers to is kept together
// with a share in it, and both are let go of once that is the last one.  That needs the
// count, which Counted<Pointer>::count() gives; without it nothing is kept.  Of one that
// Python overrides the Python object itself is kept, whose methods C++ calls.
#pragma once

#include "kept.h"

namespace [[gnu::visibility("hidden")]] swigkit {

/// Lets go of what objects that C++ has no share in any more referred to: where there are
/// many, once in as many calls, so that a call looks at one of them on average.
inline void drop_orphans() {
  auto& orphans = g_registry->orphans;
  if (g_registry->until_sweep > 0) {
    --g_registry->until_sweep;
    return;
  }
  std::vector<PyRef> dropped;                // last of all, as that may come here again
  std::vector<std::shared_ptr<void>> ended;  // before what those refer to
  std::erase_if(orphans, [&](const auto& entry) {
    const Registry::Orphan& orphan = entry.second;
    if (orphan.is_shared(entry.first)) return false;
    ended.push_back(orphan.share);
    dropped.emplace_back(orphan.kept);
    return true;
  });
  g_registry->until_sweep = orphans.size() < 16 ? 0 : orphans.size();
}
/// The interpreter ends: what C++ still has ends when C++ says so, and what that refers to
/// is never let go of.
inline PyObject* drop_last_orphans(PyObject*, PyObject*) {
  g_registry->until_sweep = 0;
  drop_orphans();
  std::erase_if(g_registry->orphans, [](const auto& entry) { return entry.second.share; });
  Py_RETURN_NONE;
}
inline void sweep_at_exit() {
  static PyMethodDef method{"drop_orphans", drop_last_orphans, METH_NOARGS, nullptr};
  if (std::exchange(g_registry->sweeps_at_exit, true)) return;
  const PyRef module(PyImport_ImportModule("atexit"));
  const PyRef function(PyCFunction_New(&method, nullptr));
  const PyRef done(module && function
                       ? PyObject_CallMethod(module.get(), "register", "O", function.get())
                       : nullptr);
  if (!done) PyErr_Clear();
}
/// Whether `one` stands for a part of an object of several bases.
inline bool is_part(PyObject* one) {
  return is_instance(one) && reinterpret_cast<Instance*>(one)->outer;
}
/// Whether others than its Python object have a share in the C++ object.
inline bool is_shared(const Instance* self) {
  if (self->holder.use_count() > 1) return true;
  return self->record->shares && self->record->shares(self->object) > 1;
}
/// Whether `kept`, or what it is a part of, has a share in what `one` is a part of: kept for
/// `one`, neither would end.
inline bool has_same_share(PyObject* kept, const Instance* one) {
  if (!is_instance(kept) || !one->holder) return false;
  std::vector<PyObject*> owners;
  owners_of(kept, owners);
  return std::ranges::any_of(owners, [&](PyObject* owner) {
    const auto& other = reinterpret_cast<Instance*>(owner)->holder;
    return !other.owner_before(one->holder) && !one->holder.owner_before(other);
  });
}
/// The Python object ends.  What the C++ object refers to lives as long as that, which C++
/// may have shares in; or it is that of its next Python object (wrap_shared()).
inline void keep_for_shares(Instance* self) {
  if (!self->kept) return;
  std::vector<Instance*> shared;
  const auto add = [&](Instance* one) {
    if (!one->object || one->owner != Owner::Shared) return;
    if (one->overridden && !one->record->shares) return;  // its Python object stays
    if (is_shared(one)) shared.push_back(one);
  };
  add(self);
  const auto all = kept_by(self);
  for (PyObject* one : all) {
    if (is_part(one)) add(reinterpret_cast<Instance*>(one));
  }
  if (shared.empty()) return;
  drop_orphans();
  for (Instance* one : shared) {
    PyRef kept = PyRef::borrow(self->kept);
    const auto ends = [one](PyObject* other) {  // with this one
      return is_part(other) || has_same_share(other, one);
    };
    if (std::ranges::any_of(kept_by(self), ends)) {
      kept = PyRef(PyList_New(0));  // what else is kept may be of any of them
      for (PyObject* other : kept_by(self)) {
        if (ends(other)) continue;
        if (!kept || PyList_Append(kept.get(), other) < 0) return PyErr_Clear();
      }
      if (!kept || PyList_GET_SIZE(kept.get()) == 0) continue;
    }
    const auto count = one->record->shares;
    if (count) sweep_at_exit();
    g_registry->orphans.emplace(
        one->object, Registry::Orphan{one->holder, kept.release(),
                                      count ? one->holder : nullptr, count, one->record});
  }
}
/// The same of an object that Python overrides and that counts itself.
inline void keep_itself(Instance* self) {
  const auto count = self->record->shares;
  if (!count || count(self->object) < 2) return;
  const auto [at, end] = g_registry->orphans.equal_range(self->object);
  if (std::any_of(at, end, [](const auto& entry) { return entry.second.is_itself(); }))
    return;
  drop_orphans();
  sweep_at_exit();
  const std::shared_ptr<void> nobodys(std::shared_ptr<void>(), self->object);
  auto* object = new_ref(reinterpret_cast<PyObject*>(self));
  g_registry->orphans.emplace(
      self->object, Registry::Orphan{self->holder, object, nobodys, count, self->record});
}
/// Whether it was left by this object, which has its address.
inline bool is_of(const Registry::Orphan& orphan, const Instance* self) {
  if (orphan.is_itself()) return false;
  // With a share in it the object is there, and others at its address are parts of it.
  if (orphan.share) {
    return is_derived(orphan.record, self->record) ||
           is_derived(self->record, orphan.record);
  }
  return !orphan.object.owner_before(self->holder) &&
         !self->holder.owner_before(orphan.object);
}
/// The other way, of a new Python object.
inline void take_kept(Instance* self) {
  if (self->kept) return;
  auto& orphans = g_registry->orphans;
  auto [at, end] = orphans.equal_range(self->object);
  while (at != end) {
    if (!is_of(at->second, self)) {
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

}  // namespace swigkit

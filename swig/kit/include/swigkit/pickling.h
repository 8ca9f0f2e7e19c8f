// SPDX-License-Identifier: Apache-2.0
// swigkit/pickling.h: pickling (%pickled) and copies (%copyable), by Python's protocol:
// the C++ object by functions of the interface's, or its copy constructor, and what Python
// has put into an object of a subclass by object.__getstate__().
#pragma once

#include "slots.h"

namespace [[gnu::visibility("hidden")]] swigkit {

/// Whether the object's class has this method of its own, and not that of `cpp`, C++'s class.
inline bool has_own(PyObject* self, PyTypeObject* cpp, const char* name) {
  const PyRef text(PyUnicode_InternFromString(name));
  if (!text) return PyErr_Clear(), false;
  return _PyType_Lookup(Py_TYPE(self), text.get()) != _PyType_Lookup(cpp, text.get());
}

/// What Python has put into an object of this class of C++'s, as object.__getstate__() says,
/// or the subclass.  C++'s method of that name is none: it may be what %pickled names.
inline PyObject* state_of(PyObject* self, const Class& record) {
  constexpr const char* kName = "__getstate__";
  return call_python([&] {
    if (has_own(self, record.type, kName)) return PyObject_CallMethod(self, kName, nullptr);
    auto* object = reinterpret_cast<PyObject*>(&PyBaseObject_Type);
    return PyObject_CallMethod(object, kName, "O", self);
  });
}
/// The other way, as pickle.loads() does it: (attributes, slots), each a dict or None.
inline bool set_attributes(PyObject* self, const Class& record, PyObject* state) {
  if (state == Py_None) return true;
  if (has_own(self, record.type, "__setstate__")) {
    return bool(PyRef(call_python(
        [&] { return PyObject_CallMethod(self, "__setstate__", "(O)", state); })));
  }
  PyObject *attributes = state, *slots = Py_None;
  if (PyTuple_Check(state) && !PyArg_ParseTuple(state, "OO", &attributes, &slots))
    return false;
  if (attributes != Py_None) {
    const PyRef own(PyObject_GetAttrString(self, "__dict__"));
    if (!own || PyDict_Update(own.get(), attributes) < 0) return false;
  }
  if (slots == Py_None) return true;
  const PyRef items(PyMapping_Items(slots));
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject *name, *value;
    PyObject* item = PyList_GET_ITEM(items.get(), i);
    if (!PyArg_ParseTuple(item, "OO", &name, &value) ||
        PyObject_SetAttr(self, name, value) < 0) {
      return false;
    }
  }
  return bool(items);
}

/// Whether Python derives it from several wrapped classes, each of which has a C++ object.
inline bool has_parts(PyObject* self) {
  return std::ranges::any_of(
      kept_by(reinterpret_cast<Instance*>(self)), [=](PyObject* one) {
        return is_part(one) && reinterpret_cast<Instance*>(one)->outer == self;
      });
}
[[gnu::cold]] inline PyObject* refuse_parts(PyObject* self) {
  return PyErr_Format(
      PyExc_TypeError,
      "cannot pickle or copy '%s' object: it has the C++ objects of several "
      "classes. Write a __reduce__() that says how it is made.",
      Py_TYPE(self)->tp_name);
}

/// Pickling: (rebuild, (class, name of the function, state), attributes).
inline PyObject* reduce(PyObject* self, const Class& record, const char* home,
                        const char* state, const char* from_state) {
  // The state of a base class is not all of it.
  if (reinterpret_cast<Instance*>(self)->record != &record) {
    return refuse_pickling(self, nullptr);
  }
  if (has_parts(self)) return refuse_parts(self);
  PyRef module(PyImport_ImportModule(home));
  if (!module) return nullptr;
  PyRef found(call_named(module.get(), self, state));
  PyRef rebuild(found ? PyObject_GetAttrString(module.get(), "_rebuild") : nullptr);
  PyRef attributes(rebuild ? state_of(self, record) : nullptr);
  if (!attributes) return nullptr;
  // C++'s own __setstate__(), which %pickled may name, is not for attributes.
  const bool own = PyObject_HasAttrString(reinterpret_cast<PyObject*>(record.type),
                                          "__setstate__") &&
                   !has_own(self, record.type, "__setstate__");
  if (own && attributes.get() != Py_None) {
    return Py_BuildValue("O(OsOO)", rebuild.get(), Py_TYPE(self), from_state, found.get(),
                         attributes.get());
  }
  return Py_BuildValue("O(OsO)O", rebuild.get(), Py_TYPE(self), from_state, found.get(),
                       attributes.get());
}
/// __reduce_ex__(), which asks for a subclass's __reduce__() as that of `object` does.
inline PyObject* reduce_for(PyObject* self, const Class& record, PyCFunction reduce) {
  if (!has_own(self, record.type, "__reduce__")) return reduce(self, nullptr);
  return call_python([&] { return PyObject_CallMethod(self, "__reduce__", nullptr); });
}

/// Whether Base is part of T in a place that is always the same: a director, from which T is
/// a base, would make a virtual one anew.
template <class T, class Base>
concept HasPlaced = requires(Base* base) { static_cast<T*>(base); };

/// Of a class that C++ does not copy, and where an object may be of a class that has no
/// record.
[[gnu::cold]] inline PyObject* refuse_copy(PyObject* self, PyObject* other) {
  return PyErr_Format(
      PyExc_TypeError,
      "cannot make a %s of a %s: C++ has no copy of it whose methods Python "
      "overrides. Write a __reduce__() that says how it is made.",
      Py_TYPE(self)->tp_name, Py_TYPE(other)->tp_name);
}
/// Gives `self`, of a Python subclass, a C++ object whose methods it overrides: a copy of
/// the other's, or that itself where it can only be moved.
template <class Director, class T, class... Bases>
PyObject* make_overridden(PyObject* self, PyObject* other) {
  auto* from = reinterpret_cast<Instance*>(other);
  auto* object = static_cast<T*>(cast_up(from->record, from->object, &class_of<T>));
  constexpr bool kPlaced = (HasPlaced<T, Bases> && ...);
  const bool alone = from->owner == Owner::Python ||
                     (from->owner == Owner::Shared && from->holder.use_count() == 1);
  return guarded([&]() -> PyObject* {
    Director* made = nullptr;
    if (typeid(*object) != typeid(T)) return refuse_copy(self, other);
    if constexpr (kPlaced && std::is_copy_constructible_v<T>) {
      made = new Director(self, Original<const T&>{*object});
    } else if constexpr (kPlaced && std::is_move_constructible_v<T>) {
      if (alone) made = new Director(self, Original<T>{std::move(*object)});
    }
    if (!made) return refuse_copy(self, other);
    return finish_construction<T>(self, static_cast<T*>(made), true) == 0 ? new_ref(self)
                                                                          : nullptr;
  });
}

/// The object as one of a Python subclass, which takes the C++ object over.  Takes the
/// reference.
inline PyObject* as_subclass(PyTypeObject* python, PyObject* made) {
  if (Py_TYPE(made) == python || !PyType_IsSubtype(python, Py_TYPE(made))) return made;
  const PyRef before(made), none(PyTuple_New(0));
  PyRef object(none ? call_python(python->tp_new, python, none.get(), (PyObject*)nullptr)
                    : nullptr);
  if (!object) return nullptr;
  const bool fits = PyObject_TypeCheck(object.get(), python);
  auto *to = reinterpret_cast<Instance*>(object.get()),
       *from = reinterpret_cast<Instance*>(made);
  if (!fits || to->object) {
    PyErr_Format(
        PyExc_TypeError,
        "expected a new %s of its __new__(), got %s. Write a __reduce__() that says "
        "how it is made.",
        python->tp_name, fits ? "one that is in use" : Py_TYPE(object.get())->tp_name);
    return nullptr;
  }
  const Class* record = from->record;
  if (record->make_overridden) return record->make_overridden(object.get(), made);
  if (from->owner == Owner::Shared) {
    to->holder = from->holder;
    put(to, from->object, *record, Owner::Shared);
  } else {
    untrack(from);
    if (from->is_inside()) from->object = record->to_heap(from->object);
    put(to, std::exchange(from->object, nullptr), *record,
        std::exchange(from->owner, Owner::Nobody));
  }
  return object.release();
}

/// _rebuild(class, name, state, attributes=None).
inline PyObject* rebuild(PyObject* module, PyObject* args) {
  PyObject *type, *state, *attributes = Py_None;
  const char* name;
  if (!PyArg_ParseTuple(args, "OsO|O:_rebuild", &type, &name, &state, &attributes))
    return nullptr;
  PyObject* from = PyObject_HasAttrString(type, name) ? type : module;
  PyObject* found = call_python(
      [&] { return PyObject_CallMethod(from, name, "(O)", state); });
  if (!found) return nullptr;
  PyRef made(as_subclass(reinterpret_cast<PyTypeObject*>(type), found));
  if (!made || attributes == Py_None) return made.release();
  const Class& record = *reinterpret_cast<Instance*>(made.get())->record;
  return set_attributes(made.get(), record, attributes) ? made.release() : nullptr;
}

/// copy.copy() and, with `memo`, copy.deepcopy() of a %copyable class.
template <class T>
PyObject* copy_value(PyObject* self, PyObject* memo) {
  if constexpr (!std::is_copy_constructible_v<T>) {
    return refuse_pickling(self, nullptr);
  } else {
    T* held = pointer_of<T>(self, {"copy", "self"});
    if (!held) return nullptr;
    const Class& record = actual(class_of<T>);
    // Of a class derived in C++ this is not all.
    if (reinterpret_cast<Instance*>(self)->record != &record) {
      return refuse_pickling(self, nullptr);
    }
    if (has_parts(self)) return refuse_parts(self);
    PyRef made(guarded([&] { return wrap_value<T>(*held); }));
    if (made) made = PyRef(as_subclass(Py_TYPE(self), made.release()));
    const bool plain = Py_TYPE(self) == record.type && !has_attributes(record.type);
    if (!made || plain) return made.release();
    if (memo) {  // what refers to the object refers to its copy
      const PyRef key(PyLong_FromVoidPtr(self));
      if (!key || PyObject_SetItem(memo, key.get(), made.get()) < 0) return nullptr;
    }
    PyRef attributes(state_of(self, record));
    if (memo && attributes) {
      PyRef copy(PyImport_ImportModule("copy"));
      if (!copy) return nullptr;
      attributes = PyRef(call_python([&] {
        return PyObject_CallMethod(copy.get(), "deepcopy", "OO", attributes.get(), memo);
      }));
    }
    if (!attributes || !set_attributes(made.get(), record, attributes.get()))
      return nullptr;
    return made.release();
  }
}

}  // namespace swigkit

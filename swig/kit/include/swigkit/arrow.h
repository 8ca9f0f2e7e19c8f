// SPDX-License-Identifier: Apache-2.0
// swigkit/arrow.h: attributes that Python looks for where C++'s operator->() leads to.
#pragma once

#include "classes.h"

#include <cstring>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Whether C++'s x->name can be followed through what an operator->() gives: a pointer, or a
/// reference to what has one in turn.
template <class T, class... Seen>
inline constexpr bool kLeadsOn = [] {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (std::is_pointer_v<Plain>) return true;
  else if constexpr (!std::is_reference_v<T> || (std::is_same_v<Plain, Seen> || ...))
    return false;
  else if constexpr (requires(T& object) { object.operator->(); })
    return kLeadsOn<decltype(std::declval<T&>().operator->()), Plain, Seen...>;
  else return false;
}();
/// Whether something that can say so says that there is nothing behind it.
template <class T>
bool is_empty(T& object) {
  if constexpr (std::is_constructible_v<bool, T&>) return !static_cast<bool>(object);
  else return false;
}
/// The pointer at the end; null where something on the way is empty.
template <class T>
auto* pointer_beyond(T&& object) {
  if constexpr (std::is_pointer_v<std::remove_cvref_t<T>>) {
    return object;
  } else {
    using Pointer = decltype(pointer_beyond(object.operator->()));
    return is_empty(object) ? Pointer(nullptr) : pointer_beyond(object.operator->());
  }
}
template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<std::shared_ptr<T>> = true;

/// What an operator->() leads to, which `self` keeps alive: None for nothing, null with an
/// error set or where it is no object of a wrapped class.
template <class T>
PyObject* follow(T& object, PyObject* self) {
  using Arrow = decltype(object.operator->());
  if constexpr (kIsShared<Arrow>) {
    PyRef made(to_python(object.operator->()));
    if (!made || made.get() == Py_None || made.get() == self) return made.release();
    return keep_alive(made.get(), self) ? made.release() : nullptr;
  } else if constexpr (kLeadsOn<Arrow>) {
    auto* pointer = pointer_beyond(object.operator->());
    return pointer ? refer(pointer, &self, 1) : new_ref(Py_None);
  } else {  // an owner by value of what others own, too
    auto held = object.operator->();
    return is_empty(held) ? new_ref(Py_None) : refer(std::addressof(*held), &self, 1);
  }
}
struct NoClass {};  // which no interface has
template <class Arrow>
auto pointee_of() {
  if constexpr (std::is_class_v<Arrow>) {
    if constexpr (requires(Arrow& arrow) { *arrow; })
      return std::type_identity<std::remove_cvref_t<decltype(*std::declval<Arrow&>())>>();
    else return std::type_identity<NoClass>();
  } else if constexpr (kLeadsOn<Arrow>) {
    return std::type_identity<
        std::remove_cvref_t<decltype(*pointer_beyond(std::declval<Arrow>()))>>();
  } else {
    return std::type_identity<NoClass>();
  }
}

/// What operator->() of the object points to, to be asked for the name; null, with the error
/// that there was if there is nothing of a wrapped class.
template <class T>
PyRef beyond_of(PyObject* self, PyObject* name) {
  if constexpr (requires(T& object) { object.operator->(); }) {
    using Pointee =
        typename decltype(pointee_of<decltype(std::declval<T&>().operator->())>())::type;
    const char* text = PyUnicode_AsUTF8(name);
    if (!text || std::strncmp(text, "__", 2) == 0) return PyRef();
    if constexpr (!std::is_same_v<Pointee, NoClass> && IsWrapped<Pointee>) {
      HeldError error = HeldError::fetch();
      T* object = pointer_of<T>(self, {"operator->", "self"});
      if (!object) return PyRef();
      PyRef found(guarded([&] { return follow(*object, self); }));
      if (found && found.get() != self && found.get() != Py_None) return found;
      if (found) error.restore();
    }
  }
  return PyRef();
}
/// x.name and x.name = value, where x has none and points to an object that may.
template <class T>
PyObject* get_beyond(PyObject* self, PyObject* name) {
  PyObject* found = call_python(PyObject_GenericGetAttr, self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  const PyRef beyond = beyond_of<T>(self, name);
  return beyond ? call_python(PyObject_GetAttr, beyond.get(), name) : nullptr;
}
template <class T>
int set_beyond(PyObject* self, PyObject* name, PyObject* value) {
  const int done = call_python(PyObject_GenericSetAttr, self, name, value);
  if (done == 0 || !PyErr_ExceptionMatches(PyExc_AttributeError)) return done;
  if (_PyType_Lookup(Py_TYPE(self), name)) return done;
  const PyRef beyond = beyond_of<T>(self, name);
  return beyond ? call_python(PyObject_SetAttr, beyond.get(), name, value) : -1;
}

}  // namespace swigkit

// SPDX-License-Identifier: Apache-2.0
// swigkit/members.h: members and variables of C++, which Python reads and assigns to, and who
// keeps what they refer to.  wrapper.py writes the calls for members, values.i those for
// variables.
#pragma once

#include "results.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

/// AttributeError: a pointer to what a conversion has made would point to nothing.
[[gnu::cold, gnu::noinline]] inline bool refuse_address(const Argument& where,
                                                        const char* word) {
  PyErr_Format(PyExc_AttributeError,
               "[%s] C++ has the value that '%s' points to: assign to it in C++ (%s)",
               where.function, where.text().c_str(), word);
  return false;
}

/// A text that C++ may keep: each once for the process, as copies of what points to it may
/// be anywhere.  False with an error set where there is no memory.
inline bool keep_text(const char* text, const char*& member) {
  static PyObject* texts = nullptr;  // by who has the GIL: to make it may let others run
  if (!texts) texts = PyDict_New();
  PyRef bytes(text && texts ? PyBytes_FromString(text) : nullptr);
  PyObject* kept = bytes ? PyDict_SetDefault(texts, bytes.get(), bytes.get()) : nullptr;
  if (text && !kept) return false;
  member = text ? PyBytes_AS_STRING(kept) : nullptr;
  return true;
}

/// What was kept for a place before, which is let go of when it has its new value.
using Replaced = std::vector<PyRef>;

/// Of the objects in `list` those that C++ has lent own nothing: what they are may be what
/// `before` keeps, which then stays.
inline bool settle(PyObject* list, PyObject* before, const std::vector<PyObject*>& owners) {
  bool lent = false;
  for (Py_ssize_t i = PyList_GET_SIZE(list); i-- > 0;) {
    PyObject* one = PyList_GET_ITEM(list, i);
    if (!is_instance(one)) continue;
    const auto* instance = reinterpret_cast<Instance*>(one);
    if (instance->owner != Owner::Nobody) continue;
    lent = true;
    const auto is_owner = [&](PyObject* kept) {
      return std::ranges::find(owners, kept) != owners.end();
    };
    // To keep it would keep its owner, which would never end.
    if (std::ranges::all_of(kept_by(instance), is_owner) &&
        PyList_SetSlice(list, i, i + 1, nullptr) < 0) {
      return false;
    }
  }
  if (!lent || !before || !PyList_CheckExact(before)) return true;
  std::unordered_set<PyObject*> there;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    there.insert(PyList_GET_ITEM(list, i));
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(before); ++i) {
    PyObject* one = PyList_GET_ITEM(before, i);
    if (there.insert(one).second && PyList_Append(list, one) < 0) return false;
  }
  return true;
}

/// Keeps what a place of C++'s refers to until something else is assigned: with the objects
/// that the place is a part of, and for ever where Python owns none.  `kept` is a list of
/// objects, or what has the memory; null for nothing.
inline bool keep_at(PyObject* holder, const volatile void* place, PyObject* kept,
                    Replaced& before) {
  // Not a dict, as an argument that is kept may be one.
  static PyObject *type = nullptr, *variables = nullptr;
  if (!type) {
    type = PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(O){}",
                                 "Kept", reinterpret_cast<PyObject*>(&PyDict_Type));
  }
  if (!variables) variables = PyDict_New();
  PyRef key(PyLong_FromVoidPtr(const_cast<void*>(place)));
  if (!type || !variables || !key) return false;
  std::vector<PyObject*> owners;
  if (holder) owners_of(holder, owners);
  const auto keep_in = [&](PyObject* places) {
    PyObject* old = PyDict_GetItemWithError(places, key.get());
    if (!old && PyErr_Occurred()) return false;
    if (old) before.push_back(PyRef::borrow(old));
    if (kept && PyList_CheckExact(kept) && !settle(kept, old, owners)) return false;
    if (kept) return PyDict_SetItem(places, key.get(), kept) == 0;
    return !old || PyDict_DelItem(places, key.get()) == 0;
  };
  if (owners.empty()) return keep_in(variables);
  for (PyObject* owner : owners) {
    PyRef places;
    for (PyObject* one : kept_by(reinterpret_cast<Instance*>(owner))) {
      if (reinterpret_cast<PyObject*>(Py_TYPE(one)) == type) places = PyRef::borrow(one);
    }
    if (!places && !kept) continue;
    if (!places) {
      places = PyRef(PyObject_CallNoArgs(type));
      if (!places || !keep_alive(owner, places.get())) return false;
    }
    if (!keep_in(places.get())) return false;
  }
  return true;
}
/// The same of one object, or of none.
inline bool keep_object_at(PyObject* holder, const volatile void* place, PyObject* object,
                           Replaced& before) {
  PyRef list(object ? PyList_New(0) : nullptr);
  if (object && (!list || PyList_Append(list.get(), object) < 0)) return false;
  return keep_at(holder, place, list.get(), before);
}
template <class T>
inline constexpr bool IsWideView = false;
template <class C>
inline constexpr bool IsWideView<std::basic_string_view<C>> = !std::is_same_v<C, char>;
/// The same of what was converted for that place; false with an error set where it lasts no
/// longer than the call.
template <class T>
bool keep_value(PyObject* holder, const volatile void* place, const In<T>& held,
                PyObject* value, const Argument& where, Replaced& before) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (IsWrapped<Plain>) {  // a copy
    return true;
  } else if constexpr (IsView<Plain>) {
    return keep_at(holder, place, value, before);
  } else if constexpr (IsSpan<Plain> && !requires { held.view; }) {  // of copies
    return refuse_address(where, "%extend");
  } else if constexpr (IsSpan<Plain>) {
    PyRef view(call_python(PyMemoryView_FromObject, value));  // nobody resizes it
    return view && keep_at(holder, place, view.get(), before);
  } else if constexpr (requires { held.parts.objects; }) {
    const auto& parts = held.parts;
    PyRef list(PyList_New(0));
    std::unordered_set<PyObject*> taken;
    for (const auto& one : parts.taken) taken.insert(one.object);
    for (const PyRef& one : parts.objects) {
      if (taken.count(one.get())) continue;  // C++ owns it
      if (!list || PyList_Append(list.get(), one.get()) < 0) return false;
    }
    const bool some = list && PyList_GET_SIZE(list.get());
    return list && keep_at(holder, place, some ? list.get() : nullptr, before);
  } else if constexpr (IsWideView<Plain>) {  // of a text that was made for the call
    return refuse_address(where, "%extend");
  } else if constexpr (HoldsReferences<Plain>::value && !IsUnique<Plain> &&
                       !std::is_pointer_v<Plain>) {
    if constexpr (requires { held.made->get(); }) {  // std::reference_wrapper
      if constexpr (IsWrapped<std::remove_cvref_t<decltype(held.made->get())>>) {
        return keep_object_at(holder, place, value, before);
      }
    }
    return refuse_address(where, "%extend");
  } else {
    return true;
  }
}

/// cvar.name = object
template <class T>
bool set_variable(PyObject* object, T& variable, const char* name,
                  const char* function = "cvar") {
  In<T> held;
  Replaced before;
  const Argument where{function, name};
  return held.load(object, where) &&
         keep_value<std::remove_cv_t<T>>(nullptr, std::addressof(variable), held, object,
                                         where, before) &&
         assign(variable, held.take());
}
/// A constant of a class; of a number C++ may have the value alone, and nowhere an object.
template <class T>
concept IsWideText = std::is_pointer_v<T> &&
                     IsCharacter<std::remove_cv_t<std::remove_pointer_t<T>>> &&
                     !std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, char>;
template <class T>
PyObject* get_constant(std::conditional_t<std::is_scalar_v<T>, T, const T&> value) {
  using Item = std::remove_cv_t<std::remove_extent_t<T>>;
  if constexpr (std::is_same_v<Item, char> && std::is_array_v<T>) {
    return Convert<const Item*>::cast(value);
  } else if constexpr (std::is_array_v<T>) {
    return to_python(std::vector<Item>(std::begin(value), std::end(value)));
  } else if constexpr (IsWideText<T>) {
    using Text = std::basic_string<std::remove_cv_t<std::remove_pointer_t<T>>>;
    return value ? to_python(Text(value)) : new_ref(Py_None);
  } else {
    return to_python(value);
  }
}
/// A member that is a PyObject*: a new reference to what it has, None for none.
inline PyObject* get_object(PyObject* member) { return new_ref(member ? member : Py_None); }
/// A pointer is to an object of Python's, a function, or what only C++ knows.
template <class T>
inline constexpr bool kHasAddress = [] {
  if constexpr (!IsComplete<T> || std::is_function_v<T>) return true;
  else return IsWrapped<std::remove_cv_t<T>> || std::is_same_v<T, PyObject>;
}();
/// A member: `slots` are the object that it is a part of, which step.py lets keep the value,
/// and the value; an object that C++ lent goes before what it is a part of.
template <class T, class U>
bool set_address(T*& member, U* pointer, const Argument& where, PyObject* const* slots) {
  Replaced before;
  if constexpr (std::is_void_v<T>) {  // a capsule's
  } else if constexpr (!kHasAddress<T>) {
    if (pointer) return refuse_address(where, "%extend");
  } else if constexpr (kHasAddress<T> && IsComplete<T> && !std::is_function_v<T>) {
    const bool lent = reinterpret_cast<Instance*>(slots[0])->owner == Owner::Nobody;
    const bool keeps = lent || std::is_same_v<T, PyObject>;
    if (keeps && !keep_object_at(slots[0], &member, pointer ? slots[1] : nullptr, before)) {
      return false;
    }
  }
  member = pointer;
  return true;
}
/// A variable that is a pointer: to an object of Python's, which lives as long as nothing
/// else is assigned.
template <class T>
bool set_pointer(PyObject* object, T*& variable, const Argument& where, PyObject*& kept) {
  if constexpr (IsComplete<T> && !IsWrapped<std::remove_cv_t<T>>) {
    return refuse_address(where, "%inline");
  } else {
    InPointer<std::remove_cv_t<T>> held;
    std::remove_cv_t<T>* pointer = nullptr;
    if (!held.load(object, where, pointer)) return false;
    variable = pointer;
    Py_INCREF(object);
    Py_XSETREF(kept, object);
    return true;
  }
}
/// Its value, or an object that stands for the variable itself where there are no copies,
/// or one object for each of C++'s.
template <class T>
PyObject* get_variable(T& variable) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (IsWrapped<Plain>) {
    if (!std::is_const_v<T> || !std::is_copy_constructible_v<Plain> ||
        actual(class_of<Plain>).tracked) {
      return Convert<Plain*>::cast(const_cast<Plain*>(&variable));
    }
  }
  if constexpr (std::is_volatile_v<T>) {
    return Convert<Plain>::cast(Plain(variable));
  } else if constexpr (std::is_copy_constructible_v<Plain> || !IsWrapped<Plain>) {
    return Convert<Plain>::cast(std::as_const(variable));
  }
  return nullptr;
}

}  // namespace swigkit

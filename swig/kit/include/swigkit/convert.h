// SPDX-License-Identifier: Apache-2.0
// swigkit/convert.h: what a conversion between Python and C++ is, and what types say of it.
// plain.h, containers.h, function.h, buffers.h, standard.h and enumeration.h have the types,
// inputs.h and results.h the places that typemaps (values.i) keep arguments and results in.
#pragma once

#include "argument.h"
#include "ownership.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

template <class T>
struct In;  // where an argument stays during the call: inputs.h

/// One specialisation for each type:
///   static std::string expected();                          "an int", for errors
///   static bool load(PyObject*, T&, const Argument&);       false: an error is set
///   static PyObject* cast(const T&);                        new reference, or null
/// Without one the type is a class that the module wraps.
template <class T>
struct Convert {
  using Wrapped = T;

  static std::string expected() { return one(class_of<T>.name()); }
  static bool load(PyObject* object, T& value, const Argument& where) {
    In<T> in;
    if (!in.load(object, where)) return false;
    value = in.take();
    return true;
  }
  static PyObject* cast(const T& value) { return give(value); }
  static PyObject* cast(T&& value) { return give(std::move(value)); }

 private:
  template <class U>
  static PyObject* give(U&& value) {
    if constexpr (std::is_constructible_v<T, U&&>) {
      return wrap_value<T>(std::forward<U>(value));
    } else {
      PyErr_Format(PyExc_TypeError, "C++'s %s cannot be copied", readable_name(typeid(T)));
      return nullptr;
    }
  }
};

/// A class that the module wraps, as an object of Python's holds it.
template <class T>
concept IsWrapped = requires { typename Convert<T>::Wrapped; };

/// The argument as a C++ value; false with a Python error set when it is none.
template <class T>
bool to_cpp(PyObject* object, T& value, const Argument& where) {
  return Convert<T>::load(object, value, where);
}

/// The value as a new Python object; null with an error set when there is none.
template <class T>
PyObject* to_python(const T& value) {
  return Convert<T>::cast(value);
}
template <class T>
  requires(!std::is_lvalue_reference_v<T>)
PyObject* to_python(T&& value) {
  return Convert<std::remove_cv_t<T>>::cast(std::move(value));
}

template <class T>
inline constexpr bool IsUnique = false;
template <class T>
inline constexpr bool IsUnique<std::unique_ptr<T>> = true;

/// Whether a container's parts are references to objects that live elsewhere.
template <class T>
struct HoldsReferences {
  static constexpr bool value = [] {
    if constexpr (std::is_pointer_v<T>) return true;
    else if constexpr (std::is_same_v<T, std::string>) return false;
    else if constexpr (std::is_same_v<T, std::string_view>) return true;
    else if constexpr (requires { typename T::mapped_type; }) {
      return HoldsReferences<typename T::mapped_type>::value ||
             HoldsReferences<typename T::key_type>::value;
    } else if constexpr (requires(T& t) {
                           typename T::value_type;
                           t.begin();
                         }) {
      return HoldsReferences<typename T::value_type>::value;
    } else {
      return false;
    }
  }();
};
template <class T, class D>
struct HoldsReferences<std::unique_ptr<T, D>> : std::true_type {};
template <class T>
struct HoldsReferences<std::optional<T>> : HoldsReferences<T> {};
template <class T>
struct HoldsReferences<std::reference_wrapper<T>> : std::true_type {};
template <class... T>
struct HoldsReferences<std::tuple<T...>>
    : std::bool_constant<(HoldsReferences<T>::value || ...)> {};
template <class A, class B>
struct HoldsReferences<std::pair<A, B>> : HoldsReferences<std::tuple<A, B>> {};
template <class... T>
struct HoldsReferences<std::variant<T...>> : HoldsReferences<std::tuple<T...>> {};
/// Of what itself is one there is nothing to keep: the caller holds the argument.
template <class T>
inline constexpr bool KeepsParts = HoldsReferences<T>::value && !IsUnique<T> &&
                                   !std::is_pointer_v<T> && !IsWrapped<T> &&
                                   !std::is_same_v<T, std::string_view>;

/// What refers to the Python object that it came from.
template <class T>
inline constexpr bool IsView = std::is_same_v<T, std::string_view> ||
                               std::is_same_v<T, const char*>;
template <class T>
concept IsSpan = requires {
  typename T::element_type;
  T::extent;
};
/// Of what a callable returned as such a T: it is there until the next such call.
template <class T>
void keep_view(PyObject* result) {
  using Plain = std::remove_cvref_t<T>;
  constexpr bool kRefers = std::is_reference_v<T> || std::is_pointer_v<T>;
  if constexpr (kRefers || IsView<Plain> || IsSpan<Plain>) keep_viewed(result);
}

/// What C++ gets of an object by value: a copy, or what the object was, where there is none.
template <class T>
using Taken = std::conditional_t<std::is_copy_constructible_v<T>, const T&, T&&>;

}  // namespace swigkit

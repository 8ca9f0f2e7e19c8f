// SPDX-License-Identifier: Apache-2.0
// swigkit/convert.h: what a conversion between Python and C++ is, and the places that
// typemaps (values.i) keep arguments and results in.  plain.h, containers.h, function.h,
// buffers.h, standard.h and enumeration.h have the types.
#pragma once

#include "argument.h"
#include "ownership.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

template <class T>
struct In;  // where an argument stays during the call, below

/// Whether arguments of this class may also be what one of its constructors takes
/// (%implicit).
template <class T>
inline constexpr bool kImplicit = false;

/// The argument as a new object of the class, for a call; null with an error set when no
/// constructor takes it.
[[gnu::noinline]] inline PyObject* convert_implicitly(PyObject* object, const Class& own,
                                                      const Argument& where) {
  static thread_local bool converting = false;  // else the copy constructor begins again
  const Class& wanted = actual(own);
  if (converting || !wanted.type || where.exact()) {
    return refuse(where, one(wanted.name()), object), nullptr;
  }
  converting = true;
  PyObject* made = call_python(PyObject_CallOneArg,
                               reinterpret_cast<PyObject*>(wanted.type), object);
  converting = false;
  if (!made && (where.matching || PyErr_ExceptionMatches(PyExc_TypeError))) {
    PyErr_Clear();
    refuse(where, one(wanted.name()), object);
  }
  return made;
}

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

/// What owns objects by std::unique_ptr: one, or a container of them.
template <class T>
struct HoldsUnique {
  static constexpr bool value = [] {
    if constexpr (IsWrapped<T> || std::is_same_v<T, std::string>) {
      return false;
    } else if constexpr (requires { typename T::mapped_type; }) {
      return std::ranges::range<T> && HoldsUnique<typename T::mapped_type>::value;
    } else if constexpr (requires { typename T::value_type; }) {
      return std::ranges::range<T> && HoldsUnique<typename T::value_type>::value;
    } else {
      return false;
    }
  }();
};
template <class T, class D>
struct HoldsUnique<std::unique_ptr<T, D>>
    : std::bool_constant<!std::is_array_v<T> && IsWrapped<std::remove_cv_t<T>>> {};
template <class T>
struct HoldsUnique<std::optional<T>> : HoldsUnique<T> {};
template <class... T>
struct HoldsUnique<std::tuple<T...>> : std::bool_constant<(HoldsUnique<T>::value || ...)> {
};
template <class A, class B>
struct HoldsUnique<std::pair<A, B>> : HoldsUnique<std::tuple<A, B>> {};
template <class... T>
struct HoldsUnique<std::variant<T...>> : HoldsUnique<std::tuple<T...>> {};

/// Calls visit(std::unique_ptr&) for each that is not null.
template <class C, class F>
void for_each_unique(C& container, const F& visit) {
  if constexpr (!HoldsUnique<C>::value) {
    return;
  } else if constexpr (requires { typename C::deleter_type; }) {
    if (container) visit(container);
  } else if constexpr (requires { std::tuple_size<C>::value; }) {
    std::apply([&](auto&... part) { (for_each_unique(part, visit), ...); }, container);
  } else if constexpr (requires { std::variant_size<C>::value; }) {
    if (container.valueless_by_exception()) return;
    std::visit([&](auto& value) { for_each_unique(value, visit); }, container);
  } else if constexpr (requires { typename C::mapped_type; }) {
    for (auto& entry : container) for_each_unique(entry.second, visit);
  } else if constexpr (requires { container.begin(); }) {
    // Those of a set cannot be changed.
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(*container.begin())>>) {
      for (auto& item : container) for_each_unique(item, visit);
    }
  } else if (container.has_value()) {
    for_each_unique(*container, visit);
  }
}
/// What C++ did not take in the end is Python's again: of what was taken after the first
/// `before`.
template <class C>
void give_back_parts(C& container, Parts& parts, size_t before = 0) {
  if (parts.taken.size() <= before) return;
  const auto taken = std::span(parts.taken).subspan(before);
  std::ranges::sort(taken, {}, &Parts::Taken::pointer);
  for_each_unique(container, [&](auto& unique) {
    using T = typename std::remove_reference_t<decltype(unique)>::element_type;
    if constexpr (std::is_same_v<decltype(unique.release()), T*>) {
      const void* pointer = unique.get();
      const auto at = std::ranges::lower_bound(taken, pointer, {}, &Parts::Taken::pointer);
      if (at != taken.end() && at->pointer == pointer)
        give_back(at->object, unique.release());
    }
  });
  parts.taken.resize(before);
}
/// The others C++ has for good.
template <class C>
void keep_taken_parts(C& container, const Parts& parts) {
  std::unordered_set<const void*> left;
  for_each_unique(container, [&](auto& unique) { left.insert(unique.get()); });
  for (const auto& [object, pointer] : parts.taken) {
    if (!left.count(pointer)) keep_taken(object);
  }
}
/// What C++ lets go of, and Python has an object for, is Python's.
template <class C>
void give_to_python(C& container) {
  for_each_unique(container, [](auto& unique) {
    using T = typename std::remove_reference_t<decltype(unique)>::element_type;
    using Plain = std::remove_cv_t<T>;
    const auto [address, record] = most_derived(const_cast<Plain*>(unique.get()));
    const PyRef found(find_tracked(address, *record));
    if (!found) return;
    auto* self = reinterpret_cast<Instance*>(found.get());
    if (record->destroy) return void(PyRef(to_python(std::move(unique))));
    // C++ alone may end it, and does so now.
    const size_t views = end_lent(self, Owner::Taken);
    forget_lent(self);
    untrack(self);
    self->object = nullptr;
    self->owner = Owner::Taken;
    report_views(found.get(), views);
  });
}

/// Where an argument stays during the call: a value of its own, or the object of Python's.
template <class T>
struct In {
  T value{};

  bool load(PyObject* object, const Argument& where) {
    return Convert<T>::load(object, value, where);
  }
  T* get() { return &value; }
  T&& take() { return std::move(value); }
  void watch(T*) {}
};
/// Of a type that cannot be made of nothing, whose Convert makes it in a std::optional.
template <class T>
concept IsMadeByConvert = !IsWrapped<T> && !std::is_default_constructible_v<T> &&
                          !std::is_abstract_v<T> &&
                          requires(std::optional<T>& value, PyObject* object,
                                   const Argument& where) {
                            Convert<T>::load(object, value, where);
                          };
template <class T>
  requires IsMadeByConvert<T>
struct In<T> {
  std::optional<T> value{};

  bool load(PyObject* object, const Argument& where) {
    return Convert<T>::load(object, value, where);
  }
  T* get() { return &*value; }
  T&& take() { return *std::move(value); }
  void watch(T*) {}
};
template <class T>
struct In<volatile T> : In<T> {};
template <class T>
  requires KeepsParts<T> && std::is_default_constructible_v<T>
struct In<T> {
  T value{};
  Parts parts{};
  T* argument = nullptr;

  In() = default;
  In(const In&) = delete;
  ~In() {
    if (parts.taken.empty()) return;
    T& left = argument ? *argument : value;
    keep_taken_parts(left, parts);  // first: what lay in them does not come back
    give_back_parts(left, parts);
  }
  bool load(PyObject* object, const Argument& where) {
    Argument with_parts = where;
    if (!with_parts.keep) with_parts.keep = &parts;
    const size_t before = with_parts.keep->taken.size();
    if (Convert<T>::load(object, value, with_parts)) return true;
    give_back_parts(value, *with_parts.keep, before);
    return false;
  }
  T* get() { return &value; }
  T&& take() { return std::move(value); }
  void watch(T* taken) { argument = taken; }
};
/// What C++ did not take in the end is Python's again.
template <class T>
  requires IsWrapped<T>
struct In<std::unique_ptr<T>> {
  std::unique_ptr<T> value{};
  std::unique_ptr<T>* argument = nullptr;
  PyObject* from = nullptr;
  const void* taken = nullptr;
  bool is_part = false;

  In() = default;
  In(const In&) = delete;
  ~In() {
    std::unique_ptr<T>& left = argument ? *argument : value;
    // A part that went into a container is settled by the container's In.
    if (from && (left || !is_part)) settle_taken(from, left, taken);
    Py_XDECREF(from);
  }
  bool load(PyObject* object, const Argument& where) {
    if (!Convert<std::unique_ptr<T>>::load(object, value, where)) return false;
    if (value) from = new_ref(object), taken = value.get();
    is_part = where.keep != nullptr;
    return true;
  }
  std::unique_ptr<T>* get() { return &value; }
  std::unique_ptr<T>&& take() { return std::move(value); }
  void watch(std::unique_ptr<T>* taken) { argument = taken; }
};
template <class T>
  requires IsWrapped<T>
struct In<T> {
  T* pointer = nullptr;

  bool load(PyObject* object, const Argument& where) {
    pointer = pointer_of<T>(object, where);
    return pointer != nullptr;
  }
  T* get() { return pointer; }
  Taken<T> take() { return static_cast<Taken<T>>(*pointer); }
  void watch(T*) {}
};
template <class T>
  requires IsWrapped<T> && kImplicit<T>
struct In<T> {
  T* pointer = nullptr;
  PyRef made{};

  bool load(PyObject* object, const Argument& where) {
    const Class& own = class_of<T>;
    if (!PyType_IsSubtype(Py_TYPE(object), actual(own).type)) {
      made = PyRef(convert_implicitly(object, own, where));
      if (!(object = made.get())) return false;
    }
    pointer = pointer_of<T>(object, where);
    return pointer != nullptr;
  }
  T* get() { return pointer; }
  Taken<T> take() { return static_cast<Taken<T>>(*pointer); }
  void watch(T*) {}
};
template <class T>
struct In<const T> : In<T> {};

/// An address of an object whose class nobody but C++ knows: a capsule with its name.
template <class T>
struct Handle {
  static std::string name() { return readable_name(typeid(std::remove_cv_t<T>*)); }
  static bool load(PyObject* object, T*& pointer, const Argument& where) {
    static const std::string known = name();  // capsules have no copy of it
    if (object == Py_None) return pointer = nullptr, true;
    if (!PyCapsule_IsValid(object, known.c_str())) {
      return refuse(where, "a " + known + " that C++ gave", object);
    }
    pointer = static_cast<T*>(PyCapsule_GetPointer(object, known.c_str()));
    return true;
  }
  static PyObject* cast(T* pointer) {
    static const std::string known = name();
    if (!pointer) Py_RETURN_NONE;
    return PyCapsule_New(const_cast<std::remove_cv_t<T>*>(pointer), known.c_str(), nullptr);
  }
};

/// The same for a pointer: null for None where that is allowed.
template <class T>
struct InPointer {
  In<std::remove_cv_t<T>> in;

  bool load(PyObject* object, const Argument& where, T*& pointer) {
    // A std::function or std::unique_ptr, which a setter gets as a pointer, is null itself.
    using Plain = std::remove_cv_t<T>;
    constexpr bool kNullable = !IsWrapped<Plain> &&
                               std::is_constructible_v<Plain, std::nullptr_t>;
    if (object == Py_None && where.optional && !kNullable) return pointer = nullptr, true;
    if (!in.load(object, where)) return false;
    pointer = in.get();
    return true;
  }
};

/// The same of an object that C++ takes over (SWIG's DISOWN).  A pointer to const of the same
/// name, for which SWIG has the same typemap, only looks at it.
template <class T>
struct InOwned {
  In<std::unique_ptr<T>> in;

  bool load(PyObject* object, const Argument& where, T*& pointer) {
    if (object == Py_None && where.optional) return pointer = nullptr, true;
    if (object == Py_None) return refuse(where, Convert<T>::expected, object);
    if (!in.load(object, where)) return false;
    pointer = in.get()->get();
    return true;
  }
  /// C++ has it: all arguments were converted.  Before, a refused call gives it back.
  void release() { (void)in.get()->release(); }
};
template <class T>
struct InOwned<const T> {
  InPointer<T> in;

  bool load(PyObject* object, const Argument& where, T*& pointer) {
    return in.load(object, where, pointer);
  }
  void release() {}
};

template <class T>
  requires(!IsComplete<T> && std::is_class_v<T>)
struct InPointer<T> {
  bool load(PyObject* object, const Argument& where, T*& pointer) {
    return Handle<T>::load(object, pointer, where);
  }
};

/// A function.
template <class T>
  requires std::is_function_v<T>
struct InPointer<T> {
  bool load(PyObject* object, const Argument& where, T*& pointer) {
    return to_cpp(object, pointer, where);
  }
};

template <class T>
PyObject* give(T&& result, PyObject* const* arguments, Count count, std::true_type = {});

/// A variable of C++'s gets a value; false with an error set when it cannot be assigned.
template <class T, class U>
bool assign(T& to, U&& from) {
  using Value = std::remove_cvref_t<U>;
  if constexpr (HoldsUnique<T>::value && std::is_constructible_v<T, U&&> &&
                std::is_move_assignable_v<T>) {
    return guarded(
        [&] {
          T value(std::forward<U>(from));
          std::swap(to, value);
          give_to_python(value);
          return true;
        },
        false);
  } else if constexpr (std::is_assignable_v<T&, U&&>) {
    return guarded([&] { return void(to = std::forward<U>(from)), true; }, false);
  } else if constexpr (std::is_assignable_v<T&, Value&&> &&
                       !std::is_const_v<std::remove_reference_t<U>>) {
    return guarded([&] { return void(to = std::move(from)), true; }, false);
  } else if constexpr (requires { to.store(from.load()); }) {  // std::atomic
    return to.store(from.load()), true;
  } else {
    PyErr_SetString(PyExc_AttributeError, "C++ has no assignment for this variable's type");
    return false;
  }
}

/// A result that is a reference or a pointer: to an object of a wrapped class, which the
/// arguments that it may be a part of are kept alive for; of other types the value.  A copy
/// where it may lie in a container that is converted for this call alone (step.py says so).
/// Whether the caller owns it (%newobject) is known before any call is made, as C++ may have
/// lent it before: both are one Python object.
template <int owned = 0, class T, bool copies = false>
PyObject* refer(T* result, PyObject* const* arguments, Count count,
                std::bool_constant<copies> = {}) {
  using Plain = std::remove_cv_t<T>;
  if (!result) Py_RETURN_NONE;
  if constexpr (!IsComplete<Plain>) {
    return Handle<Plain>::cast(const_cast<Plain*>(result));
  } else if constexpr (std::is_function_v<T>) {
    return to_python(result);
  } else if constexpr (IsWrapped<Plain>) {
    auto* object = const_cast<Plain*>(result);
    if constexpr (copies && !owned) return Convert<Plain>::cast(*result);
    if constexpr (owned) [[maybe_unused]]
      const bool* singly = &kOwnedSingly<Plain>;
    for (int i = 0; i < count.all && !owned; ++i) {
      PyObject* found = find_near(arguments[i], object, actual(class_of<Plain>));
      if (found) return new_ref(found);
    }
    if constexpr (kSharesItself<Plain>) {
      if (auto share = object->weak_from_this().lock(); share && !owned) {
        return wrap_shared<Plain>(std::static_pointer_cast<Plain>(share));
      }
    }
    PyObject* made = wrap_pointer(object, owned ? Owner::Python : Owner::Nobody);
    if (!made || owned) return made;
    if (reinterpret_cast<Instance*>(made)->owner != Owner::Nobody) return made;
    if (keep_arguments(made, arguments, count)) return made;
    Py_DECREF(made);
    return nullptr;
  } else {
    PyObject* made = give(*result, arguments, count);
    if (owned) delete result;
    return made;
  }
}

/// The arguments live as long as the objects in a list or dict.
inline bool keep_for_parts(PyObject* made, PyObject* const* arguments, Count count) {
  if (PyDict_Check(made)) {
    const PyRef keys(PyDict_Keys(made)), values(PyDict_Values(made));
    return keys && values && keep_for_parts(keys.get(), arguments, count) &&
           keep_for_parts(values.get(), arguments, count);
  }
  if (PyTuple_Check(made) || PyAnySet_Check(made)) {
    PyRef list(PySequence_List(made));
    return list && keep_for_parts(list.get(), arguments, count);
  }
  if (PyList_Check(made)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(made); ++i) {
      if (!keep_for_parts(PyList_GET_ITEM(made, i), arguments, count)) return false;
    }
    return true;
  }
  if (!is_instance(made)) return true;
  if (reinterpret_cast<Instance*>(made)->owner != Owner::Nobody) return true;
  return keep_arguments(made, arguments, count);
}

/// A result by value.
template <class T>
PyObject* give(T&& result, PyObject* const* arguments, Count count, std::true_type) {
  using Plain = std::remove_cvref_t<T>;
  std::optional<Near> near;
  if constexpr (HoldsReferences<Plain>::value) near.emplace(arguments, count.all);
  PyObject* made = Convert<Plain>::cast(std::forward<T>(result));
  if constexpr (HoldsReferences<Plain>::value) {
    if (made && !keep_for_parts(made, arguments, count)) {
      Py_DECREF(made);
      return nullptr;
    }
  }
  return made;
}

/// An argument by value of a type that need not have a constructor without arguments.
template <class T>
class Slot {
 public:
  template <class U>
  Slot& operator=(U&& value) {
    value_.emplace(std::forward<U>(value));
    return *this;
  }
  operator T&&() { return std::move(*value_); }
  T* operator&() { return value_ ? &*value_ : nullptr; }

 private:
  std::optional<T> value_;
};

/// A result by value of a class that the module wraps: made where it stays, as it may have
/// neither copies nor moves.
template <class T>
class Made {
 public:
  template <class F>
  void make(F&& f) {
    if constexpr (kFitsInside<T>) made_.emplace(f());
    else made_.reset(new T(f()));
  }
  PyObject* give() {
    if constexpr (kFitsInside<T>) return Convert<T>::cast(*std::move(made_));
    else return wrap_object(made_.release(), actual(class_of<T>), Owner::Python);
  }

 private:
  std::conditional_t<kFitsInside<T>, std::optional<T>, std::unique_ptr<T>> made_;
};

}  // namespace swigkit

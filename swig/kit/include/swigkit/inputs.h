// SPDX-License-Identifier: Apache-2.0
// swigkit/inputs.h: where arguments stay during a call: a value that was made of one, or the
// object that Python has.
#pragma once

#include "taken_parts.h"

#include <memory>
#include <optional>
#include <utility>

namespace [[gnu::visibility("hidden")]] swigkit {

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
/// Whether a value is made of nothing first, and then assigned to.  What cannot be moved at
/// all (std::atomic) has a Convert that knows how.
template <class T>
inline constexpr bool kIsMadeFirst = std::is_default_constructible_v<T> &&
                                     (std::is_move_assignable_v<T> ||
                                      !std::is_move_constructible_v<T>);
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
  static std::string expected() { return "a " + name() + " that C++ gave"; }
  static bool load(PyObject* object, T*& pointer, const Argument& where) {
    static const std::string known = name();  // capsules have no copy of it
    if (object == Py_None) return pointer = nullptr, true;
    if (!PyCapsule_IsValid(object, known.c_str())) return refuse(where, expected, object);
    pointer = static_cast<T*>(PyCapsule_GetPointer(object, known.c_str()));
    return true;
  }
  static PyObject* cast(T* pointer) {
    static const std::string known = name();
    if (!pointer) Py_RETURN_NONE;
    return PyCapsule_New(const_cast<std::remove_cv_t<T>*>(pointer), known.c_str(), nullptr);
  }
};

/// An argument that a constructor takes by reference, of whose object it is not known whether
/// it refers to it: what was made of Python's object lives as long as that.
template <class T>
class Outliving {
 public:
  bool load(PyObject* object, const Argument& where) { return in_->load(object, where); }
  auto* get() { return in_->get(); }
  bool keep(PyObject* self) {
    if constexpr (!IsWrapped<T> || kImplicit<T>) {
      const PyRef kept(PyCapsule_New(in_.get(), nullptr, [](PyObject* capsule) {
        delete static_cast<In<T>*>(PyCapsule_GetPointer(capsule, nullptr));
      }));
      if (!kept) return false;
      (void)in_.release();
      return keep_alive(self, kept.get());
    }
    return true;
  }

 private:
  std::unique_ptr<In<T>> in_ = std::make_unique<In<T>>();
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
  /// By a typedef that has the const.
  bool load(PyObject* object, const Argument& where, const T*& pointer)
    requires(!std::is_const_v<T>)
  {
    T* found;
    if (!load(object, where, found)) return false;
    pointer = found;
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
  bool load(PyObject* object, const Argument& where, auto*& pointer) {
    return Handle<T>::load(object, const_cast<T*&>(pointer), where);
  }
};

/// A reference to one.
template <class T>
  requires IsWrapped<T> && (!IsComplete<T> && std::is_class_v<T>)
struct In<T> {
  T* pointer = nullptr;

  bool load(PyObject* object, const Argument& where) {
    if (object == Py_None) return refuse(where, Handle<T>::expected, object);
    return Handle<T>::load(object, pointer, where);
  }
  T* get() { return pointer; }
};
/// A function.
template <class T>
  requires IsWrapped<T> && std::is_function_v<T>  // it has no Convert of its own
struct In<T> {
  T* pointer = nullptr;

  bool load(PyObject* object, const Argument& where) {
    return to_cpp(object, pointer, where);
  }
  T* get() { return pointer; }
};
template <class T>
  requires std::is_function_v<T>
struct InPointer<T> {
  bool load(PyObject* object, const Argument& where, T*& pointer) {
    return to_cpp(object, pointer, where);
  }
};

/// Of a thread: the last few that an override or a callback has returned by reference.  They
/// may refer to Python objects, which need the GIL, and Python, at their end.
template <class T>
class Lasting {
 public:
  Lasting() = default;
  Lasting(const Lasting&) = delete;
  ~Lasting() {
    if (!interpreter_alive()) {
      for (auto& one : kept_) (void)one.release();
      return;
    }
    GilAcquire gil;
    for (auto& one : kept_) one.reset();
  }
  /// Needs the GIL; `fresh` is what was converted.
  T& keep(std::unique_ptr<T> fresh) {
    const size_t at = next_++ % std::size(kept_);
    const std::unique_ptr<T> before = std::exchange(kept_[at], std::move(fresh));
    return *kept_[at];
  }

 private:
  std::unique_ptr<T> kept_[8];
  size_t next_ = 0;
};

/// An argument by value of a type that need not have a constructor without arguments, nor
/// an assignment.
template <class T>
class Slot {
 public:
  Slot() = default;
  Slot(T value) : value_(std::move(value)) {}
  template <class U>
    requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Slot>)
  Slot(U&& value) : value_(std::forward<U>(value)) {}
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
template <class T>
using Passed = std::conditional_t<kIsMadeFirst<T>, T, Slot<T>>;

}  // namespace swigkit

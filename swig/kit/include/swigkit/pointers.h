// SPDX-License-Identifier: Apache-2.0
// swigkit/pointers.h: pointers to wrapped objects, with and without a share in them.
#pragma once

#include "plain.h"

#include <functional>
#include <memory>
#include <optional>

namespace [[gnu::visibility("hidden")]] swigkit {

/// A share in the object, or None; of other types in a copy of the value.
template <class T>
struct Convert<std::shared_ptr<T>> {
  using Plain = std::remove_cv_t<T>;

  static std::string expected() { return Convert<Plain>::expected(); }
  static bool load(PyObject* object, std::shared_ptr<T>& value, const Argument& where) {
    value.reset();
    if (object == Py_None) {
      if (!where.matching || !where.matching->operands) return true;
      return refuse(where, expected, object);
    }
    if constexpr (IsWrapped<Plain>) {
      std::shared_ptr<Plain> found;
      PyRef made;
      if constexpr (kImplicit<Plain>) {
        if (!PyType_IsSubtype(Py_TYPE(object), actual(class_of<Plain>).type)) {
          made = PyRef(convert_implicitly(object, class_of<Plain>, where));
          if (!(object = made.get())) return false;
        }
      }
      if (!shared_of<Plain>(object, found, where)) return false;
      value = std::move(found);
      return true;
    } else {
      In<Plain> in;
      if (!in.load(object, where.lasting())) return false;
      value = std::make_shared<Plain>(in.take());
      return true;
    }
  }
  static PyObject* cast(const std::shared_ptr<T>& value) {
    if constexpr (IsWrapped<Plain>)
      return wrap_shared<Plain>(std::const_pointer_cast<Plain>(value));
    else return value ? Convert<Plain>::cast(*value) : new_ref(Py_None);
  }
  static PyObject* cast(std::shared_ptr<T>&& value) {
    if constexpr (IsWrapped<Plain>)
      return wrap_shared<Plain>(std::const_pointer_cast<Plain>(std::move(value)));
    else return cast(std::as_const(value));
  }
};

template <class T>
struct Convert<std::weak_ptr<T>> {
  static std::string expected() { return Convert<std::shared_ptr<T>>::expected(); }
  static bool load(PyObject* object, std::weak_ptr<T>& value, const Argument& where) {
    using Plain = std::remove_cv_t<T>;
    if constexpr (IsWrapped<Plain> && kImplicit<Plain>) {  // nobody would keep a new one
      const bool own = PyType_IsSubtype(Py_TYPE(object), actual(class_of<Plain>).type);
      if (object != Py_None && !own) return refuse(where, expected, object);
    }
    std::shared_ptr<T> held;
    if (!to_cpp(object, held, where)) return false;
    value = held;
    return true;
  }
  static PyObject* cast(const std::weak_ptr<T>& value) {
    return Convert<std::shared_ptr<T>>::cast(value.lock());
  }
};

/// C++ takes the object: its Python object cannot be used any more.  Out of C++ Python
/// owns it.
template <class Given>
struct Convert<std::unique_ptr<Given>> {
  using T = std::remove_cv_t<Given>;

  static std::string expected() { return Convert<T>::expected(); }
  static bool load(PyObject* object, std::unique_ptr<Given>& value, const Argument& where) {
    value.reset();
    if (object == Py_None) {
      if (!where.matching || !where.matching->operands) return true;
      return refuse(where, expected, object);
    }
    if constexpr (IsWrapped<T>) {
      [[maybe_unused]] const bool* singly = &kOwnedSingly<T>;
      value.reset(take_from<T>(object, where));
      if (value && where.keep) {
        where.keep->objects.push_back(PyRef::borrow(object));
        where.keep->taken.push_back({object, value.get()});
      }
      return value != nullptr;
    } else {
      In<T> in;
      if (!in.load(object, where.lasting())) return false;
      value = std::make_unique<T>(in.take());
      return true;
    }
  }
  /// Of a member, which stays C++'s.
  static PyObject* cast(const std::unique_ptr<Given>& value) {
    if constexpr (IsWrapped<T>) return wrap_pointer(value.get(), Owner::Nobody);
    else return value ? Convert<T>::cast(*value) : new_ref(Py_None);
  }
  static PyObject* cast(std::unique_ptr<Given>&& value) {
    if constexpr (IsWrapped<T>) {
      [[maybe_unused]] const bool* singly = &kOwnedSingly<T>;
      return wrap_pointer(value.release(), Owner::Python);
    } else return value ? Convert<T>::cast(*std::move(value)) : new_ref(Py_None);
  }
};

/// The same with a deleter, which Python calls when the object is no longer needed, and
/// which C++ has to make anew for what it takes.
template <class T, class D>
struct Convert<std::unique_ptr<T, D>> {
  using Pointer = std::unique_ptr<T, D>;
  using Plain = std::remove_cv_t<T>;

  static std::string expected() { return Convert<Plain>::expected(); }
  static bool load(PyObject* object, Pointer& value, const Argument& where) {
    std::unique_ptr<Plain> taken;
    if constexpr (!std::is_default_constructible_v<D>) {
      return refuse(where, "nothing: C++ has a deleter that Python cannot make", object);
    } else {
      if (!Convert<std::unique_ptr<Plain>>::load(object, taken, where)) return false;
      value = Pointer(taken.release());
      return true;
    }
  }
  static PyObject* cast(const Pointer& value) {
    return wrap_pointer(const_cast<Plain*>(value.get()), Owner::Nobody);
  }
  static PyObject* cast(Pointer&& value) {
    if (!value) Py_RETURN_NONE;
    return wrap_shared<Plain>(
        std::const_pointer_cast<Plain>(std::shared_ptr<T>(std::move(value))), true);
  }
};

/// What an interface has as `void *`: an address, or a pointer to a function.
template <class Pointer>
bool take_address(PyObject* object, Pointer& pointer, const Argument& where) {
  if constexpr (std::is_function_v<std::remove_pointer_t<Pointer>>) {
    return to_cpp(object, pointer, where);
  } else {
    void* address = nullptr;
    if (!to_cpp(object, address, where)) return false;
    pointer = static_cast<Pointer>(address);
    return true;
  }
}
template <class Pointer>
PyObject* give_address(Pointer pointer) {
  if constexpr (std::is_function_v<std::remove_pointer_t<Pointer>>)
    return to_python(pointer);
  else return Convert<void*>::cast((void*)pointer);
}

/// How a pointer that counts in its object (%intrusive) comes from a plain one.  To be
/// specialised where the constructor does not count, as the first share is there from the
/// beginning.
template <class Pointer>
struct Counted {
  /// Of an object that was just made.
  static Pointer first(auto* made) { return Pointer(made); }
  static Pointer another(auto* object) { return Pointer(object); }
  /// How many shares there are; 0 where the class does not say, or by another name.
  static long count(auto* object) {
    if constexpr (requires { object->use_count(); }) return long(object->use_count());
    else if constexpr (requires { object->ref_count(); }) return long(object->ref_count());
    else return 0;
  }
};
template <class Pointer>
struct IntrusivePointer {
  using T = std::remove_reference_t<decltype(*std::declval<const Pointer&>())>;
  using Plain = std::remove_cv_t<T>;

  static std::string expected() { return Convert<Plain>::expected(); }
  static bool load(PyObject* object, Pointer& value, const Argument& where) {
    value = Pointer();
    if (!g_registry->orphans.empty()) drop_orphans();  // what earlier calls have ended
    if (object == Py_None) return true;
    T* pointer = pointer_of<Plain>(object, where);
    if (!pointer) return false;
    value = Counted<Pointer>::another(pointer);
    keep_counted(object);
    return true;
  }
  static PyObject* cast(Pointer value) {
    if (!value) Py_RETURN_NONE;
    return wrap_shared<Plain>(hold(std::move(value)));
  }
  /// From now on what Python makes of this class lives as long as anybody has a share in it.
  template <class Made>
  static void use(Class& record) {
    record.shares_itself = true;
    record.share = [](void* made, Instance*) -> std::shared_ptr<void> {
      return hold(Counted<Pointer>::first(static_cast<Made*>(made)));
    };
    record.shares = [](void* made) -> long {
      if constexpr (requires(Made* object) { Counted<Pointer>::count(object); }) {
        return Counted<Pointer>::count(static_cast<Made*>(made));
      } else {
        return 0;  // of a specialisation without it
      }
    };
  }

 private:
  static std::shared_ptr<Plain> hold(Pointer value) {
    auto* object = const_cast<Plain*>(&*value);
    return {object, [held = std::move(value)](Plain*) {}};
  }
};

/// Whether it is such a pointer.  %intrusive sets it, and names no class within swigkit, where
/// one may have the same name.
template <class Pointer>
inline constexpr bool kCounts = false;
template <class Pointer>
  requires kCounts<Pointer>
struct Convert<Pointer> : IntrusivePointer<Pointer> {};

/// A reference to an object that lives elsewhere.
template <class T>
  requires std::is_class_v<T> && (!IsComplete<T>)
struct Convert<T*> : Handle<T> {
  static std::string expected() { return "a " + Handle<T>::name() + " that C++ gave"; }
};
template <class T>
  requires std::is_class_v<T> && IsComplete<T> && IsWrapped<std::remove_cv_t<T>>
struct Convert<T*> {
  static std::string expected() { return Convert<std::remove_cv_t<T>>::expected(); }
  static bool load(PyObject* object, T*& value, const Argument& where) {
    // None of a container's items is a null pointer, too.
    const bool optional = where.optional || where.whole;
    if (object == Py_None && optional) return value = nullptr, true;
    value = pointer_of<T>(object, where);
    if (where.keep && value) where.keep->objects.push_back(PyRef::borrow(object));
    return value != nullptr;
  }
  static PyObject* cast(T* value) {
    auto* object = const_cast<std::remove_cv_t<T>*>(value);
    PyObject* near = Near::find(object, actual(class_of<std::remove_cv_t<T>>));
    return near ? new_ref(near) : wrap_pointer(object, Owner::Nobody);
  }
};

/// For functions that are written for Python: one object, or a sequence of them, in which
/// None is left out; None alone is none.  They are there as long as this.
template <class T>
struct Several {
  std::vector<T*> objects{};
  PyRef kept{};
};
template <class T>
struct Convert<Several<T>> {
  static std::string expected() {
    return Convert<T>::expected() + " or a sequence of them";
  }
  static bool load(PyObject* object, Several<T>& value, const Argument& where) {
    value = {{}, PyRef::borrow(object)};
    const auto add = [&](PyObject* item, const Argument& at) {
      if (item == Py_None) return true;
      value.objects.push_back(pointer_of<T>(item, at));
      return value.objects.back() != nullptr;
    };
    const Class& own = actual(class_of<T>);
    if (object == Py_None || PyObject_TypeCheck(object, own.type))
      return add(object, where);
    value.kept = PyRef(call_python(PySequence_Tuple, object));  // nobody changes it
    if (!value.kept) return explain(where, expected(), object);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value.kept.get()); ++i) {
      if (!add(PyTuple_GET_ITEM(value.kept.get(), i), where.item(i))) return false;
    }
    return true;
  }
};

template <class T>
struct Convert<std::reference_wrapper<T>> {
  using Plain = std::remove_cv_t<T>;
  static std::string expected() { return Convert<Plain>::expected(); }
  static PyObject* cast(std::reference_wrapper<T> value) {
    if constexpr (IsWrapped<Plain>) return Convert<T*>::cast(&value.get());
    else return Convert<Plain>::cast(value.get());
  }
};
/// An argument, or an item of one: to the object itself; of other types to a copy, which is
/// there during the call.
template <class T>
struct In<std::reference_wrapper<T>> {
  In<std::remove_cv_t<T>> in;
  std::optional<std::reference_wrapper<T>> made{};

  bool load(PyObject* object, const Argument& where) {
    if constexpr (!IsWrapped<std::remove_cv_t<T>>) {
      if (where.lasts) return refuse(where, "an object of C++'s own", object);
    }
    if (!in.load(object, where)) return false;
    if (where.keep) where.keep->objects.push_back(PyRef::borrow(object));
    made.emplace(*in.get());
    return true;
  }
  std::reference_wrapper<T>* get() { return &*made; }
  std::reference_wrapper<T> take() { return *made; }
  void watch(std::reference_wrapper<T>*) {}
};

}  // namespace swigkit

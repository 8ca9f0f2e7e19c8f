// SPDX-License-Identifier: Apache-2.0
// swigkit/results.h: what a call gives Python, and what a variable of C++'s is assigned.
#pragma once

#include "inputs.h"

#include <memory>
#include <optional>
#include <utility>

namespace [[gnu::visibility("hidden")]] swigkit {

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
  if constexpr (std::is_function_v<T>) {
    return to_python(result);
  } else if constexpr (!IsComplete<Plain>) {
    return Handle<Plain>::cast(const_cast<Plain*>(result));
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

/// What comes out of a parameter of a %newobject function.
template <class T>
PyObject* give_output(T&& value) {
  using Plain = std::remove_pointer_t<std::remove_cvref_t<T>>;
  if constexpr (std::is_pointer_v<std::remove_cvref_t<T>> && IsWrapped<Plain>)
    return refer<1>(value, nullptr, 0);
  else return to_python(std::forward<T>(value));
}

/// The Python object that owns this one, a new reference; null when there is none.
template <class T>
PyObject* find_again(T* object) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (std::is_class_v<Plain>) {  // of void there is no Convert
    if constexpr (IsComplete<Plain> && IsWrapped<Plain>) {
      [[maybe_unused]] const bool* again = &kFoundAgain<Plain>;
      if (!object) return nullptr;
      const auto [address, record] = most_derived(const_cast<Plain*>(object));
      return find_owned(address, *record);
    }
  }
  return nullptr;
}
/// An argument of an override.
template <class T>
PyObject* pass(T* argument) {
  PyObject* found = find_again(argument);
  return found ? found : refer(argument, nullptr, 0);
}

/// The objects that a converted container refers to, as a list; not those that C++ has taken.
template <class Held>
PyRef objects_of(const Held& held) {
  std::unordered_set<const PyObject*> taken;
  for (const auto& one : held.parts.taken) taken.insert(one.object);
  PyRef list(PyList_New(0));
  for (const PyRef& one : held.parts.objects) {
    if (!list || taken.count(one.get())) continue;
    if (PyList_Append(list.get(), one.get()) < 0) return PyRef();
  }
  return list;
}
/// What an override has returned, which is converted.
template <class Held>
void keep_results(PyObject* holder, const Held& held, const void* method) {
  if constexpr (requires { held.parts.objects; }) {
    if (held.parts.objects.empty()) return;
    const PyRef objects = objects_of(held);
    if (!objects) throw_python_error();
    keep_latest(holder, method, objects.get());
  }
}
/// The same of what a callable has returned: until the next such call on the thread.
template <class Held>
void keep_parts(const Held& held) {
  if constexpr (requires { held.parts.objects; }) {
    if (held.parts.objects.empty()) return;
    const PyRef objects = objects_of(held);
    if (!objects) throw_python_error();
    keep_viewed(objects.get());
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

/// A result by value of a class that the module wraps: made where it stays, as it may have
/// neither copies nor moves.  Begins and ends with the GIL.
template <class T>
class Made {
 public:
  Made() = default;
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    if constexpr (kTakes) {
      if (block_) g_blocks<T>.give(block_);
    }
  }
  /// Perhaps without the GIL.
  template <class F>
  void make(F&& f) {
    if constexpr (kFitsInside<T>) {
      made_.emplace(f());
    } else if constexpr (kTakes) {
      made_.reset(::new (Place{block_, nullptr}) T(f()));
      block_ = nullptr;
    } else {
      made_.reset(new T(f()));
    }
  }
  PyObject* give() {
    if constexpr (kFitsInside<T>) return Convert<T>::cast(*std::move(made_));
    else return wrap_object(made_.release(), actual(class_of<T>), Owner::Python);
  }

 private:
  static constexpr bool kTakes = kReusesMemory<T> && !kFitsInside<T>;
  static void* take() {
    if constexpr (kTakes) return g_blocks<T>.take();
    else return nullptr;
  }

  std::conditional_t<kFitsInside<T>, std::optional<T>, std::unique_ptr<T>> made_;
  void* block_ = take();
};

}  // namespace swigkit

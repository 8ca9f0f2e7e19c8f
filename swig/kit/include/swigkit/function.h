// SPDX-License-Identifier: Apache-2.0
// swigkit/function.h: Python callables as std::function, which C++ may keep and call
// from any thread.  What they raise goes through C++ as PyError and comes out as the very
// exception, traceback included.
#pragma once

#include "callable.h"
#include "plain.h"

#include <functional>
#include <memory>
#include <tuple>

namespace [[gnu::visibility("hidden")]] swigkit {

/// For functions that are written for Python: they call it with objects of Python's.
template <>
struct Convert<PyCallable> {
  static std::string expected() { return "a callable"; }
  static bool load(PyObject* object, PyCallable& value, const Argument& where) {
    if (!PyCallable_Check(object)) return refuse(where, expected, object);
    value = PyCallable(object);
    return true;
  }
  static PyObject* cast(const PyCallable& value) {
    if (!value.get()) Py_RETURN_NONE;
    return new_ref(value.get());
  }
};

/// Calls it with C++ values, on any thread, and returns what it returns as a C++ value;
/// `where` is what errors call it.
template <class R, class... Args>
R call_as(const PyCallable& callable, const Argument& where, const Args&... args) {
  GilAcquire gil;
  const PyRef result = callable(PyRef(to_python(args)).get()...);
  if constexpr (!std::is_void_v<R>) {
    In<R> in;
    if (!in.load(result.get(), where.result())) throw_python_error();
    keep_view<R>(result.get());
    keep_parts(in);
    return in.take();
  }
}

template <class R, class... Args>
struct Convert<std::function<R(Args...)>> {
  using Function = std::function<R(Args...)>;

  static std::string expected() { return "a callable"; }
  static bool load(PyObject* object, std::function<R(Args...)>& value,
                   const Argument& where) {
    if (object == Py_None) return value = nullptr, true;
    if (!PyCallable_Check(object)) return refuse(where, expected, object);
    if (Function* own = own_function(object)) return value = *own, true;
    value = FromPython{PyCallable(object), where.function, where.name};
    return true;
  }
  /// A C++ function as a Python callable; what was one before, as it was.
  static PyObject* cast(const std::function<R(Args...)>& value) {
    if (!value) Py_RETURN_NONE;
    if (auto* own = value.template target<FromPython>()) return new_ref(own->held.get());
    static PyMethodDef method = {"function", &run, METH_VARARGS, nullptr};
    PyRef capsule(PyCapsule_New(new Function(value), kName, [](PyObject* self) {
      delete static_cast<Function*>(PyCapsule_GetPointer(self, kName));
    }));
    return capsule ? PyCFunction_New(&method, capsule.get()) : nullptr;
  }
  /// C++'s own function in what cast() made; null in other callables.
  static Function* own_function(PyObject* object) {
    if (!PyCFunction_CheckExact(object)) return nullptr;
    if (PyCFunction_GET_FUNCTION(object) != &run) return nullptr;
    return static_cast<Function*>(
        PyCapsule_GetPointer(PyCFunction_GET_SELF(object), kName));
  }

 private:
  static constexpr const char* kName = "swigkit.function";

  struct FromPython {
    PyCallable held;
    const char* function;
    const char* name;
    R operator()(Args... args) const {
      // Static C++ objects end after Python: there is nothing to be told any more.
      if constexpr (std::is_void_v<R>) {
        if (!interpreter_alive()) return;
      }
      GilAcquire gil;
      return call(held, {function, name}, Passed<Args>(args)...);
    }
  };

  // An argument as Python gets it.  An object that is passed by reference is the caller's.
  template <class Arg>
  class Passed {
   public:
    template <class T>
    explicit Passed(T& argument) {
      if constexpr (std::is_lvalue_reference_v<Arg>)
        object_ = PyRef(find_again(std::addressof(argument)));
      else if constexpr (std::is_pointer_v<Plain>) object_ = PyRef(find_again(argument));
      if (object_) return;
      if constexpr (!kByReference) {
        using Given = std::conditional_t<std::is_lvalue_reference_v<Arg>, T&, T&&>;
        object_ = PyRef(Convert<Plain>::cast(static_cast<Given>(argument)));
      } else {
        auto* object = const_cast<Plain*>(std::addressof(argument));
        object_ = PyRef(lent_.hold(wrap_pointer(object, Owner::Nobody)));
      }
    }
    PyObject* get() const { return object_.get(); }

   private:
    using Plain = std::remove_cvref_t<Arg>;
    static constexpr bool kByReference = std::is_lvalue_reference_v<Arg> &&
                                         IsWrapped<Plain> &&
                                         (!std::is_const_v<std::remove_reference_t<Arg>> ||
                                          !std::is_copy_constructible_v<Plain> ||
                                          std::is_polymorphic_v<Plain>);
    struct Nothing {};
    // Dies after the reference, so that it knows who else has one.
    std::conditional_t<kByReference, Lent<Plain>, Nothing> lent_;
    PyRef object_;
  };
  // An argument as C++ gets it: what there is no copy of is moved out.
  template <class Arg, class Held>
  static Arg passed(Held& in) {
    if constexpr (std::is_reference_v<Arg>) return static_cast<Arg>(*in.get());
    else return in.take();
  }
  static PyObject* run(PyObject* self, PyObject* args) {
    return run_with(self, args, std::index_sequence_for<Args...>());
  }
  template <size_t... I>
  static PyObject* run_with(PyObject* self, PyObject* args, std::index_sequence<I...>) {
    if (PyTuple_GET_SIZE(args) != Py_ssize_t(sizeof...(Args))) {
      return PyErr_Format(
          PyExc_TypeError, "function() takes exactly %zu argument%s (%zd given)",
          sizeof...(Args), sizeof...(Args) == 1 ? "" : "s", PyTuple_GET_SIZE(args));
    }
    auto* f = static_cast<Function*>(PyCapsule_GetPointer(self, kName));
    std::tuple<In<std::remove_cvref_t<Args>>...> in;
    const Argument where{"function", "args"};
    const auto load = [&](auto& one, Py_ssize_t i) {
      Argument argument = where.item(i);
      argument.lasts = false;  // it is there during the call
      return one.load(PyTuple_GET_ITEM(args, i), argument);
    };
    if (!(load(std::get<I>(in), I) && ...)) return nullptr;
    return guarded([&]() -> PyObject* {
      if constexpr (std::is_void_v<R>) {
        (*f)(passed<Args>(std::get<I>(in))...);
        Py_RETURN_NONE;
      } else {
        return to_python((*f)(passed<Args>(std::get<I>(in))...));
      }
    });
  }

  template <class... Refs>
  static R call(const PyCallable& callable, const Argument& where, const Refs&... args) {
    const PyRef result = callable(args.get()...);
    using Plain = std::remove_cvref_t<R>;
    if constexpr (std::is_void_v<R>) {
      return;
    } else if constexpr (std::is_reference_v<R> && !IsWrapped<Plain>) {
      static thread_local Lasting<In<Plain>> last;
      auto fresh = std::make_unique<In<Plain>>();
      Argument returned = where.result();
      returned.lasts = false;
      if (!fresh->load(result.get(), returned)) throw_python_error();
      return static_cast<R>(*last.keep(std::move(fresh)).get());
    } else {
      In<Plain> in;
      if (!in.load(result.get(), where.result())) throw_python_error();
      keep_view<R>(result.get());
      keep_parts(in);
      if constexpr (std::is_reference_v<R>) return static_cast<R>(*in.get());
      else return in.take();
    }
  }
};

/// A plain pointer has no room for a Python callable, so it takes what C++ gave.
template <class Pointer, class R, class... Args>
struct ConvertFunctionPointer {
  using Holder = Convert<std::function<R(Args...)>>;
  using Plain = R (*)(Args...);  // which may throw

  static std::string expected() {
    return "a function that C++ gave (to take Python's, C++ needs a std::function)";
  }
  static bool load(PyObject* object, Pointer& value, const Argument& where) {
    if (object == Py_None && where.optional) return value = nullptr, true;
    std::function<R(Args...)>* own = Holder::own_function(object);
    Plain* found = own ? own->template target<Plain>() : nullptr;
    if (!found) return refuse(where, expected, object);
    value = reinterpret_cast<Pointer>(*found);
    return true;
  }
  static PyObject* cast(Pointer value) { return Holder::cast(Plain(value)); }
};
template <class R, class... Args>
struct Convert<R (*)(Args...)> : ConvertFunctionPointer<R (*)(Args...), R, Args...> {};
template <class R, class... Args>
struct Convert<R (*)(Args...) noexcept>
    : ConvertFunctionPointer<R (*)(Args...) noexcept, R, Args...> {};

}  // namespace swigkit

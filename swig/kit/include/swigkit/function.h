// SPDX-License-Identifier: Apache-2.0
// swigkit/function.h: Python callables as std::function, which C++ may keep and call
// from any thread.  What they raise goes through C++ as PyError and comes out as the very
// exception, traceback included.
#pragma once

#include "callable.h"
#include "convert.h"

#include <functional>
#include <tuple>

namespace [[gnu::visibility("hidden")]] swigkit {

template <class R, class... Args>
struct Convert<std::function<R(Args...)>> {
  static std::string expected() { return "a callable"; }
  static bool load(PyObject* object, std::function<R(Args...)>& value,
                   const Argument& where) {
    if (object == Py_None && where.optional) return value = nullptr, true;
    if (!PyCallable_Check(object)) return refuse(where, expected, object);
    value = [held = PyCallable(object), function = where.function,
             name = where.name](Args... args) -> R {
      GilAcquire gil;
      return call(held, {function, name}, PyRef(pass<Args>(args))...);
    };
    return true;
  }
  /// A C++ function as a Python callable.
  static PyObject* cast(const std::function<R(Args...)>& value) {
    if (!value) Py_RETURN_NONE;
    static PyMethodDef method = {"function", &run, METH_VARARGS, nullptr};
    using Function = std::function<R(Args...)>;
    PyRef capsule(PyCapsule_New(new Function(value), kName, [](PyObject* self) {
      delete static_cast<Function*>(PyCapsule_GetPointer(self, kName));
    }));
    return capsule ? PyCFunction_New(&method, capsule.get()) : nullptr;
  }

 private:
  static constexpr const char* kName = "swigkit.function";

  // An object that is passed by reference is the caller's, and stays it.
  template <class Arg, class T>
  static PyObject* pass(T& argument) {
    using Plain = std::remove_cvref_t<Arg>;
    if constexpr (std::is_lvalue_reference_v<Arg> && IsWrapped<Plain>) {
      if constexpr (!std::is_const_v<std::remove_reference_t<Arg>>) {
        return wrap_pointer(&argument, Owner::Nobody);
      }
    }
    if constexpr (std::is_lvalue_reference_v<Arg>) return Convert<Plain>::cast(argument);
    else return Convert<Plain>::cast(std::move(argument));
  }
  static PyObject* run(PyObject* self, PyObject* args) {
    return run_with(self, args, std::index_sequence_for<Args...>());
  }
  template <size_t... I>
  static PyObject* run_with(PyObject* self, PyObject* args, std::index_sequence<I...>) {
    if (PyTuple_GET_SIZE(args) != Py_ssize_t(sizeof...(Args))) {
      return PyErr_Format(PyExc_TypeError,
                          "function() takes exactly %zu arguments (%zd given)",
                          sizeof...(Args), PyTuple_GET_SIZE(args));
    }
    auto* f = static_cast<std::function<R(Args...)>*>(PyCapsule_GetPointer(self, kName));
    std::tuple<In<std::remove_cvref_t<Args>>...> in;
    const Argument where{"function", "args"};
    if (!(std::get<I>(in).load(PyTuple_GET_ITEM(args, I), where.item(I)) && ...)) {
      return nullptr;
    }
    return guarded([&]() -> PyObject* {
      if constexpr (std::is_void_v<R>) {
        (*f)(static_cast<Args>(*std::get<I>(in).get())...);
        Py_RETURN_NONE;
      } else {
        return to_python((*f)(static_cast<Args>(*std::get<I>(in).get())...));
      }
    });
  }

  template <class... Refs>
  static R call(const PyCallable& callable, const Argument& where, const Refs&... args) {
    const PyRef result = callable(args.get()...);
    if constexpr (!std::is_void_v<R>) {
      In<std::remove_cvref_t<R>> in;
      if (!in.load(result.get(), where.result())) throw_python_error();
      return in.take();
    }
  }
};

}  // namespace swigkit

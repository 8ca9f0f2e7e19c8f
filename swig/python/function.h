// SPDX-License-Identifier: Apache-2.0
// swig/python/function.h: Python callables as std::function, which C++ may keep and call
// from any thread.  What they raise goes through C++ as PyError and comes out as the very
// exception, traceback included.
#pragma once

#include "convert.h"
#include "py_callable.h"

#include <functional>

namespace pkg::python {

template <class R, class... Args>
struct Convert<std::function<R(Args...)>> {
  static std::string expected() { return "a callable"; }
  static bool load(PyObject* object, std::function<R(Args...)>& value,
                   const Argument& where) {
    if (!PyCallable_Check(object)) return refuse(where, expected(), object);
    value = [held = PyCallable(object), function = where.function,
             name = where.name](Args... args) -> R {
      GilAcquire gil;
      return call(held, {function, name}, PyRef(to_python<std::decay_t<Args>>(args))...);
    };
    return true;
  }

 private:
  template <class... Refs>
  static R call(const PyCallable& callable, const Argument& where, const Refs&... args) {
    const PyRef result = callable(args.get()...);
    if constexpr (!std::is_void_v<R>) {
      R value{};
      if (!to_cpp(result.get(), value, where.result())) throw_python_error();
      return value;
    }
  }
};

}  // namespace pkg::python

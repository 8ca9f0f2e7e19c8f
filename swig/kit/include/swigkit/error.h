// SPDX-License-Identifier: Apache-2.0
// swigkit/error.h: errors between C++ and Python, both ways.  Every entry from Python is
// wrapped in try/catch (...) { translate(); }.
//
// translate() and throw_python_error() are declared here and defined once in a module: by
// module_errors.h in one that %includes swigkit.i, or by its own source.
#pragma once

#include "ref.h"

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Makes the C++ exception being handled the current Python error.
void translate() noexcept;

/// Throws the current Python error as a C++ exception, which translate() knows.
[[noreturn, gnu::cold]] void throw_python_error();

/// Owns the result of a C-API call; throws when it failed.
inline PyRef check(PyObject* object) {
  if (!object) throw_python_error();
  return PyRef(object);
}
inline void check(int status) {
  if (status < 0) throw_python_error();
}

/// Runs `f` and returns its result; on any exception sets the Python error and returns
/// `failed`.
template <class F, class R = decltype(std::declval<F>()())>
R guarded(F&& f, R failed = R()) noexcept {
  try {
    return f();
  } catch (...) {
    translate();
    return failed;
  }
}

/// Sets the current Python error aside for its lifetime, in which others come and go.
class ErrorAside {
 public:
  ErrorAside() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorAside() { PyErr_Restore(type_, value_, traceback_); }  // in the place of another
  ErrorAside(const ErrorAside&) = delete;
  ErrorAside& operator=(const ErrorAside&) = delete;

 private:
  PyObject *type_, *value_, *traceback_;
};

/// A Python error that was taken out of the interpreter.  Copies share it; it may cross
/// threads, and the very exception object comes out at the other end.
class HeldError {
 public:
  /// Takes the current Python error.  Needs the GIL.
  static HeldError fetch() {
    HeldError error;
    error.held_ = std::make_shared<Held>();
    Held& held = *error.held_;
    PyErr_Fetch(&held.type, &held.value, &held.traceback);
    call_python(PyErr_NormalizeException, &held.type, &held.value, &held.traceback);
    return error;
  }
  /// A C++ exception, which is there, as the Python error that it is raised as.  Needs the
  /// GIL.
  static HeldError of(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (...) { translate(); }
    return fetch();
  }
  /// Makes it the current Python error again.  Needs the GIL.
  void restore() const {
    Py_XINCREF(held_->type);
    Py_XINCREF(held_->value);
    Py_XINCREF(held_->traceback);
    PyErr_Restore(held_->type, held_->value, held_->traceback);
  }
  /// The name of the exception's class.  Needs the GIL.
  std::string class_name() const {
    if (!held_->value) return "Python error";
    const char* name = Py_TYPE(held_->value)->tp_name;
    const char* dot = std::strrchr(name, '.');
    return dot ? dot + 1 : name;
  }
  /// str() of the exception.  Needs the GIL.
  std::string text() const {
    std::string found = "<str() of the exception failed>";
    if (!held_->value) return found;
    PyRef text(call_python(PyObject_Str, held_->value));
    Py_ssize_t size = 0;
    const char* utf8 = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr;
    if (utf8) found.assign(utf8, size_t(size));
    PyErr_Clear();
    return found;
  }
  /// The exception object, with its traceback.  Needs the GIL.
  PyRef value() const {
    if (held_->traceback) PyException_SetTraceback(held_->value, held_->traceback);
    return PyRef::borrow(held_->value);
  }
  /// Adds a note to the exception object, unless it has this one.  A Python error that is
  /// pending stays.
  void add_note(const char* note) const {
    if (!interpreter_alive()) return;
    GilAcquire gil;
    if (!held_->value) return;
    const ErrorAside aside;
    const PyRef text(PyUnicode_FromString(note));
    const PyRef notes(call_python(PyObject_GetAttrString, held_->value, "__notes__"));
    PyErr_Clear();
    const bool told = notes && text &&
                      call_python(PySequence_Contains, notes.get(), text.get()) == 1;
    if (text && !told) {
      PyRef done(
          call_python(PyObject_CallMethod, held_->value, "add_note", "O", text.get()));
    }
  }

  /// For tp_traverse and tp_clear of the one who holds it: what nobody else shares.
  int traverse(visitproc visit, void* arg) const {
    if (held_.use_count() != 1) return 0;
    Py_VISIT(held_->type);
    Py_VISIT(held_->value);
    Py_VISIT(held_->traceback);
    return 0;
  }
  void clear() const {
    if (held_.use_count() != 1) return;
    const std::shared_ptr<Held> held = held_;
    for (PyObject** member : {&held->type, &held->value, &held->traceback}) {
      drop(std::exchange(*member, nullptr));
    }
  }

 private:
  struct Held {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* traceback = nullptr;
    ~Held() {
      if (!interpreter_alive()) return;
      GilAcquire gil;
      drop(type);
      drop(value);
      drop(traceback);
    }
  };
  std::shared_ptr<Held> held_;
};

/// Shows the C++ exception being handled where it cannot go on, as in a destructor.
[[gnu::cold, gnu::noinline]] inline void show_lost_error() {
  if (!interpreter_alive()) return;
  GilAcquire gil;
  const ErrorAside aside;
  translate();
  call_python(PyErr_WriteUnraisable, nullptr);
}

/// A str of a text that need not be UTF-8; null with an error set.
inline PyRef readable_text(const std::string& text) {
  return PyRef(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
}
/// Sets an error of this class with such a text.
inline void set_error(PyObject* type, const std::string& message) {
  const PyRef text = readable_text(message);
  if (text) PyErr_SetObject(type, text.get());
}

/// CPython's counterpart of a standard exception; null for one without.
inline PyObject* standard_counterpart(const std::exception& error) {
#define SWIGKIT_IS(Class) (dynamic_cast<const Class*>(&error) != nullptr)
  if (SWIGKIT_IS(std::bad_alloc)) return PyExc_MemoryError;
  if (SWIGKIT_IS(std::out_of_range)) return PyExc_IndexError;
  if (SWIGKIT_IS(std::invalid_argument) || SWIGKIT_IS(std::domain_error) ||
      SWIGKIT_IS(std::length_error) || SWIGKIT_IS(std::range_error) ||
      SWIGKIT_IS(std::bad_optional_access) || SWIGKIT_IS(std::bad_variant_access)) {
    return PyExc_ValueError;
  }
  if (SWIGKIT_IS(std::overflow_error)) return PyExc_OverflowError;
  if (SWIGKIT_IS(std::bad_cast)) return PyExc_TypeError;
  return nullptr;
#undef SWIGKIT_IS
}

/// Sets OSError with its number, so that it is FileNotFoundError and the like.
inline void set_system_error(const std::system_error& error) {
  const PyRef text = readable_text(error.what());  // often with a path
  const PyRef args(text ? Py_BuildValue("(iO)", error.code().value(), text.get())
                        : nullptr);
  if (args) PyErr_SetObject(PyExc_OSError, args.get());
}

}  // namespace swigkit

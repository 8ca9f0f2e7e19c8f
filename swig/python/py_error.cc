// SPDX-License-Identifier: Apache-2.0
// swig/python/py_error.cc: the table of C++ and Python exception classes.
#include "py_error.h"

#include "swigkit/translation.h"

#include <new>
#include <stdexcept>

#include "collectives/error.h"
#include "tensor/storage.h"

namespace pkg::python {
namespace {

// " [from op at file:line]" when the error is that of scheduled work.
std::string origin_suffix() {
  const std::string origin = take_async_origin();
  return origin.empty() ? "" : " [from " + origin + "]";
}

}  // namespace

PyError PyError::fetch(bool of_signal) {
  const bool stops = of_signal || !PyErr_ExceptionMatches(PyExc_Exception);
  const HeldError held = HeldError::fetch();
  return PyError(held.text(), held, stops);
}

void PyError::append(const std::string& text) {
  const size_t length = message().size();
  Error::append(text);
  if (message().size() == length) return;  // its text is final
  held_.add_note(text.c_str() + (text[0] == ' '));
}

const HeldError* PyError::held_in(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PyError& found) { return &found.held_; } catch (...) {
    return nullptr;
  }
}

namespace {

void translate_error() noexcept {
  try {
    throw;
  } catch (const PyError& error) {
    take_async_origin();
    error.restore();
  } catch (const Error& error) {  // whose text may have zeros in it
    set_error(translated_class(error), error.message() + origin_suffix());
  } catch (const std::exception& error) {
    set_counterpart(error, origin_suffix);
  } catch (...) {
    if (!PyErr_Occurred()) set_error(PyExc_RuntimeError, "unknown C++ exception");
  }
}

}  // namespace

void init_errors(PyObject* module) {
  add_translation<Error>(PyExc_RuntimeError);  // all that follow are derived from it
  add_translation<ValueError>(PyExc_ValueError);
  add_translation<TypeError>(PyExc_TypeError);
  add_translation<IndexError>(PyExc_IndexError);
  add_translation<KeyError>(PyExc_KeyError);
  add_translation<NotImplementedError>(PyExc_NotImplementedError);
  add_translation<OverflowError>(PyExc_OverflowError);
  add_translation<BufferError>(PyExc_BufferError);
  add_translation<ImportError>(PyExc_ImportError);
  PyRef bases = check(PyTuple_Pack(2, PyExc_RuntimeError, PyExc_LookupError));
  check(new_exception<LookupError>(module, "pkg.OpLookupError", bases.get(),
                                   "No op of this name is registered."));
  PyRef memory = check(
      new_exception<OutOfMemoryError>(module, "pkg.OutOfMemoryError", PyExc_MemoryError,
                                      "Memory for a tensor could not be had."));
  add_translation<std::bad_alloc>(memory.get());
  add_translation<std::length_error>(memory.get());  // of a vector that no memory has
  check(new_exception<CancelledError>(module, "pkg.CancelledError", PyExc_RuntimeError,
                                      "Work that was cancelled."));
  check(new_exception<InternalError>(module, "pkg.InternalError", PyExc_RuntimeError,
                                     "A fault in pkg itself: please report it."));
  check(new_exception<CollectiveError>(
      module, "pkg.HorovodInternalError", PyExc_RuntimeError,
      "A collective failed on all ranks, or a rank was lost."));
}

}  // namespace pkg::python

namespace swigkit {

void translate() noexcept { pkg::python::translate_error(); }

void throw_python_error() {
  if (!PyErr_Occurred()) {
    throw pkg::InternalError("a Python call failed without an error");
  }
  throw pkg::python::PyError::fetch();
}

}  // namespace swigkit

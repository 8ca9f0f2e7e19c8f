// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_error.cc: exception classes, and which C++ error becomes which.
#include <system_error>

#include "bind.h"
#include "collectives/error.h"
#include "event.h"
#include "kept.h"
#include "tensor/storage.h"

namespace pkg::pybind {
namespace {

// Set by bind_error(); kept for ever, since errors are raised at the very end too.
struct Classes {
  py::handle lookup, out_of_memory, cancelled, internal, collective;
} g_classes;

// " [from op at file:line]" when the error is that of scheduled work.
std::string origin_suffix() {
  const std::string origin = take_async_origin();
  return origin.empty() ? "" : " [from " + origin + "]";
}

void raise(py::handle type, const char* what) {
  const py::bytes text(what + origin_suffix());
  py::set_error(type, text.attr("decode")("utf-8", "replace"));
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const PythonFailure& e) { e.restore(); } catch (const ValueError& e) {
    raise(PyExc_ValueError, e.what());
  } catch (const TypeError& e) {
    raise(PyExc_TypeError, e.what());
  } catch (const IndexError& e) {
    raise(PyExc_IndexError, e.what());
  } catch (const KeyError& e) {
    raise(PyExc_KeyError, e.what());
  } catch (const LookupError& e) {
    raise(g_classes.lookup, e.what());
  } catch (const NotImplementedError& e) {
    raise(PyExc_NotImplementedError, e.what());
  } catch (const OverflowError& e) {
    raise(PyExc_OverflowError, e.what());
  } catch (const BufferError& e) {
    raise(PyExc_BufferError, e.what());
  } catch (const ImportError& e) {
    raise(PyExc_ImportError, e.what());
  } catch (const OutOfMemoryError& e) {
    raise(g_classes.out_of_memory, e.what());
  } catch (const CancelledError& e) {
    raise(g_classes.cancelled, e.what());
  } catch (const InternalError& e) {
    raise(g_classes.internal, e.what());
  } catch (const CollectiveError& e) {
    raise(g_classes.collective, e.what());
  } catch (const Error& e) {
    raise(PyExc_RuntimeError, e.what());
  } catch (const std::bad_alloc&) {
    py::set_error(g_classes.out_of_memory, "out of memory");
  } catch (const std::length_error&) {  // of a vector that no memory has
    py::set_error(g_classes.out_of_memory, "out of memory");
  } catch (const std::system_error& e) {
    py::set_error(PyExc_OSError, py::make_tuple(e.code().value(), e.what()));
  }  // the rest is pybind11's own table
}

}  // namespace

void throw_as_python() {
  try {
    throw;
  } catch (const py::error_already_set&) { throw; } catch (...) {
    py::detail::try_translate_exceptions();
    throw py::error_already_set();
  }
}

void bind_error(py::module_& m) {
  const auto add = [&](const char* name, const char* doc, py::handle base) {
    py::exception<Error> type(public_scope(), name, base);
    type.doc() = doc;
    m.attr(name) = type;
    return type.release();
  };
  g_classes.lookup = add(
      "OpLookupError", "No op of this name is registered.",
      py::make_tuple(py::handle(PyExc_RuntimeError), py::handle(PyExc_LookupError)));
  g_classes.out_of_memory = add("OutOfMemoryError", "Memory for a tensor could not be had.",
                                PyExc_MemoryError);
  g_classes.cancelled = add("CancelledError", "Work that was cancelled.",
                            PyExc_RuntimeError);
  g_classes.internal = add("InternalError", "A fault in pkg itself: please report it.",
                           PyExc_RuntimeError);
  g_classes.collective = add("HorovodInternalError",
                             "A collective failed on all ranks, or a rank was lost.",
                             PyExc_RuntimeError);
  py::register_local_exception_translator(&translate);
}

}  // namespace pkg::pybind

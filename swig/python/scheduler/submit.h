// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/submit.h: Python callables as work for the scheduler.
#pragma once

#include "stream.h"

namespace pkg::python {

#ifndef SWIG
/// `stream` may be null.
EventObject submit_to(Stream* stream, const PyCallable& callable, PyObject* deps);
#endif

/// Runs callable() on a worker once all `deps` (an Event or a sequence of them) are done,
/// and returns its Event at once. If one of them failed, callable is not run and the
/// event carries the same exception. `stream`: also after its earlier work; None means
/// the current stream of this thread, if any. TypeError for anything but a callable.
EventObject submit(const swigkit::PyCallable& callable, PyObject* deps = Py_None,
                   const StreamObject* stream = nullptr);
/// See Event.cancel.
bool cancel(const EventObject& event);
/// The stream this thread submits to, or None: no order besides dependencies.
std::optional<StreamObject> current_stream();

}  // namespace pkg::python

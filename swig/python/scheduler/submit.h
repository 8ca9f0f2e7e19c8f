// SPDX-License-Identifier: Apache-2.0
// swig/python/scheduler/submit.h: Python callables as work for the scheduler.
#pragma once

#include "event.h"
#include "python/py_ref.h"
#include "scheduler/stream.h"

namespace pkg::python {

/// Runs callable() on a worker once all `deps` (an Event or a sequence of them) are done,
/// and returns its Event at once. If one of them failed, callable is not run and the
/// event carries the same exception. `stream`: also after its earlier work; None means
/// the current stream of this thread, if any. TypeError for anything but a callable.
EventObject submit(const swigkit::PyCallable& callable, PyObject* deps = Py_None,
                   pkg::Stream* stream = nullptr);
/// See Event.cancel.
bool cancel(const EventObject& event);

}  // namespace pkg::python

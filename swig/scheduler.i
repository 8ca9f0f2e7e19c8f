// scheduler.i: threads, pending work, events and streams.  Waiting gives up the GIL
// inside the core.
%{
#include "python/scheduler/stream.h"
#include "python/scheduler/submit.h"
%}
PKG_WAITS(pkg::synchronize)
PKG_WAITS(pkg::shutdown)
PKG_WAITS(pkg::quiesce)
namespace pkg {
/// Size of the worker pool.
int num_threads();
/// Changes the size of the worker pool; ValueError below 1.
void set_num_threads(int n);
/// Waits for all work submitted so far; raises the first error that nobody has seen.
void synchronize();
/// Number of tasks submitted and not finished.
int64_t pending_tasks();
/// Cancels all pending work; how many tasks were kept from beginning.
int64_t cancel_pending();
/// Whether work is scheduled, or run by who submits it.
bool async_enabled();
/// Schedules work (True) or runs it on who submits it (False).
void set_async(bool enabled);
/// Finishes the pending work for at most so long, then ends the workers; whether all was done.
bool shutdown(double seconds = 10.0);
/// Waits for at most so long until nothing runs; whether that was reached.
bool quiesce(double seconds = 5.0);
}

%ignore pkg::python::EventObject::EventObject;
%rename(Event) pkg::python::EventObject;
%rename(ManualEvent) pkg::python::ManualEventObject;
%rename(Stream) pkg::python::StreamObject;
%public_module(pkg::python::EventObject, "pkg.scheduler")
%public_module(pkg::python::ManualEventObject, "pkg.scheduler")
%public_module(pkg::python::StreamObject, "pkg.scheduler")
%collected(pkg::python::EventObject)
%final(pkg::python::ManualEventObject)
%final(pkg::python::StreamObject)
%properties(pkg::python::EventObject, name, call_site)
%remark(pkg::python::EventObject, "waits shared")
%remark(pkg::python::ManualEventObject, "waits shared")
%remark(pkg::python::StreamObject, "waits shared")
%positional_only(pkg::python::EventObject::_when_done, 1)
%positional_only(pkg::python::ManualEventObject::set_error, 1)
%positional_only(pkg::python::StreamObject::submit, 1)
%positional_only(pkg::python::StreamObject::wait_event, 1)
%positional_only(pkg::python::StreamObject::wait, 1)
%positional_only(pkg::python::StreamObject::wait_stream, 1)
%include "python/scheduler/event.h"
%include "python/scheduler/stream.h"

%positional_only(pkg::python::submit, 1)
%keyword_only(pkg::python::submit, deps)
%positional_only(pkg::python::cancel, 1)
namespace pkg {
/// Whether somebody asked to cancel the task this thread runs; long work polls it.
bool cancel_requested();
}
%include "python/scheduler/submit.h"

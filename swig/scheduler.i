// scheduler.i: threads, pending work, events and streams.  Waiting gives up the GIL
// inside the core.
%{
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
%public_module(pkg::python::EventObject, "pkg.scheduler")
%public_module(pkg::python::ManualEventObject, "pkg.scheduler")
%collected(pkg::python::EventObject)
%final(pkg::python::ManualEventObject)
%properties(pkg::python::EventObject, name, call_site)
%remark(pkg::python::EventObject, "waits shared")
%remark(pkg::python::ManualEventObject, "waits shared")
%positional_only(pkg::python::EventObject::_when_done, 1)
%positional_only(pkg::python::ManualEventObject::set_error, 1)
%include "python/scheduler/event.h"

%intrusive(pkg::Stream, pkg::Ref<pkg::Stream>)
%public_module(pkg::Stream, "pkg.scheduler")
%final(pkg::Stream)
%remark(pkg::Stream, "waits shared")
%positional_only(pkg::Stream::submit, 1)
%positional_only(pkg::Stream::wait_event, 1)
%positional_only(pkg::Stream::wait, 1)
%positional_only(pkg::Stream::wait_stream, 1)
namespace pkg {
/// An order, not a thread: work of one stream runs first in, first out, streams run
/// beside each other on the one pool. Any thread may use any stream. `with stream:`
/// makes it current.
class Stream {
 public:
  explicit Stream(pkg::Device device = {});
  /// Whether all work submitted so far is done.
  bool query() const;
  %extend {
    /// Runs callable() on a worker after all earlier work of this stream and after `deps`.
    /// Returns its Event. A failure of earlier work does not stop it, one of `deps` does.
    pkg::python::EventObject submit(const swigkit::PyCallable &callable, swigkit::Args deps) {
      return pkg::python::submit(callable, deps.tuple, $self);
    }
    /// Waits for the work submitted so far; raises the first error that nobody has seen.
    void synchronize() {
      pkg::Ref<pkg::Stream>::share($self)->synchronize();  // Python's may end while we wait
    }
    /// An Event that is done when the work submitted so far is; it never fails.
    pkg::python::EventObject record_event() { return {$self->record(), nullptr}; }
    /// Later work of this stream waits for `event`, whether it goes well or not.
    void wait_event(const pkg::python::EventObject &event) { $self->wait(event.event()); }
    /// Later work of this stream waits for what `stream` has to do now.
    void wait_stream(pkg::Stream &stream) { $self->wait(stream.record()); }
    /// See record_event.
    pkg::python::EventObject record() { return {$self->record(), nullptr}; }
    /// See wait_event.
    void wait(const pkg::python::EventObject &event) { $self->wait(event.event()); }
    /// Makes the stream current on this thread.
    pkg::Stream &__enter__() {
      pkg::enter_stream(pkg::Ref<pkg::Stream>::share($self));
      return *$self;
    }
    /// Makes the stream before current again.
    void __exit__(swigkit::Args exc) { pkg::leave_stream(); }
    std::string __repr__() {
      return pkg::str("<pkg.scheduler.Stream at ", static_cast<const void *>($self), ">");
    }
  }
};
/// The stream this thread submits to, or None: no order besides dependencies.
pkg::Ref<pkg::Stream> current_stream();
}

%positional_only(pkg::python::submit, 1)
%keyword_only(pkg::python::submit, deps)
%positional_only(pkg::python::cancel, 1)
namespace pkg {
/// Whether somebody asked to cancel the task this thread runs; long work polls it.
bool cancel_requested();
}
%include "python/scheduler/submit.h"

// scheduler.i: threads and pending work.  Waiting gives up the GIL inside the core.
%{
#include "scheduler/scheduler.h"
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

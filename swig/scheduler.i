// scheduler.i: threads and pending work.  Waiting gives up the GIL inside the core.
%{
#include "scheduler/scheduler.h"
%}
namespace pkg {
int num_threads();
void set_num_threads(int n);
void synchronize();
int64_t pending_tasks();
bool async_enabled();
void set_async(bool enabled);
bool shutdown(double seconds = 10.0);
bool quiesce(double seconds = 5.0);
}

// SPDX-License-Identifier: Apache-2.0
// overload_ops_queue.h: Scalars over one queue, first in, first out.
#pragma once

#include "shared/later.h"

namespace overload_ops_queue {

/// Wait until the global task queue is empty
void flush(bool idle = false, bool raise_errors = false);
/// Current queued jobs
int64_t queue_size();
/// Current running/queued jobs
int64_t pending();
/// The queue that Scalars use by default.
std::shared_ptr<stages::JobQueue> default_queue();

}  // namespace overload_ops_queue

// SPDX-License-Identifier: Apache-2.0
// overload_ops_pool.h: Scalars over the workers of the core's scheduler.
#pragma once

#include "shared/later.h"

namespace overload_ops_pool {

/// Wait until all jobs are finished
void flush(bool idle = false, bool raise_errors = false);
/// Jobs waiting in queue
int64_t queue_size();
/// Running + queued jobs
int64_t pending();
/// The queue that Scalars use by default.
std::shared_ptr<stages::JobQueue> default_queue();

}  // namespace overload_ops_pool

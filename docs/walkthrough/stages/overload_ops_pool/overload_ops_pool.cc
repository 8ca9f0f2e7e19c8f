// SPDX-License-Identifier: Apache-2.0
#include "overload_ops_pool.h"

namespace stages {

Delays g_delays{0.04, 0.02};

const std::shared_ptr<JobQueue>& default_queue() {
  // Lives as long as the process: jobs run at exit, too.
  static auto* queue = new std::shared_ptr<JobQueue>(std::make_shared<JobQueue>(false));
  return *queue;
}

}  // namespace stages

namespace overload_ops_pool {

void flush(bool idle, bool raise_errors) {
  stages::default_queue()->flush(idle, raise_errors);
}
int64_t queue_size() { return stages::default_queue()->queue_size(); }
int64_t pending() { return stages::default_queue()->pending(); }
std::shared_ptr<stages::JobQueue> default_queue() { return stages::default_queue(); }

}  // namespace overload_ops_pool

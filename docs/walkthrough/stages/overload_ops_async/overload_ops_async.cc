// SPDX-License-Identifier: Apache-2.0
#include "overload_ops_async.h"

namespace stages {

Delays g_delays{0.05, 0.03};

const std::shared_ptr<JobQueue>& default_queue() {
  // Lives as long as the process: jobs run at exit, too.
  static auto* queue = new std::shared_ptr<JobQueue>(std::make_shared<JobQueue>(false));
  return *queue;
}

}  // namespace stages

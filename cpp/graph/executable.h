// SPDX-License-Identifier: Apache-2.0
// graph/executable.h: a plan with memory, to be run again and again.
#pragma once

#include <memory>
#include <mutex>

#include "graph/plan.h"

namespace pkg::graph {

/// What a run may be ended by, asked between steps.
struct RunControl {
  std::atomic<bool>* cancelled = nullptr;
  double deadline = 0;  ///< steady seconds; 0: none

  /// Throws when the run shall end.
  void check() const;
};
/// Seconds of a clock that is not set.
double steady_seconds();

struct RunResults {
  using Written = std::pair<Node*, Tensor>;
  TensorList fetches;
  std::vector<Written, PoolAllocator<Written>> written;
};

/// May be run by several threads at once: each run has a frame to itself.
class Executable {
 public:
  explicit Executable(Plan plan);
  ~Executable();

  const Plan& plan() const { return plan_; }
  /// Whether the tensors that the graph refers to are as they were when it was planned.
  bool valid() const;
  RunResults run(const TensorList& feeds, const TensorList& variables,
                 const RunControl& control);

 private:
  class Frame;
  std::unique_ptr<Frame> acquire();
  void give_back(std::unique_ptr<Frame> frame);

  Plan plan_;
  std::mutex mutex_;  // guards free_
  std::vector<std::unique_ptr<Frame>> free_;
};

/// The node whose call failed in the last run of this thread; null if that went well, or
/// failed before its first call.  It is kept until the next run.
const Node* failed_node();
void set_failed_node(const Node* node);

}  // namespace pkg::graph

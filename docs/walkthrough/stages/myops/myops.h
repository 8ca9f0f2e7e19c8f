// SPDX-License-Identifier: Apache-2.0
// myops.h: add() submits and returns at once; wait_all() has the results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "shared/job_queue.h"

namespace myops {

/// The tasks that belong together: ids count from 0, results come in that order.
class TaskGroup {
 public:
  TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Submit async add task, return task ID
  int64_t add(double a, double b);
  /// Submits work() and returns its id at once.
  int64_t submit(std::function<double()> work);
  /// Waits for one task; ValueError for an id that this group did not give.
  double result(int64_t task, std::optional<double> timeout = std::nullopt);
  /// Wait all tasks and return results, in the order of the ids, as often as asked.  The
  /// first error of a task is raised once all are done, or `otherwise` stands in its place.
  std::vector<double> wait_all(std::optional<double> otherwise = std::nullopt);

#ifndef SWIG
  struct Task {
    stages::Job job;
    std::shared_ptr<double> value;
  };
  Task start(std::function<double()> work, double seconds);
  int64_t enter(Task task);
  std::vector<Task> tasks();

 private:
  stages::JobQueue queue_;
  std::mutex mutex_;  // of the list
  std::vector<Task> tasks_;
#endif
};

/// Submit async add task, return task ID
int64_t add(double a, double b);
/// Submit any callable as a task, return task ID
int64_t submit(std::function<double()> work);
/// Wait all tasks and return results
///
/// Those since the last call, which empties the table; see TaskGroup.wait_all.  When it
/// raises, they stay in the table, unless others have been added.
std::vector<double> wait_all(std::optional<double> otherwise = std::nullopt);
/// How long each task pretends to work, in milliseconds.
void set_delay(double ms);

}  // namespace myops

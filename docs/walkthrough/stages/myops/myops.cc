// SPDX-License-Identifier: Apache-2.0
#include "myops.h"

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "shared/wait.h"

namespace myops {
namespace {

std::atomic<double> g_seconds{0.1};

// The group that the next wait_all() takes; both live as long as the process.
struct Current {
  std::mutex mutex;
  std::shared_ptr<TaskGroup> group = std::make_shared<TaskGroup>();
};
Current& current() {
  static auto* found = new Current;
  return *found;
}
std::shared_ptr<TaskGroup> group() {
  std::lock_guard lock(current().mutex);
  return current().group;
}

}  // namespace

TaskGroup::TaskGroup() : queue_(false) {}

int64_t TaskGroup::add(double a, double b) {
  return enter(start([a, b] { return a + b; }, g_seconds));
}
int64_t TaskGroup::submit(std::function<double()> work) {
  return enter(start(std::move(work), 0));
}

TaskGroup::Task TaskGroup::start(std::function<double()> work, double seconds) {
  auto value = std::make_shared<double>(0);
  stages::Job job(
      queue_.schedule([value, work = std::move(work)] { *value = work(); }, {}, seconds));
  return {std::move(job), std::move(value)};
}

int64_t TaskGroup::enter(Task task) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  return int64_t(tasks_.size()) - 1;
}

std::vector<TaskGroup::Task> TaskGroup::tasks() {
  std::lock_guard lock(mutex_);
  return tasks_;
}

double TaskGroup::result(int64_t task, std::optional<double> timeout) {
  const auto all = tasks();
  if (task < 0 || task >= int64_t(all.size())) {
    throw std::invalid_argument("[result] expected an id below " +
                                std::to_string(all.size()) + " of this group, got " +
                                std::to_string(task) + " (task).");
  }
  all[size_t(task)].job.result(timeout);
  return *all[size_t(task)].value;
}

std::vector<double> TaskGroup::wait_all(std::optional<double> otherwise) {
  const auto all = tasks();
  for (const Task& task : all) stages::wait_for(*task.job.event());
  std::vector<double> results;
  for (const Task& task : all) {
    const bool failed = task.job.event()->error() != nullptr;
    if (failed && !otherwise) task.job.result();  // throws
    results.push_back(failed ? *otherwise : *task.value);
  }
  return results;
}

// A task enters the group that the next wait_all() takes.
static int64_t enter_current(std::function<double()> work, double seconds) {
  TaskGroup::Task task = group()->start(std::move(work), seconds);
  std::lock_guard lock(current().mutex);
  return current().group->enter(std::move(task));
}

int64_t add(double a, double b) {
  return enter_current([a, b] { return a + b; }, g_seconds);
}
int64_t submit(std::function<double()> work) { return enter_current(std::move(work), 0); }

std::vector<double> wait_all(std::optional<double> otherwise) {
  auto taken = std::make_shared<TaskGroup>();
  {
    std::lock_guard lock(current().mutex);
    taken.swap(current().group);
  }
  try {
    return taken->wait_all(otherwise);
  } catch (...) {  // a task's error, or Ctrl-C
    std::lock_guard lock(current().mutex);
    if (current().group->tasks().empty()) taken.swap(current().group);
    throw;
  }
}

void set_delay(double ms) {
  if (!(ms >= 0 && std::isfinite(ms))) {
    throw std::invalid_argument("[set_delay] expected 0 or more, got " +
                                std::to_string(ms) + " (ms).");
  }
  g_seconds = ms / 1000;
}

}  // namespace myops

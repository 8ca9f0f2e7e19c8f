// SPDX-License-Identifier: Apache-2.0
// collectives/engine.cc: the door: sessions begun and ended, jobs taken, from any thread.
#include "collectives/engine.h"

#include <unistd.h>

#include <utility>

#include "collectives/error.h"
#include "collectives/settling.h"
#include "scheduler/scheduler.h"

namespace pkg::collectives {

Engine::Engine(Open open, std::function<void()> close)
    : open_(std::move(open)), close_(std::move(close)), process_(getpid()) {}

Engine::~Engine() {
  leave(leave_seconds());
  if (thread_.joinable()) thread_.join();
  if (watch_.joinable()) watch_.join();
}

void Engine::check_process() const {
  PKG_CHECK(getpid() == process_, RuntimeError, "Horovod was initialized in process ",
            process_, ", and this is its child ", getpid(),
            ", which cannot use it. Start workers before init(), or use spawn.");
}

Ref<Event> Engine::init(const Settings& settings) {
  check_process();
  std::unique_lock lock(mutex_);
  PKG_CHECK(!leaving_, RuntimeError, "[init] the process is ending.");
  PKG_CHECK(state_ != State::Lost, CollectiveError, "[init] the ranks were lost: ", lost_,
            " Start the program again.");
  if (state_ == State::Starting || state_ == State::Running) return started_;
  PKG_CHECK(state_ != State::Stopping, RuntimeError,
            "[init] expected shutdown() to have finished. Wait for it first.");
  settings_ = settings;
  state_ = State::Starting;
  started_ = Ref<ManualEvent>::make("init", std::string());
  ended_ = Ref<ManualEvent>::make("shutdown", std::string());
  stop_ = false;
  numbers_.fill(0);
  joins_ = 0;
  begun_ = true;
  if (!thread_.joinable()) {
    left_ = false;
    thread_ = std::thread([this] { run(); });
  }
  if (!watch_.joinable() && settings.start_seconds > 0) {
    watching_ = true;
    watch_ = std::thread([this] {
      watch_start();
      {
        std::lock_guard done(mutex_);
        watching_ = false;
      }
      changed_.notify_all();
    });
  }
  const Ref<Event> started = started_;
  lock.unlock();
  changed_.notify_all();
  start_changed_.notify_all();
  return started;
}

Ref<Event> Engine::shutdown() {
  if (getpid() != process_) return ready_event();
  std::unique_lock lock(mutex_);
  if (state_ != State::Starting && state_ != State::Running && state_ != State::Stopping) {
    return ready_event();
  }
  stop_ = true;
  const Ref<Event> ended = ended_;
  lock.unlock();
  changed_.notify_all();
  return ended;
}

void Engine::check_running() {
  PKG_CHECK(state_ != State::Lost, CollectiveError, lost_);
  PKG_CHECK(state_ != State::ShutDown && state_ != State::Stopping, CollectiveError,
            kShutDown);
  PKG_CHECK(state_ == State::Running, ValueError,
            "Horovod has not been initialized; use hvd.init().");
}

Place Engine::place() {
  check_process();
  std::lock_guard lock(mutex_);
  check_running();
  return place_;
}

Place Engine::last_place() {
  std::lock_guard lock(mutex_);
  return place_;
}

bool Engine::running() {
  if (getpid() != process_) return false;
  std::lock_guard lock(mutex_);
  return state_ == State::Running;
}

Counts Engine::counts() {
  check_process();
  std::lock_guard lock(mutex_);
  return counts_;
}

std::string Engine::next_name(Kind kind) {
  check_process();
  std::lock_guard lock(mutex_);
  const std::string name = str(name_of(kind), ".noname.", ++numbers_[size_t(kind)]);
  return joins_ == 0 ? name : str(name, " after join ", joins_);
}

void Engine::count_anew() {
  std::lock_guard lock(mutex_);
  numbers_.fill(0);
  ++joins_;
}

// Note [In turn]
// A job of a name that is in use may follow the one that has it: then it is sent when that
// one is finished.  The engine itself keeps the order, as a task that waits could be
// cancelled, and would then send the second before the first is done.
void Engine::reserve(std::span<const Ref<Job>> jobs) {
  check_process();
  std::lock_guard lock(mutex_);
  check_running();
  std::vector<Ref<Job>> before;
  for (const Ref<Job>& job : jobs) {
    const auto used = names_.find(job->request.name);
    if (used == names_.end()) continue;
    const bool follows = job->in_turn || used->second->refusal;
    PKG_CHECK(follows, ValueError, "[", job->request.name,
              "] Requested to allreduce, allgather, or broadcast a tensor with the same "
              "name as another tensor that is currently being processed. If you want to "
              "request another tensor, use a different tensor name.");
    before.push_back(used->second);
  }
  // The coordinator tells calls of a group apart by its name alone.
  const std::string call = jobs[0]->request.call();
  const auto one = names_.find(call);
  if (one != names_.end() && jobs[0]->request.group_size != 0) {
    PKG_CHECK(jobs[0]->in_turn || one->second->refusal, ValueError, "[",
              jobs[0]->request.group,
              "] Requested a group with the same name as another group, of another size, "
              "that is currently being processed. Use a different name.");
    before.push_back(one->second);
  }
  for (const Ref<Job>& earlier : before) {
    earlier->followers.emplace_back(jobs.begin(), jobs.end());
    ++jobs[0]->awaited;
  }
  for (const Ref<Job>& job : jobs) {
    job->session = session_;
    job->number = ++last_number_;
    unsent_.insert(job->number);
    names_[job->request.name] = job;
  }
  names_[call] = jobs.back();
}

void Engine::begin(std::vector<Ref<Job>> jobs, std::span<const Ref<Event>> inputs) {
  if (inputs.empty()) return ready(std::move(jobs));
  const Ref<Event> all = submit({}, inputs, {.name = "inputs", .call_site = std::string()});
  all->when_done([this, jobs = std::move(jobs), event = all]() mutable {
    if (const std::exception_ptr error = event->error()) {
      const std::string text = text_of(error);
      for (const Ref<Job>& job : jobs) {
        job->request.failure = "The tensor to send has no values: " + text;
      }
    }
    ready(std::move(jobs));
  });
}

// Note [Join comes after what was called before it]
// From a join on the others do without this rank.  A request that was called before and
// still waits for its input would come too late: the others have taken zeros for it, and it
// would meet a later one of its name.  So a join waits until all earlier requests are on
// their way.  It must not wait for their results, which may need that other ranks join.
void Engine::enqueue(std::vector<Ref<Job>> jobs) {
  for (const Ref<Job>& job : jobs) unsent_.erase(job->number);
  if (jobs[0]->request.kind == Kind::Join) joining_.push_back(std::move(jobs[0]));
  else queue_.push_back(std::move(jobs));
  std::erase_if(joining_, [&](Ref<Job>& join) {
    if (!unsent_.empty() && *unsent_.begin() < join->number) return false;
    queue_.push_back({std::move(join)});
    return true;
  });
}

// Must not throw: events call it.
void Engine::ready(std::vector<Ref<Job>> jobs) {
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::Running && jobs[0]->session == session_) {
      if (--jobs[0]->awaited == 0) enqueue(std::move(jobs));
      jobs.clear();
    }
  }
  changed_.notify_all();
  drop(std::move(jobs), kShutDown);
}

void Engine::finish(const std::vector<Ref<Job>>& jobs, std::exception_ptr error,
                    const Counts& counts) {
  {
    std::lock_guard lock(mutex_);
    counts_ = counts;  // who has waited for these counts them
    // Before anybody can hear of it and use it again.
    for (const Ref<Job>& job : jobs) {
      for (const std::string& name : {job->request.name, job->request.call()}) {
        const auto used = names_.find(name);
        if (used != names_.end() && used->second == job) names_.erase(used);
      }
      for (auto& next : std::exchange(job->followers, {})) {
        if (--next[0]->awaited == 0) enqueue(std::move(next));
      }
    }
  }
  for (const Ref<Job>& job : jobs) settle(job->event, error);
}

// Jobs that will not be done, and all that come after them.
void Engine::drop(std::vector<Ref<Job>> jobs, const std::string& why) {
  while (!jobs.empty()) {
    std::vector<std::vector<Ref<Job>>> after;
    {
      std::lock_guard lock(mutex_);
      for (const Ref<Job>& job : jobs) {
        for (auto& next : std::exchange(job->followers, {})) {
          after.push_back(std::move(next));
        }
      }
    }
    for (const Ref<Job>& job : jobs) settle(job->event, failure(why));
    jobs.clear();
    for (const auto& next : after) jobs.insert(jobs.end(), next.begin(), next.end());
  }
}

bool Engine::leave(double seconds) {
  if (getpid() != process_) return true;
  std::unique_lock lock(mutex_);
  leaving_ = true;
  changed_.notify_all();
  start_changed_.notify_all();
  if (!changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                         [&] { return left_; })) {
    return false;
  }
  // The other one may still tell of a start that failed, to whoever waits for it.
  constexpr auto soon = std::chrono::seconds(1);
  const bool told = changed_.wait_for(lock, soon, [&] { return !watching_; });
  std::thread ended = std::move(thread_), watch;
  if (told) watch = std::move(watch_);
  lock.unlock();
  if (ended.joinable()) ended.join();
  if (watch.joinable()) watch.join();
  return true;
}

}  // namespace pkg::collectives

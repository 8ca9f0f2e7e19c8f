// SPDX-License-Identifier: Apache-2.0
// collectives/engine.cc: submitting, the thread's loop, and every way for it to end.
#include "collectives/engine.h"

#include <unistd.h>

#include <cstdlib>

#include "collectives/backoff.h"
#include "collectives/error.h"
#include "collectives/local_transport.h"
#include "collectives/mpi_transport.h"
#include "scheduler/scheduler.h"

namespace pkg::collectives {
namespace {

constexpr const char* kShutDown =
    "Horovod has been shut down. This was caused by an exception on one of the ranks or "
    "an attempt to allreduce, allgather or broadcast a tensor after one of the ranks "
    "finished execution. If the shutdown was caused by an exception, you should see the "
    "exception in the log before the first shutdown message.";
constexpr int kYields = 100;  // of a thread that waits, before it sleeps
// MPI_Finalize waits for all ranks, which may have work of their own for long.  MPI's launcher
// takes the end of a process that did not come so far for a failure and ends the others; ours
// does not, so that nobody has to wait there.
double leave_seconds() { return std::getenv("PKG_LAUNCHED") ? 3 : 600; }

std::unique_ptr<Transport> open_transport(const Settings& settings,
                                          const std::function<void()>& waiting) {
  if (settings.library.empty()) {
    return std::make_unique<LocalTransport>(std::make_shared<LocalHub>(1), 0);
  }
  return std::make_unique<MpiTransport>(mpi::open_library(settings.library), waiting);
}

// As its launcher says: MPI does not, before all ranks have come.
std::string this_rank() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (const char* rank = std::getenv(name)) return str("rank ", rank);
  }
  return str("process ", getpid());
}

// It may have been cancelled by somebody meanwhile.
void settle(const Ref<ManualEvent>& event, const std::exception_ptr& error) {
  if (!event || event->done()) return;
  try {
    if (error) event->set_error(error);
    else event->set();
  } catch (const Error&) {  // cancelled between the two
  }
}

std::exception_ptr failure(const std::string& text) {
  return std::make_exception_ptr(CollectiveError(text));
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) { return e.what(); } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

Engine::Engine(Open open, std::function<void()> close)
    : open_(std::move(open)), close_(std::move(close)), process_(getpid()) {}

Engine::~Engine() {
  leave(leave_seconds());
  if (thread_.joinable()) thread_.join();
  if (watch_.joinable()) watch_.join();
}

Engine& Engine::get() {
  // Never destroyed: its thread may outlive static objects.
  static std::atomic<Engine*> engine = new Engine(open_transport, finalize_mpi);
  Engine* current = engine;
  if (current->begun_ || current->process_ == getpid()) return *current;
  // A child of fork() whose parent has only looked at it gets its own: locks may be held.
  auto made = std::make_unique<Engine>(open_transport, finalize_mpi);
  if (!engine.compare_exchange_strong(current, made.get())) return *current;
  return *made.release();
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
  begun_ = true;
  if (!thread_.joinable()) {
    left_ = false;
    thread_ = std::thread([this] { run(); });
  }
  if (!watch_.joinable() && settings.start_seconds > 0) {
    watch_ = std::thread([this] { watch_start(); });
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
  return str(name_of(kind), ".noname.", ++numbers_[size_t(kind)]);
}

std::vector<Ref<Event>> Engine::reserve(std::span<const Ref<Job>> jobs) {
  check_process();
  std::vector<Ref<Event>> before;
  std::lock_guard lock(mutex_);
  check_running();
  for (const Ref<Job>& job : jobs) {
    const auto used = names_.find(job->request.name);
    if (used == names_.end()) continue;
    PKG_CHECK(job->in_turn, ValueError, "[", job->request.name,
              "] Requested to allreduce, allgather, or broadcast a tensor with the same "
              "name as another tensor that is currently being processed. If you want to "
              "request another tensor, use a different tensor name.");
    before.push_back(used->second->event);
  }
  for (const Ref<Job>& job : jobs) {
    job->session = session_;
    job->number = ++last_number_;
    unsent_.insert(job->number);
    names_[job->request.name] = job;
  }
  return before;
}

void Engine::begin(std::vector<Ref<Job>> jobs, std::span<const Ref<Event>> inputs,
                   std::span<const Ref<Event>> before) {
  if (inputs.empty() && before.empty()) return ready(std::move(jobs));
  const Ref<Event> all = submit(
      {}, inputs, {.name = "inputs", .call_site = std::string(), .after = before});
  all->when_done([this, jobs = std::move(jobs), event = all.get()]() mutable {
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
      enqueue(std::move(jobs));
      jobs.clear();
    }
  }
  changed_.notify_all();
  for (const Ref<Job>& job : jobs) settle(job->event, failure(kShutDown));
}

void Engine::finish(const Ref<Job>& job, std::exception_ptr error) {
  {
    std::lock_guard lock(mutex_);
    // Before anybody can hear of it and use it again.
    const auto used = names_.find(job->request.name);
    if (used != names_.end() && used->second == job) names_.erase(used);
  }
  settle(job->event, error);
}

bool Engine::leave(double seconds) {
  if (getpid() != process_) return true;
  std::unique_lock lock(mutex_);
  leaving_ = true;
  changed_.notify_all();
  start_changed_.notify_all();
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return left_; });
}

void Engine::run() {
  bool lost = false;
  for (;;) {
    Settings settings;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return leaving_ || state_ == State::Starting; });
      if (state_ != State::Starting) break;
      settings = settings_;
    }
    try {
      serve(settings);
    } catch (...) {
      lost = true;
      break;
    }
  }
  if (!lost && !abandoned_) close_();
  {
    std::lock_guard lock(mutex_);
    left_ = true;
  }
  changed_.notify_all();
}

// MPI_Init returns when all ranks have called it, and cannot be called off.  So the thread
// that is in there is left behind when the time is over: who waits for init() hears of it,
// and the end of the process does not wait for that thread.
void Engine::watch_start() {
  std::unique_lock lock(mutex_);
  for (;;) {
    start_changed_.wait(lock, [&] { return leaving_ || state_ == State::Starting; });
    if (leaving_) return;
    const Ref<ManualEvent> started = started_, ended = ended_;
    const auto over = [&] {
      return leaving_ || state_ != State::Starting || started_ != started;
    };
    const double seconds = settings_.start_seconds;
    if (seconds <= 0) start_changed_.wait(lock, over);
    else start_changed_.wait_for(lock, std::chrono::duration<double>(seconds), over);
    if (over()) continue;
    state_ = State::Lost;
    lost_ = str("[init] ", this_rank(), " has waited ", seconds,
                " seconds until all ranks come to init(), and some rank does not: it has "
                "ended, or does not get there. HOROVOD_START_TIMEOUT sets the limit.");
    const std::string why = lost_;
    lock.unlock();
    settle(started, failure(why));
    settle(ended, nullptr);
    return;
  }
}

// Nothing is known to anybody of a session that could not begin: it may be tried again,
// where it was for want of a library.
void Engine::serve(const Settings& settings) {
  std::unique_ptr<Session> session;
  Ref<ManualEvent> started;
  const auto interrupted = [this] {
    std::lock_guard lock(mutex_);
    PKG_CHECK(!leaving_, CollectiveError, "[collectives] the process is ending.");
    PKG_CHECK(state_ == State::Starting, CollectiveError, lost_);  // too late
  };
  try {
    std::unique_ptr<Transport> transport = open_(settings, interrupted);
    transport->idle = interrupted;
    session = std::make_unique<Session>(
        std::move(transport), settings,
        [this](const Ref<Job>& job, std::exception_ptr error) { finish(job, error); });
    std::lock_guard lock(mutex_);
    PKG_CHECK(state_ == State::Starting, CollectiveError, lost_);
    state_ = State::Running;
    ++session_;
    place_ = session->place();
    counts_ = {};
    started = started_;
  } catch (const ImportError&) {
    end_session(nullptr, State::Idle, "");
    return;
  } catch (...) {
    end_session(nullptr, State::Lost, text_of(std::current_exception()));
    throw;
  }
  if (this == &get() && !std::exchange(leaves_at_exit_, true)) {
    // After MPI_Init: MPICH takes its leave of the launcher in a handler of its own, which
    // has to come after MPI_Finalize, and so to be registered before this one.
    std::atexit([] { get().leave(leave_seconds()); });
  }
  start_changed_.notify_all();
  settle(started, nullptr);
  try {
    int rounds = 0;
    for (bool told = false; !session->stopped();) {
      std::vector<std::vector<Ref<Job>>> queue;
      bool stop = false;
      {
        std::lock_guard lock(mutex_);
        queue.swap(queue_);
        stop = (stop_ || leaving_) && !told;
        if (stop) state_ = State::Stopping;
      }
      for (auto& jobs : queue) session->add(std::move(jobs));
      if (stop) session->stop();
      told |= stop;
      const bool busy = session->step();
      if (busy) rounds = 0;
      else rest(*session, rounds);
      std::lock_guard lock(mutex_);
      counts_ = session->counts();
    }
    abandoned_ = session->abandoned();
    end_session(session.get(), State::ShutDown, kShutDown);
  } catch (...) {
    const std::string why = text_of(std::current_exception());
    session->give_up(why);
    end_session(session.get(), State::Lost, why);
    throw;
  }
}

// Who waits looks often, and who does not, seldom: others cannot need this rank then.
void Engine::rest(const Session& session, int& rounds) {
  using std::chrono::microseconds;
  if (session.waiting() && ++rounds < kYields) {
    if (!yield_briefly()) rounds = kYields;
    return;
  }
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, microseconds(session.waiting() ? 50 : 1000),
                    [&] { return !queue_.empty() || stop_ || leaving_; });
}

void Engine::end_session(Session* session, State state, const std::string& why) {
  std::vector<Ref<Job>> jobs;
  if (session) jobs = session->take_jobs();
  Ref<ManualEvent> started, ended;
  {
    std::lock_guard lock(mutex_);
    state_ = state;
    if (state == State::Lost) lost_ = why;
    for (auto& queued : queue_) jobs.insert(jobs.end(), queued.begin(), queued.end());
    queue_.clear();
    jobs.insert(jobs.end(), joining_.begin(), joining_.end());
    joining_.clear();
    unsent_.clear();
    names_.clear();
    // From now on init() may make new ones.
    started = started_;
    ended = ended_;
  }
  start_changed_.notify_all();
  settle(started, std::current_exception());
  for (const Ref<Job>& job : jobs) settle(job->event, failure(why));
  settle(ended, nullptr);
}

}  // namespace pkg::collectives

// SPDX-License-Identifier: Apache-2.0
// collectives/engine_thread.cc: the thread's loop, and every way for it to end.
#include <unistd.h>

#include <cstdlib>

#include "collectives/backoff.h"
#include "collectives/engine.h"
#include "collectives/error.h"
#include "collectives/settling.h"

namespace pkg::collectives {
namespace {

constexpr int kYields = 100;  // of a thread that waits, before it sleeps

// As its launcher says: MPI does not, before all ranks have come.
std::string this_rank() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (const char* rank = std::getenv(name)) return str("rank ", rank);
  }
  return str("process ", getpid());
}

}  // namespace

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
        [this, &session](const auto& jobs, std::exception_ptr error) {
          finish(jobs, error, session->counts());
        });
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
  if (!std::exchange(leaves_at_exit_, true)) leave_at_exit();
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
  drop(std::move(jobs), why);
  settle(ended, nullptr);
}

}  // namespace pkg::collectives

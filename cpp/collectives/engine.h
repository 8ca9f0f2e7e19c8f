// SPDX-License-Identifier: Apache-2.0
// collectives/engine.h: the thread that owns the transport, and the door to it: any thread
// submits jobs by name, whenever, and waits for their events.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "collectives/session.h"

namespace pkg::collectives {

class Engine {
 public:
  /// Makes the transport of a session, on the engine's thread; `waiting` is to be called
  /// while it waits for other ranks, and may throw.
  using Open = std::function<std::unique_ptr<Transport>(
      const Settings&, const std::function<void()>& waiting)>;

  /// `close` runs on the engine's thread when it ends, unless a session was lost or the
  /// last one ended with work undone: that is a failure, and whose it was shall not wait.
  explicit Engine(Open open, std::function<void()> close = [] {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The one of the process, over MPI.
  static Engine& get();

  /// Begins a session with the other ranks, unless there is one; the event is done when all
  /// have come.  CollectiveError after a rank was lost, RuntimeError in a child of fork().
  /// The event fails with CollectiveError when they do not come in time.
  Ref<Event> init(const Settings& settings);
  /// Ends the session on all ranks; what is pending fails.  Without one: done at once.
  Ref<Event> shutdown();

  /// ValueError without a session, CollectiveError after its end.
  Place place();
  bool running();
  /// That of the last session that began, also when it has ended since.
  Place last_place();
  Counts counts();

  /// Takes the names of the jobs, all or none: the errors of place(), and ValueError if one
  /// is in use.
  void reserve(std::span<const Ref<Job>> jobs);
  /// Sends reserved jobs on their way once `inputs` are done, and those that they follow.
  void begin(std::vector<Ref<Job>> jobs, std::span<const Ref<Event>> inputs);
  /// "allreduce.noname.7": the next one that calls without a name get, on each rank.
  std::string next_name(Kind kind);
  /// Note [Numbers after a join]
  /// Before it ranks may have made different numbers of calls.  So from a call of join() on
  /// they count anew: each rank makes as many of those.
  void count_anew();

  /// Ends the session and the thread, at exit; waits so long.  Returns whether it ended.
  bool leave(double seconds);

 private:
  enum class State : uint8_t { Idle, Starting, Running, Stopping, ShutDown, Lost };

  void check_running();  // under the lock
  void check_process() const;
  void run();
  void watch_start();
  void serve(const Settings& settings);
  void ready(std::vector<Ref<Job>> jobs);
  void enqueue(std::vector<Ref<Job>> jobs);  // under the lock
  void finish(const std::vector<Ref<Job>>& jobs, std::exception_ptr error,
              const Counts& counts);
  void drop(std::vector<Ref<Job>> jobs, const std::string& why);
  void end_session(Session* session, State state, const std::string& why);
  void rest(const Session& session, int& rounds);
  void leave_at_exit();
  static double leave_seconds();

  const Open open_;
  const std::function<void()> close_;
  const int process_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable start_changed_;  // of what watch_start() looks at
  State state_ = State::Idle;
  std::string lost_;  // why
  Settings settings_;
  Place place_;
  Counts counts_;
  uint64_t session_ = 0;                             // how many there were
  std::unordered_map<std::string, Ref<Job>> names_;  // the last job that is not finished
  std::vector<std::vector<Ref<Job>>> queue_;         // for the thread
  // Note [Join comes after what was called before it]
  uint64_t last_number_ = 0;
  std::set<uint64_t> unsent_;      // numbers of jobs that wait for their inputs
  std::vector<Ref<Job>> joining_;  // for those before them
  Ref<ManualEvent> started_, ended_;
  std::array<uint64_t, 8> numbers_{};  // of names that were made up, by kind
  uint64_t joins_ = 0;                 // that this rank has called in the session
  bool stop_ = false, leaving_ = false, left_ = true;
  bool abandoned_ = false;  // the last session ended with work that somebody waited for
  bool leaves_at_exit_ = false;      // of the thread
  bool watching_ = false;            // watch_ runs
  std::atomic<bool> begun_ = false;  // there was an init()
  std::thread thread_, watch_;
};

}  // namespace pkg::collectives

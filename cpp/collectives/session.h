// SPDX-License-Identifier: Apache-2.0
// collectives/session.h: the time between init() and shutdown() on the engine's thread:
// requests go to rank 0, responses come back, and are carried out in the same order on all
// ranks.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "collectives/coordinator.h"
#include "collectives/peers.h"
#include "collectives/performer.h"
#include "collectives/timeline.h"

namespace pkg::collectives {

/// What init() may choose.
struct Settings {
  std::string library;  ///< paths of MPI libraries; "": a world of one rank
  int64_t fusion_bytes = int64_t{128} << 20;
  int64_t cache_capacity = 1024;
  double stall_seconds = 300;   ///< until a tensor that some rank does not submit fails
  double failure_seconds = 30;  ///< of silence until a rank counts as lost
  double start_seconds = 120;   ///< until init() fails for want of a rank; 0: never
  double warn_seconds = 60;     ///< until rank 0 warns of such a tensor; 0: never
  std::string timeline = {};    ///< the file of rank 0's timeline; "": none
  /// What rank 0 does with a warning, on the engine's thread; without it: to stderr.
  std::function<void(const std::string&)> warn = {};
};

/// What happened so far; read by tests.
struct Counts {
  int64_t whole = 0;     ///< requests that travelled whole
  int64_t numbered = 0;  ///< requests that travelled as a number
  int64_t responses = 0;
  int64_t tensors = 0;  ///< in them
};

class Session {
 public:
  /// `finished(jobs, error)` is called for jobs that are done together.
  using Finished = std::function<void(const std::vector<Ref<Job>>&, std::exception_ptr)>;

  Session(std::unique_ptr<Transport> transport, const Settings& settings,
          Finished finished);

  const Place& place() const { return peers_.place(); }
  const Counts& counts() const { return counts_; }

  /// Begins with these; they fail where one of that name is not finished.
  void add(std::vector<Ref<Job>> jobs);
  /// Says to all ranks that this is the end.
  void stop();
  /// Does what there is to do; returns whether there was something.  CollectiveError when
  /// the ranks cannot go on.
  bool step();
  bool waiting() const { return !jobs_.empty(); }
  /// Whether all ranks know of the end, and whether some rank still waited for something.
  bool stopped() const { return stopped_; }
  bool abandoned() const { return abandoned_; }
  /// Tells the others why this rank gives up, as far as they can be reached.
  void give_up(const std::string& why) noexcept;
  /// All jobs that are not finished.
  std::vector<Ref<Job>> take_jobs();

 private:
  void pump();
  bool take(int from, const std::string& message);
  void requests(int from, Reader reader);
  void responses(Reader reader);
  bool coordinate();
  void carry_out(const Response& response);
  void send_all(const std::string& message);
  void warn(const std::string& text) const;
  std::string last_word() const;

  std::unique_ptr<Transport> transport_;
  Peers peers_;
  Timeline timeline_;
  Performer performer_;
  ResponseCache cache_;
  std::unique_ptr<Coordinator> coordinator_;  // of rank 0
  Finished finished_;
  const std::function<void(const std::string&)> warn_;
  std::unordered_map<std::string, Ref<Job>> jobs_;
  std::deque<std::pair<int, std::string>> inbox_;
  Counts counts_;
  int stops_ = 0;          // rank 0: who has said that it sends nothing more
  bool stopping_ = false;  // all are told to
  bool stopped_ = false;
  bool abandoned_ = false;
};

}  // namespace pkg::collectives

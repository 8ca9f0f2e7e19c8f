// SPDX-License-Identifier: Apache-2.0
// collectives/coordinator.h: what rank 0 does: it notes who has asked for which tensor, and
// when all have, decides what is done, in one order for all.  It knows no transport and no
// tensor.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "collectives/response_cache.h"

namespace pkg::collectives {

class Coordinator {
 public:
  using Clock = std::chrono::steady_clock;

  /// Allreduces go together up to `fusion_bytes`; who waits for `stall_seconds` gets an
  /// error (0: never), and there is a warning after `warn_seconds` (0: none).
  Coordinator(int size, int64_t fusion_bytes, int64_t cache_capacity, double stall_seconds,
              double warn_seconds = 0);

  /// A rank asks; RuntimeError if it has asked for a tensor of this name already.
  void add(int rank, Request request);
  /// The same by the number of the request.
  void add(int rank, uint64_t id);
  /// It has carried out so many responses.
  void note_progress(int rank, uint64_t responses);
  /// What can be done now, or has failed.
  std::vector<Response> take_ready();
  /// What take_ready() found to wait for long, a text for a person; "" where nothing does.
  std::string take_warning() { return std::exchange(warning_, {}); }

 private:
  struct Asked {
    std::vector<std::optional<Request>> ranks;
    size_t count = 0;
    Clock::time_point since;
    bool warned = false;
    const Request& first() const;
  };
  using Table = std::map<std::string, Asked>;

  bool complete(const Asked& asked) const;
  void note_complete(const std::string& name);
  bool answer_late(int rank, const Request& request);
  void find_stalled();
  void look_at_group(const Request& request);
  std::vector<std::string> members(const std::string& group) const;
  void fail(const std::vector<std::string>& names, const std::string& error);
  void fail_odd_groups();
  Response decide(const std::string& name);
  std::vector<Response> decide_next();
  Decided remember(const Asked& asked);
  std::string who(const Asked& asked) const;
  std::string missing(const Asked& asked) const;
  bool waits(const Asked& asked, double seconds) const;
  void warn();

  const size_t size_;
  const int64_t fusion_bytes_;
  const double stall_seconds_, warn_seconds_;
  // Note [The same cache everywhere] in response_cache.h.
  const int64_t capacity_;
  ResponseCache cache_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, std::vector<std::string>> sites_;  // of each number, by rank
  std::vector<uint64_t> forgotten_;                     // since the last response
  struct Kept {                                         // that ranks may still send
    uint64_t id, until;
    Request request;
  };
  std::deque<Kept> kept_;
  uint64_t sent_ = 0;               // responses
  std::vector<uint64_t> progress_;  // of each rank
  Table table_;
  struct Group {
    int32_t size = 0;                // that the first rank has
    std::vector<std::string> names;  // that are complete
    bool odd = false;                // a rank has another size, or does not know it
  };
  std::map<std::string, Group> groups_;
  std::deque<std::string> ready_;
  std::vector<Response> failed_;
  // Note [Who comes late gets the error, too] in coordinator.cc: by name, or group, and rank.
  struct Late {
    std::string error;
    size_t left = 0;  // of the tensors of a group whose first one has come
  };
  std::map<std::pair<std::string, int>, std::deque<Late>> late_;
  std::vector<bool> joined_;
  size_t joined_count_ = 0;
  int last_joined_ = -1;
  Clock::time_point looked_ = Clock::now();  // for what has stalled
  std::string warning_;
};

/// Why these requests of one tensor do not go together; "" when they do.  In Horovod's words.
std::string mismatch(const Request& one, const Request& another);

}  // namespace pkg::collectives

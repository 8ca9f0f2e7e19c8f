// SPDX-License-Identifier: Apache-2.0
// collectives/peers.h: where the ranks are, and whether they live.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "collectives/transport.h"

namespace pkg::collectives {

/// Numbers of a rank: among all, among those of its host, and of its host among hosts that
/// have a rank with the same local number.
struct Place {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  int cross_rank = 0, cross_size = 1;
};

/// The place of `rank` when `hosts` names each rank's.
Place place_of(int rank, const std::vector<std::string>& hosts);

class Peers {
 public:
  using Clock = std::chrono::steady_clock;

  /// All ranks make one together.
  Peers(Transport& transport, double timeout_seconds);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  const Place& place() const { return place_; }
  /// A message came from it.
  void heard(int rank) { heard_[size_t(rank)] = Clock::now(); }
  /// It has said its last word, and need not be heard any more.
  void left(int rank) { heard_[size_t(rank)] = Clock::time_point::max(); }
  /// Sends a sign of life where it is time for one, and throws CollectiveError if a rank is
  /// known to have ended, or was silent for too long.  Rank 0 hears all, the others rank 0.
  /// `stopping`: who has ended may have done so rightly, and its last word be on its way.  A
  /// rank other than 0 has sent its own then, and gives no more signs.
  void look(bool stopping);

 private:
  Transport& transport_;
  const double timeout_;
  Place place_;
  std::vector<std::string> names_;  // "rank 1 (process 123 on host)"
  std::vector<int> processes_;      // descriptors of those on this host, or -1
  std::vector<Clock::time_point> heard_;
  Clock::time_point looked_, signed_;
  Clock::time_point missed_{};  // when somebody was first seen to have ended
};

}  // namespace pkg::collectives

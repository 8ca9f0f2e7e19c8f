// SPDX-License-Identifier: Apache-2.0
// collectives/local_transport.h: ranks that are threads of one process: a world of one rank,
// which needs no MPI, and the ranks of tests.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "collectives/transport.h"

namespace pkg::collectives {

/// What the ranks share.
class LocalHub {
 public:
  explicit LocalHub(int size) : boxes_(size_t(size)), offers_(size_t(size)) {}

 private:
  friend class LocalTransport;
  struct Offer {  // of one rank, while all are in a collective
    const char* data = nullptr;
    std::span<const int64_t> counts;
  };
  std::mutex mutex_;
  std::vector<std::deque<std::pair<int, std::string>>> boxes_;  // messages to each rank
  std::vector<Offer> offers_;
  size_t here_ = 0;       // ranks that have come to the meeting
  uint64_t meeting_ = 0;  // how many were held
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(std::shared_ptr<LocalHub> hub, int rank)
      : hub_(std::move(hub)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return int(hub_->boxes_.size()); }
  void send(int to, std::string message) override;
  bool receive(int& from, std::string& message) override;
  void allgather(const void* send, void* receive, std::span<const int64_t> counts) override;
  void alltoall(const void* send, std::span<const int64_t> send_counts, void* receive,
                std::span<const int64_t> receive_counts) override;
  void broadcast(void* data, int64_t count, int root) override;

 private:
  void meet();
  void offer(const void* data, std::span<const int64_t> counts = {});

  std::shared_ptr<LocalHub> hub_;
  const int rank_;
};

}  // namespace pkg::collectives

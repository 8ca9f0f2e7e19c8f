// SPDX-License-Identifier: Apache-2.0
// collectives/local_transport.cc: each rank shows what it has, all copy from each other, and
// nobody goes on before all have.
#include "collectives/local_transport.h"

#include <cstring>
#include <numeric>

#include "collectives/backoff.h"

namespace pkg::collectives {
namespace {

void copy(void* to, const char* from, int64_t count) {
  if (count > 0 && to != from) std::memcpy(to, from, size_t(count));
}

}  // namespace

void LocalTransport::send(int to, std::string message) {
  std::lock_guard lock(hub_->mutex_);
  hub_->boxes_[size_t(to)].emplace_back(rank_, std::move(message));
}

bool LocalTransport::receive(int& from, std::string& message) {
  std::lock_guard lock(hub_->mutex_);
  auto& box = hub_->boxes_[size_t(rank_)];
  if (box.empty()) return false;
  from = box.front().first;
  message = std::move(box.front().second);
  box.pop_front();
  return true;
}

void LocalTransport::meet() {
  std::unique_lock lock(hub_->mutex_);
  const uint64_t meeting = hub_->meeting_;
  if (++hub_->here_ == hub_->boxes_.size()) {
    hub_->here_ = 0;
    ++hub_->meeting_;
    return;
  }
  Backoff backoff;
  while (hub_->meeting_ == meeting) {
    lock.unlock();
    idle();
    backoff.pause();
    lock.lock();
  }
}

void LocalTransport::offer(const void* data, std::span<const int64_t> counts) {
  {
    std::lock_guard lock(hub_->mutex_);
    hub_->offers_[size_t(rank_)] = {static_cast<const char*>(data), counts};
  }
  meet();
}

void LocalTransport::allgather(const void* send, void* receive,
                               std::span<const int64_t> counts) {
  offer(send);
  char* to = static_cast<char*>(receive);
  for (size_t r = 0; r < counts.size(); to += counts[r++]) {
    copy(to, hub_->offers_[r].data, counts[r]);
  }
  meet();
}

void LocalTransport::alltoall(const void* send, std::span<const int64_t> send_counts,
                              void* receive, std::span<const int64_t> receive_counts) {
  offer(send, send_counts);
  char* to = static_cast<char*>(receive);
  for (size_t r = 0; r < receive_counts.size(); to += receive_counts[r++]) {
    const auto& [data, counts] = hub_->offers_[r];
    const auto mine = counts.begin() + rank_;
    copy(to, data + std::accumulate(counts.begin(), mine, int64_t{0}), receive_counts[r]);
  }
  meet();
}

void LocalTransport::broadcast(void* data, int64_t count, int root) {
  offer(data);
  if (rank_ != root) copy(data, hub_->offers_[size_t(root)].data, count);
  meet();
}

}  // namespace pkg::collectives

// SPDX-License-Identifier: Apache-2.0
// docs/examples/ops/row_server.h: what stands for a parameter server: rows by sign, and
// answers from a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

class RowServer {
 public:
  using Rows = std::map<uint64_t, std::vector<float>>;

  RowServer() : thread_([this] { serve(); }) {}
  ~RowServer() {
    ask(nullptr);
    thread_.join();
  }

  /// Runs the request on the server's thread, in the order of the requests.
  void ask(std::function<void(Rows&)> request) {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    changed_.notify_one();
  }

  /// Whether a row of this sign has, or would have, this width.
  static bool fits(const Rows& rows, uint64_t sign, size_t width) {
    const auto found = rows.find(sign);
    return found == rows.end() || found->second.size() == width;
  }
  static std::vector<float>& row(Rows& rows, uint64_t sign, size_t width) {
    auto [found, fresh] = rows.try_emplace(sign);
    // A new row: its sign, so that it can be told from others.
    if (fresh) found->second.assign(width, float(sign));
    return found->second;
  }

 private:
  void serve() {
    Rows rows;
    while (true) {
      std::function<void(Rows&)> request;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !requests_.empty(); });
        request = std::move(requests_.front());
        requests_.pop_front();
      }
      if (!request) return;
      request(rows);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(Rows&)>> requests_;
  std::thread thread_;
};

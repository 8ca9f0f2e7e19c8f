// SPDX-License-Identifier: Apache-2.0
// scheduler/parallel.cc: the chunks of a parallel_for and who runs them.
#include "scheduler/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "base/intrusive.h"
#include "scheduler/runtime.h"

namespace pkg {
namespace {

constexpr int kChunksPerThread = 4;  // evens out chunks that take unequal time

thread_local bool t_inside = false;

class Inside {
 public:
  Inside() : before_(t_inside) { t_inside = true; }
  ~Inside() { t_inside = before_; }

 private:
  bool before_;
};

// Shared by the caller and its helpers.  A helper that comes after the last chunk was
// taken touches only this, never the caller's stack.
class Loop final : public Intrusive {
 public:
  using Body = FunctionRef<void(int64_t, int64_t)>;

  Loop(int64_t begin, int64_t end, int64_t chunks, Body body)
      : begin_(begin), end_(end), chunks_(chunks), body_(body) {}

  void work() noexcept {
    Inside inside;
    for (;;) {
      const int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks_) return;
      if (!failed_.load(std::memory_order_relaxed)) run(chunk);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks_) done_.notify_all();
    }
  }

  // Only for chunks that somebody runs now; they wait for nothing.
  void wait_for_chunks() const {
    const auto done = [this] {
      return done_.load(std::memory_order_acquire) == chunks_;
    };
    if (detail::spin_until(done, 20)) return;
    // Asleep, it leaves its processor to a helper that another process has displaced.
    for (int seen; (seen = done_.load(std::memory_order_acquire)) != chunks_;) {
      done_.wait(seen, std::memory_order_acquire);
    }
  }

  // Taken out, so that a late helper does not destroy what the caller still reads.
  std::exception_ptr take_error() { return std::move(error_); }

 private:
  void run(int64_t chunk) noexcept {
    // Sizes differ by one at most, and no product can overflow.
    const int64_t size = (end_ - begin_) / chunks_;
    const int64_t larger = (end_ - begin_) % chunks_;
    const int64_t from = begin_ + chunk * size + std::min(chunk, larger);
    try {
      body_(from, from + size + (chunk < larger ? 1 : 0));
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_ || chunk < error_chunk_) {
        error_ = std::current_exception();
        error_chunk_ = chunk;
      }
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  const int64_t begin_, end_, chunks_;
  const Body body_;
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  int64_t error_chunk_ = 0;
};

struct Helper final : detail::Runnable {
  Ref<Loop> loop;
  void run(bool) noexcept override {
    loop->work();
    delete this;
  }
  void drop() noexcept override { delete this; }
};

}  // namespace

bool in_parallel_region() noexcept { return t_inside; }

namespace detail {

bool splits(int64_t range, int64_t grain) {
  return range > std::max<int64_t>(grain, 1) && !t_inside && num_threads() > 1;
}

void parallel_run(int64_t begin, int64_t end, int64_t grain,
                  FunctionRef<void(int64_t, int64_t)> fn) {
  grain = std::max<int64_t>(grain, 1);
  const int threads = num_threads();
  const int64_t most = (end - begin - 1) / grain + 1;
  const int64_t chunks = std::min<int64_t>(most, int64_t{threads} * kChunksPerThread);
  auto loop = Ref<Loop>::make(begin, end, chunks, fn);
  RunList helpers;
  for (int64_t i = 1; i < std::min<int64_t>(threads, chunks); ++i) {
    auto* helper = new Helper;
    helper->loop = loop;
    helpers.push(helper);
  }
  runtime().pool.push_all(helpers, false);
  loop->work();
  loop->wait_for_chunks();
  if (auto error = loop->take_error()) std::rethrow_exception(std::move(error));
}

}  // namespace detail
}  // namespace pkg

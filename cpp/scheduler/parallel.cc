// SPDX-License-Identifier: Apache-2.0
// scheduler/parallel.cc: the chunks of a parallel_for and who runs them.
//
// Note [Pieces]
// A chunk may be a long piece of work, so it is run in pieces with a stop point between
// them.  Only the caller asks whether to stop; when it sleeps, helpers wake it now and then.
#include "scheduler/parallel.h"

#include <algorithm>
#include <utility>

#include "scheduler/loop.h"
#include "scheduler/runtime.h"
#include "scheduler/stop_point.h"

namespace pkg {
namespace {

constexpr int kChunksPerThread = 4;  // evens out chunks that take unequal time
constexpr int64_t kPieceGrains = 64;  // of cheap work a millisecond or two

thread_local bool t_inside = false;

class Inside {
 public:
  Inside() : before_(t_inside) { t_inside = true; }
  ~Inside() { t_inside = before_; }

 private:
  bool before_;
};

int64_t piece_of(int64_t grain) {
  return grain < INT64_MAX / kPieceGrains ? grain * kPieceGrains : INT64_MAX;
}

void run_in_pieces(int64_t begin, int64_t end, int64_t piece, detail::Loop::Body body) {
  while (end - begin > piece) {
    body(begin, begin + piece);
    begin += piece;
    stop_point();
  }
  body(begin, end);
}

struct Helper final : detail::Runnable {
  Ref<detail::Loop> loop;
  void run(bool) noexcept override {
    loop->help();
    delete this;
  }
  void drop() noexcept override { delete this; }
};

}  // namespace

bool in_parallel_region() noexcept { return t_inside; }

namespace detail {

void Loop::help() noexcept {
  stop_scope().helped = this;
  work();
  stop_scope().helped = nullptr;
}

void Loop::work() noexcept {
  Inside inside;
  for (;;) {
    const int64_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunks_) return;
    if (!failed()) run(chunk);
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks_) wake_caller();
  }
}

void Loop::run(int64_t chunk) noexcept {
  // Sizes differ by one at most, and no product can overflow.
  const int64_t size = (end_ - begin_) / chunks_;
  const int64_t larger = (end_ - begin_) % chunks_;
  const int64_t from = begin_ + chunk * size + std::min(chunk, larger);
  try {
    if (chunk != 0) stop_point();
    run_in_pieces(from, from + size + (chunk < larger ? 1 : 0), piece_, body_);
  } catch (const Abandoned&) {
  } catch (...) {
    fail(chunk);
  }
}

void Loop::fail(int64_t chunk) noexcept {
  std::lock_guard lock(mutex_);
  if (!error_ || chunk < error_chunk_) {
    error_ = std::current_exception();
    error_chunk_ = chunk;
  }
  failed_.store(true, std::memory_order_relaxed);
}

void Loop::wake_caller() noexcept {
  wakes_.fetch_add(1, std::memory_order_acq_rel);
  wakes_.notify_all();
}

void Loop::wait_for_chunks() noexcept {
  if (spin_until([this] { return finished(); }, 20)) return;
  // Asleep, it leaves its processor to a helper that another process has displaced.
  for (;;) {
    const uint32_t seen = wakes_.load(std::memory_order_acquire);
    if (finished()) return;
    wakes_.wait(seen, std::memory_order_acquire);
    if (failed()) continue;
    try {
      stop_point();
    } catch (...) {
      fail(-1);
    }
  }
}

void parallel_run(int64_t begin, int64_t end, int64_t grain,
                  FunctionRef<void(int64_t, int64_t)> fn) {
  grain = std::max<int64_t>(grain, 1);
  const int threads = t_inside ? 1 : num_threads();
  if (threads == 1) return run_in_pieces(begin, end, piece_of(grain), fn);
  const int64_t most = (end - begin - 1) / grain + 1;
  const int64_t chunks = std::min<int64_t>(most, int64_t{threads} * kChunksPerThread);
  auto loop = Ref<Loop>::make(begin, end, chunks, piece_of(grain), fn);
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

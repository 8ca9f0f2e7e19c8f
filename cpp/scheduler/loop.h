// SPDX-License-Identifier: Apache-2.0
// scheduler/loop.h: one parallel_for in progress.  Internal: parallel.cc runs it, stop
// points ask it.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

#include "base/function_ref.h"
#include "base/intrusive.h"

namespace pkg::detail {

/// Shared by the caller and its helpers.  A helper that comes after the last chunk was
/// taken touches only this, never the caller's stack.
class Loop final : public Intrusive {
 public:
  using Body = FunctionRef<void(int64_t, int64_t)>;
  /// Thrown by stop points of helpers when another chunk has failed; it is no error.
  struct Abandoned {};

  Loop(int64_t begin, int64_t end, int64_t chunks, int64_t piece, Body body)
      : begin_(begin), end_(end), chunks_(chunks), piece_(piece), body_(body) {}

  void help() noexcept;  // on a helper
  void work() noexcept;  // on the caller
  /// Only for chunks that somebody runs now; they wait for nothing but each other.
  void wait_for_chunks() noexcept;
  /// Taken out, so that a late helper does not destroy what the caller still reads.
  std::exception_ptr take_error() { return std::move(error_); }

  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// The caller may sleep; it has to ask whether all shall stop.
  void wake_caller() noexcept;

 private:
  bool finished() const { return done_.load(std::memory_order_acquire) == chunks_; }
  void run(int64_t chunk) noexcept;
  void fail(int64_t chunk) noexcept;

  const int64_t begin_, end_, chunks_, piece_;
  const Body body_;
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<uint32_t> wakes_{0};  // what the caller sleeps on
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  int64_t error_chunk_ = 0;
};

}  // namespace pkg::detail

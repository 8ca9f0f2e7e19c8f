// SPDX-License-Identifier: Apache-2.0
// scheduler/loop.h: one parallel_for in progress.  Internal: parallel.cc runs it, stop
// points ask it.
//
// Note [Shares]
// The chunks are dealt out in shares, one after the other in memory, the first for the
// caller, each next one for the next helper who comes.  So a thread meets the same part
// of a tensor in one loop after the other, which is then in its cache.  Who is through
// with his own share takes chunks from the end of the others': nobody waits for a helper
// who comes late, or never.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

#include "base/function_ref.h"
#include "base/intrusive.h"
#include "scheduler/block_cache.h"
#include "scheduler/pool.h"

namespace pkg::detail {

/// Shared by the caller and its helpers.  A helper that comes after the last chunk was
/// taken touches only this, never the caller's stack.
class Loop final : public Intrusive {
 public:
  using Body = FunctionRef<void(int64_t, int64_t)>;
  /// Thrown by stop points of helpers when an earlier chunk has failed; it is no error.
  struct Abandoned {};

  /// In chunks of `size`, the last one may be smaller, which are run in pieces.
  Loop(int64_t begin, int64_t end, int64_t size, int64_t piece, int threads, Body body);

  static void* operator new(std::size_t size);
  static void operator delete(void* memory) noexcept;

  /// What the pool shall run, one a helper.
  RunList helpers();
  void work() noexcept;  // on the caller
  /// Only for chunks that somebody runs now; they wait for nothing but each other.
  void wait_for_chunks() noexcept;
  /// Taken out, so that a late helper does not destroy what the caller still reads.
  std::exception_ptr take_error() { return std::move(error_); }

  /// Whether the chunk need not be run: an earlier one has failed, or all shall stop.  Those
  /// before the one that failed are run, as one of them may fail too.
  bool in_vain(int64_t chunk) const {
    return chunk > first_failed_.load(std::memory_order_relaxed);
  }
  /// The caller may sleep; it has to ask whether all shall stop.
  void wake_caller() noexcept;

 private:
  struct Helper final : Runnable {
    Loop* loop = nullptr;  // with a reference
    void run(bool) noexcept override;
    void drop() noexcept override { loop->release(); }
  };
  // The chunks [first, past) that nobody has taken: first << 32 | past.
  struct Share {
    std::atomic<uint64_t> left{0};
    char own_line[56];
  };
  static constexpr int kShares = 8;  // further helpers have none of their own

  void help() noexcept;
  int64_t take(Share& share, bool from_end) noexcept;  // negative: nothing left
  int64_t run_all(int own) noexcept;                   // how many
  void run(int64_t chunk) noexcept;
  void fail(int64_t chunk) noexcept;  // with the exception being handled
  bool finished() const { return done_.load(std::memory_order_acquire) == chunks_; }

  const int64_t begin_, end_, size_, piece_, chunks_;
  const int n_helpers_, n_shares_;
  const int processor_;  // where the caller runs
  const Body body_;
  std::array<Share, kShares> shares_;
  std::atomic<int> joined_{0};
  std::atomic<int64_t> done_{0};
  std::atomic<uint32_t> wakes_{0};     // what the caller sleeps on
  static constexpr int64_t kAll = -1;  // "failed" when all shall stop
  std::atomic<int64_t> first_failed_{INT64_MAX};
  std::mutex mutex_;
  std::exception_ptr error_;  // of first_failed_
  std::array<Helper, kShares - 1> few_;
  std::unique_ptr<Helper[]> many_;
};

/// Small batches, as few loops are under way at a time and any thread may end one.
using LoopMemory = BlockCache<sizeof(Loop), alignof(Loop), 4>;

}  // namespace pkg::detail

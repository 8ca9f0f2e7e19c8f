// SPDX-License-Identifier: Apache-2.0
// scheduler/parallel.cc: the chunks of a parallel_for and who runs them.
//
// Note [Pieces]
// A chunk may be a long piece of work, so it is run in pieces with a stop point between
// them.  Only the caller asks whether to stop; when it sleeps, helpers wake it now and then.
#include "scheduler/parallel.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "scheduler/loop.h"
#include "scheduler/runtime.h"
#include "scheduler/stop_point.h"

namespace pkg {
namespace {

constexpr int64_t kChunksPerThread = 8;  // evens out chunks that take unequal time
constexpr int64_t kPieceGrains = 64;     // of cheap work a millisecond or two
// Borders of chunks are where vectors of elements and cache lines begin, if there are
// enough elements for that.
constexpr int64_t kAligned = 64, kManyElements = 16 * kAligned;
// A sleeping worker is woken, which costs the caller a few microseconds and takes some
// tens of them, for so many grains of work: of one loop, or of loops that found none awake.
constexpr int64_t kWakeGrains = 8, kWakeGrainsOfSmall = 24;

constexpr int kWaitMicroseconds = 50;  // for the last chunks, before the caller sleeps

thread_local int64_t t_alone = 0;  // grains of loops that found no worker awake
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

int this_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// A thread that was woken on the processor of who woke it only takes turns with him, and
// the system may leave it there for long while other processes keep the rest busy.
void leave_processor([[maybe_unused]] int processor) {
#if defined(__linux__)
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof(before), &before) != 0) return;
  cpu_set_t others = before;
  CPU_CLR(size_t(processor), &others);
  if (CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(0, sizeof(others), &others) == 0) {
    sched_setaffinity(0, sizeof(before), &before);
  }
#endif
}

int64_t chunk_size(int64_t n, int64_t grain, int threads) {
  const int64_t wanted = int64_t{threads} * kChunksPerThread;
  const int64_t size = std::max((n - 1) / wanted + 1, std::min(grain, n));
  if (size < kManyElements || size > n / 2) return size;
  return (size + kAligned - 1) / kAligned * kAligned;
}

// Whether helpers are worth their cost for a loop of `n` elements.  With a grain of 1 an
// element may be any amount of work.
bool worth_helpers(const detail::Pool& pool, int64_t n, int64_t grain) {
  if (grain == 1 || pool.anybody_searches() || !pool.anybody_sleeps()) return true;
  const int64_t grains = n / grain;
  t_alone += std::min(grains, kWakeGrains);
  if (grains < kWakeGrains && t_alone < kWakeGrainsOfSmall) return false;
  t_alone = 0;
  return true;
}

}  // namespace

bool in_parallel_region() noexcept { return t_inside; }

namespace detail {

Loop::Loop(int64_t begin, int64_t end, int64_t size, int64_t piece, int threads, Body body)
    : begin_(begin),
      end_(end),
      size_(size),
      piece_(piece),
      chunks_((end - begin - 1) / size + 1),
      n_helpers_(int(std::min<int64_t>(threads, chunks_)) - 1),
      n_shares_(std::min(n_helpers_ + 1, kShares)),
      processor_(this_processor()),
      body_(body) {
  for (int i = 0; i < n_shares_; ++i) {
    const uint64_t first = uint64_t(chunks_ * i / n_shares_);
    const uint64_t past = uint64_t(chunks_ * (i + 1) / n_shares_);
    shares_[size_t(i)].left.store(first << 32 | past, std::memory_order_relaxed);
  }
}

void* Loop::operator new(std::size_t) { return LoopMemory::take(); }
void Loop::operator delete(void* memory) noexcept { LoopMemory::give(memory); }

RunList Loop::helpers() {
  if (n_helpers_ > int(few_.size())) many_ = std::make_unique<Helper[]>(size_t(n_helpers_));
  RunList list;
  for (int i = 0; i < n_helpers_; ++i) {
    Helper& helper = many_ ? many_[size_t(i)] : few_[size_t(i)];
    retain();
    helper.loop = this;
    list.push(&helper);
  }
  return list;
}

void Loop::Helper::run(bool) noexcept {
  Loop* const mine = loop;  // who releases it may destroy this
  mine->help();
  mine->release();
}

void Loop::help() noexcept {
  if (processor_ >= 0 && processor_ == this_processor()) leave_processor(processor_);
  t_stop_scope.helped = this;
  const int64_t ran = run_all((1 + joined_.fetch_add(1, std::memory_order_relaxed)) %
                              kShares);
  t_stop_scope.helped = nullptr;
  if (ran == 0) return;
  if (done_.fetch_add(ran, std::memory_order_acq_rel) + ran == chunks_) wake_caller();
}

void Loop::work() noexcept { done_.fetch_add(run_all(0), std::memory_order_acq_rel); }

int64_t Loop::take(Share& share, bool from_end) noexcept {
  uint64_t left = share.left.load(std::memory_order_relaxed);
  for (;;) {
    const uint64_t first = left >> 32, past = left & UINT32_MAX;
    if (first >= past) return -1;
    const uint64_t less = from_end ? first << 32 | (past - 1) : (first + 1) << 32 | past;
    if (share.left.compare_exchange_weak(left, less, std::memory_order_acq_rel)) {
      return int64_t(from_end ? past - 1 : first);
    }
  }
}

int64_t Loop::run_all(int own) noexcept {
  Inside inside;
  int64_t ran = 0;
  for (int i = 0; i < n_shares_; ++i) {
    Share& share = shares_[size_t((own + i) % n_shares_)];
    for (int64_t chunk; (chunk = take(share, i > 0)) >= 0; ++ran) {
      if (!in_vain(chunk)) run(chunk);
    }
  }
  return ran;
}

void Loop::run(int64_t chunk) noexcept {
  const int64_t from = begin_ + chunk * size_;
  const int64_t to = chunk + 1 == chunks_ ? end_ : from + size_;
  StopScope& scope = t_stop_scope;
  scope.chunk = chunk;
  scope.stopped = false;
  try {
    if (chunk != 0) stop_point();
    run_in_pieces(from, to, piece_, body_);
  } catch (const Abandoned&) {
  } catch (...) { fail(scope.stopped ? kAll : chunk); }
}

void Loop::fail(int64_t chunk) noexcept {
  std::lock_guard lock(mutex_);
  if (chunk >= first_failed_.load(std::memory_order_relaxed)) return;
  first_failed_.store(chunk, std::memory_order_relaxed);
  error_ = std::current_exception();
}

void Loop::wake_caller() noexcept {
  wakes_.fetch_add(1, std::memory_order_acq_rel);
  wakes_.notify_all();
}

void Loop::wait_for_chunks() noexcept {
  if (spin_until([this] { return finished(); }, kWaitMicroseconds)) return;
  // Asleep, it leaves its processor to a helper that another process has displaced.
  for (;;) {
    const uint32_t seen = wakes_.load(std::memory_order_acquire);
    if (finished()) return;
    wakes_.wait(seen, std::memory_order_acquire);
    if (in_vain(0)) continue;
    try {
      stop_point();
    } catch (...) { fail(kAll); }
  }
}

void parallel_run(int64_t begin, int64_t end, int64_t grain,
                  FunctionRef<void(int64_t, int64_t)> fn) {
  grain = std::max<int64_t>(grain, 1);
  const int threads = t_inside ? 1 : num_threads();
  if (threads == 1) return run_in_pieces(begin, end, piece_of(grain), fn);
  Pool& pool = runtime().pool;
  if (!worth_helpers(pool, end - begin, grain)) {
    return run_in_pieces(begin, end, piece_of(grain), fn);
  }
  const int64_t size = chunk_size(end - begin, grain, threads);
  auto loop = Ref<Loop>::make(begin, end, size, piece_of(grain), threads, fn);
  pool.push_all(loop->helpers(), false);
  loop->work();
  loop->wait_for_chunks();
  if (auto error = loop->take_error()) std::rethrow_exception(std::move(error));
}

}  // namespace detail
}  // namespace pkg

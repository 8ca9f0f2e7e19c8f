// SPDX-License-Identifier: Apache-2.0
// scheduler/trace.cc: see trace.h.
#include "scheduler/trace.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>

#include "base/error.h"
#include "scheduler/fork_locks.h"
#include "scheduler/hooks.h"
#include "scheduler/scheduler.h"
#include "scheduler/stream.h"

namespace pkg::trace {
namespace {

// Threads note into shards by their number, so that they do not meet.
constexpr size_t kShards = 16;
constinit std::array<std::mutex, kShards + 1> g_locks;  // of the shards; the last, of open
const pkg::detail::HeldOverFork g_trace_held{pkg::detail::ForkLock::Trace, g_locks};

struct Open {
  Options options;
  int64_t start;
  uint32_t thread;
  uint64_t noted_before, lost_before;
};
struct Log {
  std::array<std::vector<Span>, kShards> shards;  // under g_locks[i]
  std::map<uint64_t, Open> open;                  // under g_locks.back()
  uint64_t next = 1;
};
Log& log() {
  static Log* instance = new Log;
  return *instance;
}
Log* const g_made = &log();  // while the library is loaded: see Note [Locks and fork]

std::mutex& open_lock() { return g_locks.back(); }
constinit std::atomic<uint64_t> g_noted{0}, g_lost{0}, g_room{0};

struct Thread {
  uint32_t number;
  uint8_t kind;
};
const Thread& this_thread() {
  static constinit std::atomic<uint32_t> count{0};
  static thread_local const Thread mine{count.fetch_add(1) + 1,
                                        uint8_t(on_worker()            ? 2
                                                : gettid() == getpid() ? 1
                                                                       : 0)};
  return mine;
}

uint8_t bits_of(const Options& options) {
  return uint8_t(options.ops << int(Kind::Op) | options.tasks << int(Kind::Task) |
                 options.waits << int(Kind::Wait) | options.steps << int(Kind::Step) |
                 options.collectives << int(Kind::Collective) |
                 (options.shapes ? detail::kShapes : 0) |
                 (options.lines ? detail::kLines : 0));
}

// Under the lock of `open`.
void settle_wishes() {
  uint8_t bits = 0;
  uint64_t room = 0;
  for (const auto& [number, open] : log().open) {
    bits |= bits_of(open.options);
    room = std::max(room, open.noted_before + open.options.most);
  }
  g_room.store(room);
  detail::g_wanted.store(bits);
}

}  // namespace

int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

void note(Span&& span) noexcept {
  if (g_noted.fetch_add(1, std::memory_order_relaxed) >= g_room.load()) {
    g_lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  try {
    const Thread& thread = this_thread();
    span.thread = thread.number;
    span.thread_kind = thread.kind;
    const size_t shard = thread.number % kShards;
    std::lock_guard lock(g_locks[shard]);
    log().shards[shard].push_back(std::move(span));
  } catch (...) { g_lost.fetch_add(1, std::memory_order_relaxed); }
}

Timed::Timed(Kind kind) {
  span.kind = kind;
  if (detail::g_wanted.load(std::memory_order_relaxed) & detail::kLines)
    span.site = mark_site();
  span.stream = current_stream_number();
  span.start = now();
}

Timed::~Timed() {
  span.end = now();
  note(std::move(span));
}

uint64_t open(const Options& options) {
  PKG_CHECK(options.most > 0 && options.most <= uint64_t{1} << 40, ValueError,
            "[profile] expected 1 or more for max_events, got ", int64_t(options.most),
            ".");
  const uint32_t thread = this_thread().number;
  std::lock_guard lock(open_lock());
  Log& all = log();
  const uint64_t number = all.next++;
  all.open[number] = {options, now(), thread, g_noted.load(), g_lost.load()};
  settle_wishes();
  return number;
}

Found close(uint64_t number) {
  Found found;
  std::vector<Span> old;  // dies after the locks are given back
  std::lock_guard lock(open_lock());
  Log& all = log();
  const auto entry = all.open.find(number);
  if (entry == all.open.end()) {
    pkg::detail::raise<LookupError>("[profile] no trace with number ", number, " is open.");
  }
  const Open mine = entry->second;
  all.open.erase(entry);
  settle_wishes();
  const uint8_t kinds = bits_of(mine.options);
  int64_t first = INT64_MAX;  // that others still need
  for (const auto& [other, open] : all.open) first = std::min(first, open.start);
  const auto is_mine = [&](const Span& span) {
    return span.start >= mine.start && kinds >> int(span.kind) & 1 &&
           (!mine.options.this_thread || span.thread == mine.thread);
  };
  for (size_t shard = 0; shard < kShards; ++shard) {
    std::lock_guard own(g_locks[shard]);
    std::vector<Span>& spans = all.shards[shard];
    if (first == INT64_MAX) {
      std::vector<Span> taken = std::move(spans);
      spans = {};
      for (Span& span : taken) {
        if (is_mine(span)) found.spans.push_back(std::move(span));
      }
      continue;
    }
    for (const Span& span : spans) {
      if (is_mine(span)) found.spans.push_back(span);
    }
    std::erase_if(spans, [&](const Span& span) { return span.start < first; });
  }
  std::ranges::stable_sort(found.spans, {}, &Span::start);
  found.lost = g_lost.load() - mine.lost_before;
  if (found.spans.size() > mine.options.most) {
    found.lost += found.spans.size() - mine.options.most;
    found.spans.resize(mine.options.most);
  }
  for (Span& span : found.spans) {
    if (!mine.options.lines) span.site = 0, span.line.clear();
    if (!mine.options.shapes && span.kind == Kind::Op) span.detail.clear();
  }
  return found;
}

}  // namespace pkg::trace

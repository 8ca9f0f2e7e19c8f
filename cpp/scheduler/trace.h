// SPDX-License-Identifier: Apache-2.0
// scheduler/trace.h: what happened when, on which thread: spans of time that any layer
// notes while somebody wants them.
//
// Note [Traces]
// There is one log in the process.  Who opens a trace says which kinds of spans he wants; a
// span is noted if anybody wants its kind, and a trace that ends gets those that began and
// ended while it was open.  So traces of several threads, or one inside of another, do not
// disturb each other.  Each adds room for so many spans to the log; what finds no room is
// counted, and the log is empty when no trace is open.  A child of fork() goes on with the
// log as it was.  Where nobody wants a kind, asking is one load and one branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pkg::trace {

enum class Kind : uint8_t {
  Op,          ///< a call through the dispatcher
  Task,        ///< a task of the scheduler
  Wait,        ///< a thread that waits for a task
  Step,        ///< a kernel, or an operation, of a graph's run
  Collective,  ///< what this rank does for a tensor of a collective
};

struct Span {
  Kind kind = Kind::Op;
  uint8_t thread_kind = 0;     ///< 0: another, 1: the first of the process, 2: a worker
  uint32_t thread = 0;         ///< counts the threads that noted anything, from 1 on
  int64_t start = 0, end = 0;  ///< nanoseconds of the steady clock
  uint64_t stream = 0;         ///< its number; 0: none
  uint64_t site = 0;           ///< see scheduler/hooks.h
  uint64_t owner = 0;          ///< of a Step: the number of its node
  std::string name;            ///< of the op, or the task
  std::string detail;          ///< shapes of an Op, node of a Step, tensor of a Collective
  std::string line;            ///< "file:line", where there is no `site`
};

struct Options {
  bool ops = true, tasks = true, waits = true, steps = true, collectives = true;
  bool shapes = false;        ///< of tensors, for Ops
  bool lines = true;          ///< of Python
  bool this_thread = false;   ///< nothing of other threads
  uint64_t most = 1'000'000;  ///< spans
};

namespace detail {
inline constinit std::atomic<uint8_t> g_wanted{0};
inline constexpr uint8_t kShapes = 1 << 6, kLines = 1 << 7;
}  // namespace detail

/// Whether anybody wants spans of this kind now.
inline bool wanted(Kind kind) {
  return detail::g_wanted.load(std::memory_order_relaxed) >> int(kind) & 1;
}
inline bool wants_shapes() { return detail::g_wanted.load() & detail::kShapes; }

/// Nanoseconds of the steady clock.
int64_t now();

/// Notes a span, whose thread is this one.  Without memory it is counted as lost.
void note(Span&& span) noexcept;

/// A span that lasts as long as this object.
class Timed {
 public:
  explicit Timed(Kind kind);
  ~Timed();
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  Span span;
};

/// Opens a trace; its number.  ValueError for `most` of 0.
uint64_t open(const Options& options);
struct Found {
  std::vector<Span> spans;  ///< by start
  uint64_t lost = 0;        ///< how many had no room
};
/// Ends the trace.  LookupError where there is none of this number.
Found close(uint64_t number);

}  // namespace pkg::trace

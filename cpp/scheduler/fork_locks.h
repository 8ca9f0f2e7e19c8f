// SPDX-License-Identifier: Apache-2.0
// scheduler/fork_locks.h: the locks that fork() takes, so that the child, which has one
// thread, finds them free and what they guard consistent.  Internal.
//
// Note [Locks and fork]
// A child of fork() has a copy of every lock and none of the threads that may hold it: a
// lock that another thread held at that moment stays locked for ever.  So a lock is either
// of the runtime, which the child makes anew, or it is here: of the whole process, in the
// order below, or one of those that objects share by their address.  Who holds one takes
// only such that come later.  For the same reason what several threads use is no static of
// a function, made at the first use: its guard is a lock.  What is held while a library is
// loaded is not here: foreign code runs under it.
#pragma once

#include <mutex>
#include <span>

namespace pkg::detail {

/// Outermost first.
enum class ForkLock {
  RetainGrad,
  LeafHooks,
  RenewHistory,
  AsyncOrder,
  Registry,
  Streams,
  Objects,
  Runtime,
  Random,
  ThreadCaches,
  BlockPool,
  Making,
  Resources,
  Handles,
  Trace,
  Products,
};
inline constexpr int kForkLocks = int(ForkLock::Products) + 1;

/// Says of locks that live as long as the process that fork() shall take them at `order`.
/// Called once for each order, while the library is loaded.
struct HeldOverFork {
  HeldOverFork(ForkLock order, std::span<std::mutex> locks) noexcept;
  HeldOverFork(ForkLock order, std::mutex& lock) noexcept
      : HeldOverFork(order, std::span(&lock, 1)) {}
};

/// The lock for the few pointers of an object that threads exchange: objects share them,
/// so who holds one takes no second.
std::mutex& object_lock(const void* object) noexcept;

}  // namespace pkg::detail

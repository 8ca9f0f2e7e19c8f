// SPDX-License-Identifier: Apache-2.0
// scheduler/hooks.h: the places where an embedding language takes part: before and after
// a thread blocks, while it waits, when work is submitted and when a call is recorded.
// The binding sets them once; the scheduler calls them and knows no language.
#pragma once

#include <cstdint>
#include <string>

namespace pkg {

/// Every hook may be null.  `enter_blocking` and `leave_blocking` must not throw and
/// must cope with a thread that does not hold the language's lock (return null then):
/// regions nest, and workers enter them too.
struct Hooks {
  void* (*enter_blocking)() = nullptr;           ///< gives up the interpreter lock
  void (*leave_blocking)(void*) = nullptr;       ///< takes it back
  void (*check_interrupt)() = nullptr;           ///< takes the lock itself; throws to stop
  uint64_t (*mark_site)() = nullptr;             ///< the running code as a number, or 0
  std::string (*site_text)(uint64_t) = nullptr;  ///< "file:line" of such a number
  void (*worker_ends)() = nullptr;  ///< on a worker, when all else of it is done
};

/// Replaces the hooks of the process.
void set_hooks(const Hooks& hooks);

/// Runs the interrupt hook; it throws when the wait in progress shall end.
void check_interrupt();

/// Tells the hook that this thread, a worker, ends.
void worker_ends() noexcept;

/// Where the embedding language stands now, outside of this package, as a number that
/// costs nanoseconds to take; 0 when unknown.
uint64_t mark_site();
/// "file:line" of a number from mark_site(); "" for 0.
std::string site_text(uint64_t site);
/// Both at once.
inline std::string call_site() { return site_text(mark_site()); }

/// While it lives, the thread may block without holding the interpreter lock.
class BlockingRegion {
 public:
  BlockingRegion() noexcept;
  ~BlockingRegion();
  BlockingRegion(const BlockingRegion&) = delete;
  BlockingRegion& operator=(const BlockingRegion&) = delete;

 private:
  const Hooks* hooks_;  // leave through the table that was entered
  void* token_ = nullptr;
};

}  // namespace pkg

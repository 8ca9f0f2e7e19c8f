// SPDX-License-Identifier: Apache-2.0
// scheduler/hooks.h: the four places where an embedding language takes part: before and
// after a thread blocks, while it waits, and when work is submitted.  The binding sets
// them once; the scheduler calls them and knows no language.
#pragma once

#include <string>

namespace pkg {

/// Every hook may be null.  `enter_blocking` and `leave_blocking` must not throw and
/// must cope with a thread that does not hold the language's lock (return null then):
/// regions nest, and workers enter them too.
struct Hooks {
  void* (*enter_blocking)() = nullptr;      ///< gives up the interpreter lock
  void (*leave_blocking)(void*) = nullptr;  ///< takes it back
  void (*check_interrupt)() = nullptr;      ///< takes the lock itself; throws to stop
  std::string (*call_site)() = nullptr;     ///< "file:line" of the running code, or ""
};

/// Replaces the hooks of the process.
void set_hooks(const Hooks& hooks);

/// Runs the interrupt hook; it throws when the wait in progress shall end.
void check_interrupt();

/// Where the embedding language stands now: "file:line", or "".
std::string call_site();

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

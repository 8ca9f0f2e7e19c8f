// SPDX-License-Identifier: Apache-2.0
// collectives/settling.h: how the engine ends the events that others wait for.
#pragma once

#include <exception>
#include <string>

#include "collectives/error.h"
#include "scheduler/event.h"

namespace pkg::collectives {

inline constexpr const char* kShutDown =
    "Horovod has been shut down. This was caused by an exception on one of the ranks or "
    "an attempt to allreduce, allgather or broadcast a tensor after one of the ranks "
    "finished execution. If the shutdown was caused by an exception, you should see the "
    "exception in the log before the first shutdown message.";

// It may have been cancelled by somebody meanwhile.
inline void settle(const Ref<ManualEvent>& event, const std::exception_ptr& error) {
  if (!event || event->done()) return;
  try {
    if (error) event->set_error(error);
    else event->set();
  } catch (const Error&) {  // cancelled between the two
  }
}

inline std::exception_ptr failure(const std::string& text) {
  CollectiveError error(text);
  error.settle();  // several tensors may share it
  return std::make_exception_ptr(error);
}

inline std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) { return e.what(); } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace pkg::collectives

// SPDX-License-Identifier: Apache-2.0
// scheduler/failure.h: what events share: the error of the work that failed first, and
// where work was submitted.
#pragma once

#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "base/intrusive.h"

namespace pkg::detail {

/// What went wrong, shared by the task that failed and all it poisoned.
struct Failure final : Intrusive {
  Failure(std::exception_ptr error, const char* name, std::string call_site,
          bool cancelled = false)
      : error(std::move(error)),
        name(name),
        call_site(std::move(call_site)),
        cancelled(cancelled) {}
  const std::exception_ptr error;
  const char* const name;
  const std::string call_site;
  const bool cancelled;
  std::atomic<bool> seen{false};

  /// Somebody has the error now: no log keeps it any longer.
  void note_seen() noexcept;
};

/// The "file:line" that submitted work, shared with the work that it submits itself.
struct CallSite final : Intrusive {
  explicit CallSite(std::string text) noexcept : text(std::move(text)) {}
  /// Null for "".
  static Ref<CallSite> of(std::string text) {
    return text.empty() ? nullptr : Ref<CallSite>::make(std::move(text));
  }
  const std::string text;
};

}  // namespace pkg::detail

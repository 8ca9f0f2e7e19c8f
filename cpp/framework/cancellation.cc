// SPDX-License-Identifier: Apache-2.0
// framework/cancellation.cc: see cancellation.h.
#include "framework/cancellation.h"

#include <utility>

#include "scheduler/hooks.h"

namespace pkg::framework {

CancellationToken CancellationManager::get_cancellation_token() {
  std::lock_guard lock(mutex_);
  return next_++;
}

bool CancellationManager::RegisterCallback(CancellationToken token,
                                           CancelCallback callback) {
  std::lock_guard lock(mutex_);
  if (cancelled_) return false;
  callbacks_[token] = std::move(callback);
  return true;
}

bool CancellationManager::DeregisterCallback(CancellationToken token) {
  if (TryDeregisterCallback(token)) return true;
  BlockingRegion others_may_run;
  std::unique_lock lock(mutex_);
  called_.wait(lock, [this] { return !calling_; });
  return false;
}

bool CancellationManager::TryDeregisterCallback(CancellationToken token) {
  std::lock_guard lock(mutex_);
  if (cancelled_) return false;
  callbacks_.erase(token);
  return true;
}

bool CancellationManager::IsCancelled() const {
  std::lock_guard lock(mutex_);
  return cancelled_;
}

void CancellationManager::StartCancel() {
  std::map<CancellationToken, CancelCallback> all;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(cancelled_, true)) return;
    calling_ = true;
    all.swap(callbacks_);
  }
  for (auto& [token, callback] : all) {
    try {
      callback();
    } catch (...) {}  // the call has its error already, and the others are to be told
  }
  all.clear();
  std::lock_guard lock(mutex_);
  calling_ = false;
  called_.notify_all();
}

}  // namespace pkg::framework

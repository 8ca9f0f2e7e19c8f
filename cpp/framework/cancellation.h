// SPDX-License-Identifier: Apache-2.0
// framework/cancellation.h: who is told when nobody wants the results of a call any more.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace pkg::framework {

using CancellationToken = int64_t;
using CancelCallback = std::function<void()>;

/// Of one call of an asynchronous kernel.  It is cancelled when the call is waited for no
/// longer: after Ctrl-C, a timeout, or the end of its session.
class CancellationManager {
 public:
  static constexpr CancellationToken kInvalidToken = -1;

  /// A number that no other callback has.
  CancellationToken get_cancellation_token();
  /// False if it has been cancelled: then `callback` is never called.  Else it is called
  /// once if that happens, on the thread that cancels.
  bool RegisterCallback(CancellationToken token, CancelCallback callback);
  /// Whether the callback was taken out in time.  If not, it has run when this returns; so a
  /// callback cannot call this, nor may who calls it hold a lock that the callback takes.
  bool DeregisterCallback(CancellationToken token);
  /// The same without waiting.
  bool TryDeregisterCallback(CancellationToken token);
  bool IsCancelled() const;
  /// Calls what is registered, without a lock.  What a callback throws is dropped.
  void StartCancel();

 private:
  mutable std::mutex mutex_;
  std::condition_variable called_;
  CancellationToken next_ = 0;
  bool cancelled_ = false, calling_ = false;
  std::map<CancellationToken, CancelCallback> callbacks_;
};

}  // namespace pkg::framework

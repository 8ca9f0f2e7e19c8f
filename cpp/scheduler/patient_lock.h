// SPDX-License-Identifier: Apache-2.0
// scheduler/patient_lock.h: taking a lock under which code of others runs.  Who holds it may
// need the interpreter lock to go on, so who waits for it gives that one up.
#pragma once

#include <mutex>

#include "scheduler/hooks.h"

namespace pkg::detail {

template <class Mutex>
std::unique_lock<Mutex> patient_lock(Mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) {
    BlockingRegion others_may_run;
    lock.lock();
  }
  return lock;
}

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
// shared/device.h: the device that the samples pretend to have.  The articles simulate
// work by sleeping in a worker.  Work on a real device occupies no CPU thread, so here one
// thread serves all that is "running" on it.
#pragma once

#include "scheduler/event.h"

namespace stages {

/// Sets `event`, unless it is finished before, when `seconds` have passed; with PKG_ASYNC=0
/// before it returns.
void finish_after(double seconds, pkg::Ref<pkg::ManualEvent> event);

}  // namespace stages

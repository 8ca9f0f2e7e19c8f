// SPDX-License-Identifier: Apache-2.0
// dispatcher/outside_work.h: work on tensors that is done by something else than a kernel on
// the pool, and takes its place in the order of the calls all the same.
#pragma once

#include <span>
#include <vector>

#include "scheduler/event.h"
#include "tensor/tensor.h"

namespace pkg {

/// Work that will be finished with `done` reads `inputs` and writes `outputs`, which nobody
/// else has yet: calls that come later wait for it as they would for a kernel.  Returns what
/// it has to wait for itself; null inputs and outputs are skipped.
std::vector<Ref<Event>> enter_outside_work(const Ref<Event>& done,
                                           std::span<const Tensor> inputs,
                                           std::span<const Tensor> outputs);

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// collectives/job.h: one submitted tensor of this rank, from the call until its result.
#pragma once

#include <vector>

#include "collectives/request.h"
#include "scheduler/event.h"
#include "tensor/tensor.h"

namespace pkg::collectives {

struct Job final : Intrusive {
  Job(Request asked, Tensor from, Tensor to)
      : request(std::move(asked)),
        input(std::move(from)),
        output(std::move(to)),
        event(Ref<ManualEvent>::make(name_of(request.kind), request.site)) {}

  Request request;
  Tensor input;   ///< row-major; undefined where there is none
  Tensor output;  ///< row-major; undefined until its shape is known
  Tensor splits;  ///< Alltoall: rows from each rank
  Ref<ManualEvent> event;
  bool in_turn = false;  ///< it may come after another one of its name
  // Note [In turn] in engine.cc: under the engine's lock.
  std::vector<std::vector<Ref<Job>>> followers;  ///< calls that come after this job
  size_t awaited = 1;    ///< of the first job of a call: its inputs, and jobs before it
  bool refusal = false;  ///< of a wrong call: nobody waits for it, and others may follow
  uint64_t session = 0;  ///< in which it was submitted
  uint64_t number = 0;   ///< of the job on this rank, in the order of the calls
};

/// The bytes of a row-major tensor, whether or not work on it is pending.
inline char* bytes_of(const Tensor& tensor) {
  return static_cast<char*>(tensor.storage().data()) +
         tensor.offset() * itemsize(tensor.dtype());
}

}  // namespace pkg::collectives

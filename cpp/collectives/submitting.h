// SPDX-License-Identifier: Apache-2.0
// collectives/submitting.h: from the arguments of an op to jobs of the engine.
#pragma once

#include "collectives/engine.h"

namespace pkg::collectives {

/// A request for this tensor, named by the caller or by number, with the Python line.
Request request_for(Kind kind, const Tensor& tensor, const std::string& name);

/// ValueError or NotImplementedError unless tensors of this dtype can be reduced so.
void set_reduction(Request& request, int64_t op, double prescale, double postscale);

/// The job; its input is the tensor itself where nobody can change it meanwhile, else a
/// copy.
Ref<Job> job_for(Request request, const Tensor& tensor, Tensor output);

/// Submits them, all or none.  Those that have their results already are pending then; their
/// events are the writers.
void submit_jobs(std::span<const Ref<Job>> jobs);

/// RuntimeError unless a tensor has a first dimension.
void check_rows(Kind kind, const Shape& sizes);

}  // namespace pkg::collectives

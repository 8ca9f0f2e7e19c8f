// SPDX-License-Identifier: Apache-2.0
// collectives/submitting.h: from the arguments of an op to jobs of the engine.
#pragma once

#include "collectives/engine.h"

namespace pkg::collectives {

// Note [What only one rank can see to be wrong]
// A rank that refuses a call will not submit its tensors, for which the others wait.  So it
// submits refusals in their place: requests that say why it cannot take part, and fail on all
// ranks when they come together.  A call takes its name, or number, before anything is
// checked: so the ranks stay together whatever is wrong.  The next call of that name may come
// before the others have heard of the refusal.

/// The size of a group that cannot be counted, or is empty: such a call can be refused only.
inline constexpr int32_t kUncounted = -1;
inline int32_t group_of(const TensorList& tensors) {
  return tensors.empty() ? kUncounted : int32_t(tensors.size());
}

/// A call of a collective on this rank: of one tensor, or of a group of them.
class Call {
 public:
  /// The errors of Engine::place().
  Call(Kind kind, const std::string& name, int32_t group = 0);

  const Place& place() const { return place_; }
  /// For this tensor, the i-th of the group.
  Request request(const Tensor& tensor, size_t i = 0) const;
  /// Submits all of them, or none.  Those that have their results already are pending then;
  /// their events are the writers.
  void submit(std::span<const Ref<Job>> jobs);
  /// Tells the other ranks, unless it was submitted.
  void refuse(const std::string& why) noexcept;

 private:
  const Place place_;
  Request base_;
  const int32_t group_;  // 0: none
  bool submitted_ = false;
};

/// Runs f(call), whose error the other ranks get, too, if nothing was submitted before it.
template <class F>
auto as_call(Kind kind, const std::string& name, int32_t group, F f) {
  Call call(kind, name, group);
  try {
    return f(call);
  } catch (const Error& error) {
    call.refuse(error.what());
    throw;
  }
}

/// Whether this was told last of an error on this thread, so that nobody need tell it again;
/// forgets it.
bool take_told(const std::string& why);

/// ValueError or NotImplementedError unless tensors of this dtype can be reduced so.
void set_reduction(Request& request, int64_t op, double prescale, double postscale);

/// The job; its input is the tensor itself where nobody can change it meanwhile, else a
/// copy.
Ref<Job> job_for(Request request, const Tensor& tensor, Tensor output);

/// RuntimeError unless a tensor has a first dimension.
void check_rows(Kind kind, const Shape& sizes);

}  // namespace pkg::collectives

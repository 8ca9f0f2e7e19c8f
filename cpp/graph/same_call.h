// SPDX-License-Identifier: Apache-2.0
// graph/same_call.h: calls of a plan that give what another one has given.
#pragma once

#include <unordered_map>

#include "graph/plan.h"

namespace pkg::graph {

/// The steps by what they compute.  Of a plan of which no step writes to its arguments:
/// there two calls of one op with the same arguments have the same results.
class CallTable {
 public:
  /// The number of the step that calls `op` with these arguments; -1 if there is none.
  int64_t find(const std::vector<Step>& steps, const Operator& op,
               std::span<const Value> args) const;
  void add(const Step& step, size_t number);

 private:
  std::unordered_multimap<size_t, size_t> steps_;  // by hash
};

}  // namespace pkg::graph

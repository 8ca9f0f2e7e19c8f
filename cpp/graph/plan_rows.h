// SPDX-License-Identifier: Apache-2.0
// graph/plan_rows.h: a plan as rows of words, for pictures.
#pragma once

#include <string>
#include <vector>

#include "graph/plan.h"

namespace pkg::graph {

/// Rows of words, the first of which says what the row is:
///   plan    bytes of the slab, estimated nanoseconds of a run
///   buffer  kind, bytes, first step, last step, offset in the slab; in their order.  One
///           that no step uses has a first step behind the last one
///   step    label_of(), name of the node (of a fused step the last), number of the node,
///           buffers that it reads, that it writes; in their order
std::vector<std::vector<std::string>> rows_of(const Plan& plan);
/// What rows call a step: its op, or those of a fused step with + between them.
std::string label_of(const Step& step);

/// A number of a node that no other node has while it lives.
inline uint64_t number_of(const Node& node) { return reinterpret_cast<uintptr_t>(&node); }

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// graph/record.h: calls that become nodes because of where they are made.
#pragma once

#include "dispatcher/dispatcher.h"
#include "graph/graph.h"

namespace pkg::graph {

enum class TraceKind : uint8_t {
  Plain,
  Body,  ///< of control_flow.h: symbols of other graphs are captured
};

/// From here to end_trace() every call of this thread becomes a node of the graph, those
/// without symbols too: what makes tensors, and random numbers.  The first gets `name`.
void begin_trace(Graph& graph, std::string name = "", TraceKind kind = TraceKind::Plain);
/// What stands for a symbol in a body that this thread builds; the symbol itself if it is one
/// of the body.  Where the last trace that began is of this graph and has a name left, what is
/// made gets it.
Tensor capture(Graph& body, const Tensor& symbol);
/// RuntimeError unless this graph was the last for which this thread began.
void end_trace(Graph& graph);

/// The results of a call that became this node.
void push_symbols(Node& node, Stack& stack);

}  // namespace pkg::graph

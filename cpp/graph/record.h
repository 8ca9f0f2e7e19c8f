// SPDX-License-Identifier: Apache-2.0
// graph/record.h: calls that become nodes because of where they are made.
#pragma once

#include "dispatcher/dispatcher.h"
#include "graph/graph.h"

namespace pkg::graph {

/// From here to end_trace() every call of this thread becomes a node of the graph, those
/// without symbols too: what makes tensors, and random numbers.  The first gets `name`.
/// With `body` the graph is one (control_flow.h): calls with symbols of other graphs are its
/// nodes, too, and these symbols are captured.
void begin_trace(Graph& graph, std::string name = "", bool body = false);
/// What stands for a symbol in a body that this thread builds; the symbol itself if it is one
/// of the body.
Tensor capture(Graph& body, const Tensor& symbol);
/// RuntimeError unless this graph was the last for which this thread began.
void end_trace(Graph& graph);

/// The results of a call that became this node.
void push_symbols(Node& node, Stack& stack);

}  // namespace pkg::graph

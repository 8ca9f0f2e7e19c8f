// SPDX-License-Identifier: Apache-2.0
// graph/control_flow.h: loops and choices whose parts are graphs of their own.
//
// Note [Bodies]
// A body is a graph that is run as a part of another one, once or many times.  What it uses
// of the graph around it is captured while it is built (record.h): a variable by a variable
// that stands for it, so that every turn sees what was assigned before; any other symbol by a
// placeholder that the node around passes on.  Each run has a plan of its own, or calls its
// ops one by one where gradients are recorded or variables are assigned; so gradients of
// loops and choices are the engine's, like all others.
//
// Note [Kept bodies]
// What kernels of a body keep belongs to the session that runs it, as all that they keep
// does (framework/node_kernels.h).  So a session has what runs such a body for itself; of
// all other bodies the sessions of a graph share the plans.
#pragma once

#include "graph/graph.h"

namespace pkg::graph {

struct Body {
  Ref<Graph> graph;
  std::vector<Edge> inputs;  ///< placeholders, for the values that it is given
  std::vector<Edge> outputs;
  std::vector<Node*> targets;  ///< which run besides
};

/// While `condition`, one bool, holds, `body` gives the next values from the ones before.
/// What it gives beyond these is collected: of each such output the node gives all turns'
/// tensors as one, along a new first dimension.  So a loop that makes a part of its result
/// in each turn need not copy what is there already.
/// ValueError where their number or dtypes do not fit.
Node& add_while(Graph& graph, std::string name, Body condition, Body body,
                const TensorList& values);

/// What one of the two gives: both have no inputs and as many outputs of the same dtypes.
Node& add_cond(Graph& graph, std::string name, const Tensor& predicate, Body if_true,
               Body if_false);

}  // namespace pkg::graph

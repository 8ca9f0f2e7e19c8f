// SPDX-License-Identifier: Apache-2.0
// graph/describe.h: the arguments of a node as data, for what writes a graph to a file.
#pragma once

#include "graph/graph.h"

namespace pkg::graph {

/// JSON: a list of [name, value] in the order of the schema.  Null, bools, ints, floats
/// (always with a point or an exponent), strings and lists of them stand for themselves;
/// besides there are
///   {"float": "inf"}, "-inf" and "nan"
///   {"dtype": "float32"} and {"device": "cpu"}
///   {"input": i}        the i-th of the node's inputs
///   {"tensor": i}       the i-th of captured(node)
///   {"number": 2.5}     a number in the place of a tensor
///   {"operation": "w"}  the variable of an Assign
///   {"symbol": "x:0"}   what a node of a body that was captured stands for
std::string arguments_text(const Node& node);

/// The tensors with values among the arguments, and the value of a node that has one.
TensorList captured(const Node& node);

}  // namespace pkg::graph

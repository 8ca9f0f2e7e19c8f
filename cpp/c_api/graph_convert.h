// SPDX-License-Identifier: Apache-2.0
// c_api/graph_convert.h: handles and arrays of C as graphs, nodes, symbols and tensors.
#pragma once

#include "c_api/boundary.h"
#include "graph/session.h"

namespace pkg::c {

inline graph::Graph& graph_of(const char* function, pkg_graph* handle) {
  PKG_CHECK(handle, TypeError, "[", function, "] expected a graph, got NULL.");
  return *reinterpret_cast<graph::Graph*>(handle);
}
inline graph::Node& node_of(const char* function, const pkg_operation* handle) {
  PKG_CHECK(handle, TypeError, "[", function, "] expected an operation, got NULL.");
  return *reinterpret_cast<graph::Node*>(const_cast<pkg_operation*>(handle));
}
inline graph::Session& session_of(const char* function, pkg_session* handle) {
  PKG_CHECK(handle, TypeError, "[", function, "] expected a session, got NULL.");
  return *reinterpret_cast<graph::Session*>(handle);
}
inline graph::Callable& callable_of(const char* function, pkg_callable* handle) {
  PKG_CHECK(handle, TypeError, "[", function, "] expected a callable, got NULL.");
  return *reinterpret_cast<graph::Callable*>(handle);
}
inline pkg_operation* handle_of(const graph::Node* node) {
  return reinterpret_cast<pkg_operation*>(const_cast<graph::Node*>(node));
}
inline std::string text_or_empty(const char* text) { return text ? text : ""; }

inline graph::OutputSpec spec_of(const char* function, pkg_dtype dtype,
                                 const int64_t* sizes, int32_t ndim) {
  graph::OutputSpec spec{dtype_of_code(function, dtype), ndim >= 0, {}};
  PKG_CHECK(sizes || ndim <= 0, TypeError, "[", function, "] expected ", ndim,
            " sizes, got NULL.");
  for (int32_t d = 0; d < ndim; ++d) {
    PKG_CHECK(sizes[d] >= -1, ValueError, "[", function,
              "] expected sizes from 0 on, or -1 for one that is not known, got ", sizes[d],
              ".");
    spec.sizes.push_back(sizes[d]);
  }
  return spec;
}

// Tensors of an array; NULL entries are undefined tensors, where that is allowed.
inline TensorList tensors_of(const char* function, const char* parameter,
                             pkg_tensor* const* handles, size_t n, bool or_none = false) {
  PKG_CHECK(handles || n == 0, TypeError, "[", function, "] ", parameter, ": expected ", n,
            " tensors, got NULL.");
  TensorList tensors;
  for (size_t i = 0; i < n; ++i) {
    tensors.push_back(or_none ? borrow(handles[i])
                              : required(function, parameter, handles[i]));
  }
  return tensors;
}

inline std::vector<graph::Edge> edges_of(const char* function, const char* parameter,
                                         const graph::Graph& graph,
                                         pkg_tensor* const* handles, size_t n) {
  std::vector<graph::Edge> edges;
  for (const Tensor& tensor : tensors_of(function, parameter, handles, n)) {
    edges.push_back(graph::edge_in(graph, function, tensor));
  }
  return edges;
}

inline std::vector<graph::Node*> nodes_of(const char* function,
                                          pkg_operation* const* handles, size_t n) {
  PKG_CHECK(handles || n == 0, TypeError, "[", function, "] expected ", n,
            " operations, got NULL.");
  std::vector<graph::Node*> nodes;
  for (size_t i = 0; i < n; ++i) nodes.push_back(&node_of(function, handles[i]));
  return nodes;
}

}  // namespace pkg::c

// SPDX-License-Identifier: Apache-2.0
// c_api/graph.cc: graphs and sessions for C.
#include "c_api/graph_convert.h"
#include "graph/describe.h"
#include "graph/record.h"

using namespace pkg;
using namespace pkg::c;
using graph::Edge;
using graph::Node;

extern "C" {

pkg_graph* pkg_graph_new(pkg_status* status) {
  return guarded<pkg_graph*>(status, nullptr, [] {
    return reinterpret_cast<pkg_graph*>(Ref<graph::Graph>::make().detach());
  });
}

void pkg_graph_delete(pkg_graph* handle) {
  if (!handle) return;
  guarded(nullptr, false, [&] {
    const auto graph = Ref<graph::Graph>::adopt(reinterpret_cast<graph::Graph*>(handle));
    graph->close();
    return true;
  });
}

pkg_operation* pkg_graph_placeholder(pkg_graph* handle, const char* name, pkg_dtype dtype,
                                     const int64_t* sizes, int32_t ndim, pkg_tensor* value,
                                     pkg_status* status) {
  return guarded<pkg_operation*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of("pkg_graph_placeholder", handle);
    return handle_of(&graph.placeholder(
        text_or_empty(name), spec_of("pkg_graph_placeholder", dtype, sizes, ndim),
        borrow(value)));
  });
}

pkg_operation* pkg_graph_constant(pkg_graph* handle, const char* name, pkg_tensor* value,
                                  pkg_status* status) {
  return guarded<pkg_operation*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of("pkg_graph_constant", handle);
    return handle_of(&graph.constant(text_or_empty(name),
                                     required("pkg_graph_constant", "value", value)));
  });
}

pkg_operation* pkg_graph_variable(pkg_graph* handle, const char* name, pkg_dtype dtype,
                                  const int64_t* sizes, int32_t ndim, pkg_status* status) {
  return guarded<pkg_operation*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of("pkg_graph_variable", handle);
    return handle_of(&graph.variable(text_or_empty(name),
                                     spec_of("pkg_graph_variable", dtype, sizes, ndim)));
  });
}

pkg_operation* pkg_graph_assign(pkg_graph* handle, const char* name,
                                pkg_operation* variable, pkg_tensor* value,
                                pkg_status* status) {
  return guarded<pkg_operation*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of("pkg_graph_assign", handle);
    return handle_of(&graph.assign(text_or_empty(name),
                                   node_of("pkg_graph_assign", variable),
                                   required("pkg_graph_assign", "value", value)));
  });
}

pkg_operation* pkg_graph_call(pkg_graph* handle, const char* name, const pkg_op* op_handle,
                              const pkg_arg* args, size_t n_args, pkg_status* status) {
  return guarded<pkg_operation*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of("pkg_graph_call", handle);
    const Operator& op = required("pkg_graph_call", op_handle);
    PKG_CHECK(args || n_args == 0, TypeError, "[pkg_graph_call] expected ", n_args,
              " arguments, got NULL.");
    std::vector<Value> values(op.schema.arguments.size());
    bind_arguments(op, std::span(args, n_args), values);
    return handle_of(&graph.call(text_or_empty(name), op, values));
  });
}

pkg_operation* pkg_graph_gradients(pkg_graph* handle, const char* name,
                                   pkg_tensor* const* ys, pkg_tensor* const* grad_ys,
                                   size_t n_ys, pkg_tensor* const* xs, size_t n_xs,
                                   pkg_tensor* const* stops, size_t n_stops,
                                   pkg_status* status) {
  constexpr const char* function = "pkg_graph_gradients";
  return guarded<pkg_operation*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of(function, handle);
    TensorList grads;
    if (grad_ys) grads = tensors_of(function, "grad_ys", grad_ys, n_ys, true);
    return handle_of(&graph.gradients(text_or_empty(name),
                                      tensors_of(function, "ys", ys, n_ys), grads,
                                      tensors_of(function, "xs", xs, n_xs),
                                      tensors_of(function, "stops", stops, n_stops)));
  });
}

pkg_operation* pkg_graph_group(pkg_graph* handle, const char* name,
                               pkg_operation* const* controls, size_t n,
                               pkg_status* status) {
  return guarded<pkg_operation*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of("pkg_graph_group", handle);
    return handle_of(
        &graph.group(text_or_empty(name), nodes_of("pkg_graph_group", controls, n)));
  });
}

bool pkg_graph_set_scope(pkg_graph* handle, const char* prefix,
                         pkg_operation* const* controls, size_t n_controls,
                         const char* device, pkg_status* status) {
  return guarded(status, false, [&] {
    graph::Graph& graph = graph_of("pkg_graph_set_scope", handle);
    std::vector<Node*> nodes = nodes_of("pkg_graph_set_scope", controls, n_controls);
    for (const Node* node : nodes) {
      PKG_CHECK(&node->graph == &graph, ValueError, "[pkg_graph_set_scope] ", node->name,
                " is not an element of this graph.");
    }
    graph.set_scope({text_or_empty(prefix), std::move(nodes), text_or_empty(device)});
    return true;
  });
}

bool pkg_graph_begin_trace(pkg_graph* handle, const char* name, pkg_status* status) {
  return guarded(status, false, [&] {
    graph::begin_trace(graph_of("pkg_graph_begin_trace", handle), text_or_empty(name));
    return true;
  });
}
bool pkg_graph_end_trace(pkg_graph* handle, pkg_status* status) {
  return guarded(status, false, [&] {
    graph::end_trace(graph_of("pkg_graph_end_trace", handle));
    return true;
  });
}

bool pkg_graph_finalize(pkg_graph* handle, pkg_status* status) {
  return guarded(status, false, [&] {
    graph_of("pkg_graph_finalize", handle).finalize();
    return true;
  });
}
bool pkg_graph_is_finalized(const pkg_graph* handle) {
  return handle && reinterpret_cast<const graph::Graph*>(handle)->finalized();
}
int64_t pkg_graph_version(const pkg_graph* handle) {
  return handle ? reinterpret_cast<const graph::Graph*>(handle)->version() : -1;
}

pkg_operation* pkg_graph_find(pkg_graph* handle, const char* name) {
  return guarded<pkg_operation*>(nullptr, nullptr, [&] {
    return handle_of(graph_of("pkg_graph_find", handle).find(text_or_empty(name)));
  });
}

size_t pkg_graph_operations(pkg_graph* handle, pkg_operation** operations,
                            size_t capacity) {
  return guarded<size_t>(nullptr, 0, [&] {
    const auto nodes = graph_of("pkg_graph_operations", handle).nodes();
    for (size_t i = 0; operations && i < std::min(capacity, nodes.size()); ++i) {
      operations[i] = handle_of(nodes[i]);
    }
    return nodes.size();
  });
}

size_t pkg_graph_unique_name(pkg_graph* handle, const char* name, bool mark, char* text,
                             size_t capacity) {
  return write_text(text, capacity, [&] {
    return graph_of("pkg_graph_unique_name", handle).unique_name(text_or_empty(name), mark);
  });
}

bool pkg_graph_connected(pkg_graph* handle, pkg_tensor* y, pkg_tensor* x,
                         pkg_tensor* const* stops, size_t n_stops, pkg_status* status) {
  constexpr const char* function = "pkg_graph_connected";
  return guarded(status, false, [&] {
    const graph::Graph& graph = graph_of(function, handle);
    return graph.connected(graph::edge_in(graph, function, required(function, "y", y)),
                           graph::edge_in(graph, function, required(function, "x", x)),
                           edges_of(function, "stops", graph, stops, n_stops));
  });
}

size_t pkg_operation_name(const pkg_operation* operation, char* text, size_t capacity) {
  return write_text(text, capacity,
                    [&] { return node_of("pkg_operation_name", operation).name; });
}
size_t pkg_operation_type(const pkg_operation* operation, char* text, size_t capacity) {
  return write_text(text, capacity,
                    [&] { return node_of("pkg_operation_type", operation).type(); });
}
size_t pkg_operation_device(const pkg_operation* operation, char* text, size_t capacity) {
  return write_text(text, capacity,
                    [&] { return node_of("pkg_operation_device", operation).device; });
}
size_t pkg_operation_site(const pkg_operation* operation, char* text, size_t capacity) {
  return write_text(text, capacity,
                    [&] { return node_of("pkg_operation_site", operation).call_site(); });
}

size_t pkg_operation_n_outputs(const pkg_operation* operation) {
  return operation ? node_of("pkg_operation_n_outputs", operation).outputs.size() : 0;
}

pkg_tensor* pkg_operation_output(const pkg_operation* operation, size_t index,
                                 pkg_status* status) {
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    Node& node = node_of("pkg_operation_output", operation);
    return own(node.graph.symbol({&node, uint32_t(index)}));
  });
}

int32_t pkg_operation_output_shape(const pkg_operation* operation, size_t index,
                                   int64_t* sizes, size_t capacity, pkg_status* status) {
  return guarded(status, int32_t{-2}, [&] {
    const Node& node = node_of("pkg_operation_output_shape", operation);
    PKG_CHECK(index < node.outputs.size(), IndexError,
              "[pkg_operation_output_shape] expected an output below ", node.outputs.size(),
              ", got ", index, ".");
    const graph::OutputSpec& spec = node.outputs[index];
    if (!spec.known_rank) return int32_t{-1};
    for (size_t d = 0; sizes && d < std::min(capacity, spec.sizes.size()); ++d) {
      sizes[d] = spec.sizes[d];
    }
    return int32_t(spec.sizes.size());
  });
}

size_t pkg_operation_inputs(const pkg_operation* operation, pkg_tensor** inputs,
                            size_t capacity) {
  return guarded<size_t>(nullptr, 0, [&] {
    Node& node = node_of("pkg_operation_inputs", operation);
    for (size_t i = 0; inputs && i < std::min(capacity, node.inputs.size()); ++i) {
      inputs[i] = own(node.graph.symbol(node.inputs[i].from));
    }
    return node.inputs.size();
  });
}

size_t pkg_operation_controls(const pkg_operation* operation, pkg_operation** controls,
                              size_t capacity) {
  return guarded<size_t>(nullptr, 0, [&] {
    const Node& node = node_of("pkg_operation_controls", operation);
    for (size_t i = 0; controls && i < std::min(capacity, node.controls.size()); ++i) {
      controls[i] = handle_of(node.controls[i]);
    }
    return node.controls.size();
  });
}

size_t pkg_operation_arguments(const pkg_operation* operation, char* text,
                               size_t capacity) {
  return write_text(text, capacity, [&] {
    return graph::arguments_text(node_of("pkg_operation_arguments", operation));
  });
}

size_t pkg_operation_tensors(const pkg_operation* operation, pkg_tensor** tensors,
                             size_t capacity) {
  return guarded<size_t>(nullptr, 0, [&] {
    TensorList found = graph::captured(node_of("pkg_operation_tensors", operation));
    for (size_t i = 0; tensors && i < std::min(capacity, found.size()); ++i) {
      tensors[i] = own(std::move(found[i]));
    }
    return found.size();
  });
}

pkg_graph* pkg_operation_graph(const pkg_operation* operation) {
  return operation ? reinterpret_cast<pkg_graph*>(
                         &node_of("pkg_operation_graph", operation).graph)
                   : nullptr;
}

pkg_operation* pkg_tensor_operation(const pkg_tensor* tensor, size_t* index) {
  return guarded<pkg_operation*>(nullptr, nullptr, [&] {
    const Edge edge = graph::edge_of(borrow(tensor));
    if (edge.node && index) *index = edge.output;
    return handle_of(edge.node);
  });
}

pkg_session* pkg_session_new(pkg_graph* handle, pkg_status* status) {
  return guarded<pkg_session*>(status, nullptr, [&] {
    graph::Graph& graph = graph_of("pkg_session_new", handle);
    return reinterpret_cast<pkg_session*>(
        Ref<graph::Session>::make(Ref<graph::Graph>::share(&graph)).detach());
  });
}

bool pkg_session_close(pkg_session* handle, pkg_status* status) {
  return guarded(status, false, [&] {
    session_of("pkg_session_close", handle).close();
    return true;
  });
}

void pkg_session_delete(pkg_session* handle) {
  if (!handle) return;
  guarded(nullptr, false, [&] {
    const auto session = Ref<graph::Session>::adopt(
        reinterpret_cast<graph::Session*>(handle));
    session->close();
    return true;
  });
}

pkg_callable* pkg_session_make_callable(pkg_session* handle, pkg_tensor* const* feeds,
                                        size_t n_feeds, pkg_tensor* const* fetches,
                                        size_t n_fetches, pkg_operation* const* targets,
                                        size_t n_targets, pkg_status* status) {
  constexpr const char* function = "pkg_session_make_callable";
  return guarded<pkg_callable*>(status, nullptr, [&] {
    graph::Session& session = session_of(function, handle);
    Ref<graph::Callable> made = session.make_callable(
        edges_of(function, "feeds", session.graph(), feeds, n_feeds),
        edges_of(function, "fetches", session.graph(), fetches, n_fetches),
        nodes_of(function, targets, n_targets));
    return reinterpret_cast<pkg_callable*>(made.detach());
  });
}

void pkg_callable_delete(pkg_callable* handle) {
  if (handle) Ref<graph::Callable>::adopt(reinterpret_cast<graph::Callable*>(handle));
}

bool pkg_callable_run(pkg_callable* handle, pkg_tensor* const* feeds, size_t n_feeds,
                      double timeout, pkg_tensor** results, pkg_status* status) {
  constexpr const char* function = "pkg_callable_run";
  return guarded(status, false, [&] {
    graph::Callable& callable = callable_of(function, handle);
    PKG_CHECK(results || callable.n_fetches() == 0, TypeError, "[", function,
              "] expected room for ", callable.n_fetches(), " results, got NULL.");
    TensorList made = callable.run(tensors_of(function, "feeds", feeds, n_feeds), timeout);
    for (size_t i = 0; i < made.size(); ++i) results[i] = own(std::move(made[i]));
    return true;
  });
}

size_t pkg_callable_unplanned(const pkg_callable* handle, char* text, size_t capacity) {
  return write_text(text, capacity, [&] {
    return callable_of("pkg_callable_unplanned", const_cast<pkg_callable*>(handle))
        .why_unplanned();
  });
}

bool pkg_session_run(pkg_session* handle, pkg_tensor* const* feeds,
                     pkg_tensor* const* values, size_t n_feeds, pkg_tensor* const* fetches,
                     size_t n_fetches, pkg_operation* const* targets, size_t n_targets,
                     pkg_tensor** results, pkg_status* status) {
  pkg_callable* callable = pkg_session_make_callable(handle, feeds, n_feeds, fetches,
                                                     n_fetches, targets, n_targets, status);
  if (!callable) return false;
  const bool good = pkg_callable_run(callable, values, n_feeds, 0, results, status);
  pkg_callable_delete(callable);
  return good;
}

pkg_operation* pkg_failed_operation(void) { return handle_of(graph::failed_node()); }

pkg_tensor* pkg_session_variable(pkg_session* handle, const pkg_operation* variable,
                                 pkg_status* status) {
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    const graph::Session& session = session_of("pkg_session_variable", handle);
    const Node& node = node_of("pkg_session_variable", variable);
    if (!session.initialized(node)) return static_cast<pkg_tensor*>(nullptr);
    return own(share(session.variable(node)));
  });
}

bool pkg_session_set_variables(pkg_session* handle, pkg_operation* const* variables,
                               pkg_tensor* const* values, size_t n, pkg_status* status) {
  constexpr const char* function = "pkg_session_set_variables";
  return guarded(status, false, [&] {
    graph::Session& session = session_of(function, handle);
    const std::vector<Node*> nodes = nodes_of(function, variables, n);
    const TensorList tensors = tensors_of(function, "values", values, n);
    std::vector<std::pair<Node*, Tensor>> pairs;
    for (size_t i = 0; i < n; ++i) pairs.emplace_back(nodes[i], tensors[i]);
    session.set_variables(pairs);
    return true;
  });
}

}  // extern "C"

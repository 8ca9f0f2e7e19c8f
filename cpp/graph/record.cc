// SPDX-License-Identifier: Apache-2.0
// graph/record.cc: the Graph key, one boxed function for all ops: a call with a symbol, or
// any call while this thread traces, becomes a node of the graph.
#include "graph/record.h"
#include "dispatcher/library.h"

namespace pkg::graph {
namespace {

struct Trace {
  Ref<Graph> graph;
  std::string name;  // of the first node
  LocalKeys before;
  TraceKind kind = TraceKind::Plain;
};
thread_local std::vector<Trace> t_traces;  // innermost last

Graph* graph_of(std::span<const Value> args) {
  Graph* found = nullptr;
  for (const Value& value : args) {
    for_each_tensor(value, [&](const Tensor& tensor) {
      const Edge edge = edge_of(tensor);
      if (!found && edge.node) found = &edge.node->graph;
    });
  }
  return found;
}

// The body that this thread builds, the innermost one; or the number of traces.
size_t body_level() {
  for (size_t level = t_traces.size(); level-- > 0;) {
    if (t_traces[level].kind == TraceKind::Body) return level;
  }
  return t_traces.size();
}

// What stands for a tensor in a body: of a graph further out each body between has it, too.
Tensor captured(size_t level, const Tensor& tensor, std::string name = "") {
  const Edge edge = edge_of(tensor);
  Graph& graph = *t_traces[level].graph;
  if (!edge.node || &edge.node->graph == &graph) return tensor;
  for (size_t outer = level; outer-- > 0;) {
    if (t_traces[outer].kind == TraceKind::Body)
      return graph.capture(captured(outer, tensor), std::move(name));
  }
  return graph.capture(tensor, std::move(name));
}

template <class F>
void replace_tensors(std::span<Value> args, F f) {
  for (Value& value : args) {
    if (auto* tensor = std::get_if<Tensor>(&value)) *tensor = f(*tensor);
    auto* list = std::get_if<TensorList>(&value);
    for (size_t k = 0; list && k < list->size(); ++k) (*list)[k] = f((*list)[k]);
  }
}

// The memory that a symbol stands for has no place yet, so nobody could tell later which
// other symbols show what is written to it.
void refuse_written_symbols(const Operator& op, std::span<const Value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!op.schema.arguments[i].written) continue;
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      PKG_CHECK(!edge_of(tensor).node, NotImplementedError, "[", op.schema.name,
                "] writes to a symbol of a graph, which has no memory. Use the form that "
                "returns a new tensor: y = x.add(1) for x.add_(1).");
    });
  }
}

// A node has tensors only, and nobody would miss the others before they are asked for.
void refuse_other_results(const Operator& op) {
  for (const Argument& result : op.schema.returns) {
    PKG_CHECK(result.type == ArgType::Tensor, NotImplementedError, "[", op.schema.name,
              "] returns ", result.type_str(), result.name.empty() ? "" : " ", result.name,
              ", which only a run would know: a graph has tensors only. Return a tensor of "
              "one element.");
  }
}

void graph_fallback(const Operator& op, const Kernel&, KeySet keys, Stack& stack) {
  Graph* graph = graph_of(stack.args);
  std::string name;
  if (!t_traces.empty()) {
    if (!graph) graph = t_traces.back().graph.get();
    name = std::exchange(t_traces.back().name, {});
  }
  if (const size_t level = body_level(); level < t_traces.size()) {
    graph = t_traces[level].graph.get();
    replace_tensors(stack.args,
                    [&](const Tensor& tensor) { return captured(level, tensor); });
  }
  if (!graph) {
    return Dispatcher::get().redispatch_boxed(op, keys & KeySet::below(DispatchKey::Graph),
                                              stack);
  }
  refuse_written_symbols(op, stack.args);
  refuse_other_results(op);
  push_symbols(graph->call(std::move(name), op, stack.args), stack);
}

PKG_LIBRARY_IMPL(_, Graph, m) { m.fallback(graph_fallback); }

}  // namespace

void push_symbols(Node& node, Stack& stack) {
  const auto& returns = node.op->schema.returns;
  if (returns.size() == 1 && returns[0].list) {
    TensorList list;
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      list.push_back(node.graph.symbol({&node, i}));
    }
    return stack.push(std::move(list));
  }
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    stack.push(node.graph.symbol({&node, i}));
  }
}

void begin_trace(Graph& graph, std::string name, TraceKind kind) {
  t_traces.push_back({Ref<Graph>::share(&graph), std::move(name), t_local_keys, kind});
  t_local_keys.included |= DispatchKey::Graph;
}

Tensor capture(Graph& graph, const Tensor& tensor) {
  std::string name;
  if (!t_traces.empty() && t_traces.back().graph.get() == &graph) {
    name = std::exchange(t_traces.back().name, {});
  }
  for (size_t level = t_traces.size(); level-- > 0;) {
    const Trace& trace = t_traces[level];
    if (trace.graph.get() == &graph && trace.kind == TraceKind::Body) {
      return captured(level, tensor, name);
    }
  }
  return graph.capture(tensor, name);
}

void end_trace(Graph& graph) {
  PKG_CHECK(!t_traces.empty() && t_traces.back().graph.get() == &graph, RuntimeError,
            "[end_trace] expected the graph whose trace this thread began last.");
  t_local_keys = t_traces.back().before;
  t_traces.pop_back();
}

}  // namespace pkg::graph

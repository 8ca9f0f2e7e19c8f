// SPDX-License-Identifier: Apache-2.0
// graph/graph.h: a graph of calls, written down to be run later.
//
// Note [Two ways to hold a call]
// A graph keeps calls as the program wrote them: whole ops, composites too, with sizes that
// may be unknown, and `gradients` as one node.  Nothing in it depends on the shapes that
// will be fed, so nothing has to be undone when others are.  What runs is made from it for
// given shapes (plan.h), by running the calls once with tensors that have no memory yet:
// there composites are taken apart, and gradients are the engine's.
#pragma once

#include <atomic>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dispatcher/operator.h"
#include "graph/function.h"

namespace pkg::graph {

class Graph;
class Node;

/// One output of a node.
struct Edge {
  Node* node = nullptr;
  uint32_t output = 0;

  /// "name:0", as the field writes it.
  std::string str() const;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// What is known of an output before the graph runs.  Unknown sizes are -1.
struct OutputSpec {
  DType dtype = DType::Float32;
  bool known_rank = true;
  Shape sizes;

  /// Whether a tensor of these sizes may be this output.
  bool accepts(const Shape& given) const;
  bool fully_known() const;
  /// "(?, 784)", "<unknown>".
  std::string str() const;
};

enum class NodeKind : uint8_t {
  Placeholder,  ///< fed
  Constant,     ///< a tensor that never changes
  Variable,     ///< a tensor of the session
  Assign,       ///< gives a variable a value; its output is the value
  Op,           ///< a call of an op
  Gradients,    ///< of some outputs with respect to others
  Function,     ///< runs something that is no op: see function.h
  Group,        ///< nothing but what it waits for
};

/// One call, or another thing that has outputs.  It lives as long as its graph, and does
/// not change once it is made.
class Node {
 public:
  /// An argument that is an output of another node: a tensor, or an item of a list.
  struct Input {
    uint16_t arg = 0;
    int32_t item = -1;  ///< of a list
    Edge from;
  };

  Graph& graph;
  const NodeKind kind;
  int64_t id = -1;  ///< counts the nodes; arguments and controls have smaller ones
  std::string name;
  const Operator* op = nullptr;  ///< of an Op
  std::vector<Value> args;       ///< of an Op; undefined tensors where inputs go
  std::vector<Input> inputs;     ///< in the order of the arguments
  std::vector<Node*> controls;   ///< run before this, if this runs
  std::vector<OutputSpec> outputs;
  Node* variable = nullptr;  ///< of an Assign
  Edge outer;                ///< of a node of a body that was captured: what it stands for
  Ref<graph::Function> function;
  bool no_grad = false;          ///< recorded where no gradients were: none flow through
  Tensor value;                  ///< of a Constant; of a Placeholder, the default or none
  size_t n_ys = 0;               ///< of Gradients: inputs are ys, their grads, xs, stops
  std::vector<bool> has_grad_y;  ///< of Gradients, for each y
  std::string device;            ///< as the user wrote it
  uint64_t site = 0;             ///< see scheduler/hooks.h

  /// "Placeholder", "Const", ..., or the op's name: "add.Tensor".
  std::string type() const;
  /// "file:line" of the Python line that made it, or "".
  std::string call_site() const;
  /// The arguments, with what `of` says of each input in its place, and what `own` makes of
  /// the tensors with values among them.
  template <class F, class G = std::identity>
  std::vector<Value> arguments(F of, G own = {}) const {
    std::vector<Value> filled = args;
    if constexpr (!std::is_same_v<G, std::identity>) {
      for (Value& value : filled) {
        if (auto* tensor = std::get_if<Tensor>(&value)) *tensor = own(*tensor);
        auto* list = std::get_if<TensorList>(&value);
        for (size_t k = 0; list && k < list->size(); ++k) (*list)[k] = own((*list)[k]);
      }
    }
    for (const Input& input : inputs) {
      Value& slot = filled[input.arg];
      if (input.item < 0) slot = Value(of(input.from));
      else std::get<TensorList>(slot)[size_t(input.item)] = of(input.from);
    }
    return filled;
  }

 private:
  friend class Graph;
  Node(Graph& graph_in, NodeKind kind_in) : graph(graph_in), kind(kind_in) {}
  void add_input(size_t arg, int32_t item, Edge from);
  std::vector<Tensor> symbols_;  // of the outputs, made when asked for
};

/// What the memory of a symbol means.
struct Meaning final : Intrusive {
  Meaning(Ref<Graph> graph_in, Edge edge_in) : graph(std::move(graph_in)), edge(edge_in) {}
  Ref<Graph> graph;
  Edge edge;

 private:
  ~Meaning() override;
};

/// What the nodes that a thread adds to a graph have in common.
struct Scope {
  std::string prefix;  ///< of names: "layer1/", or ""
  std::vector<Node*> controls;
  std::string device;
};

/// A symbol of the graph around a body, and what stands for it there.
struct Capture {
  Tensor outer;
  Edge inner;
};

/// Nodes are only ever added.  Every method may be called from every thread.
class Graph final : public Intrusive {
 public:
  Graph() = default;

  /// Its symbols keep a graph alive, and a graph its symbols; who has made it ends that.
  void close();

  // Nodes.  An empty name is made from the type; a name that is taken gets "_1", "_2".
  Node& placeholder(std::string name, OutputSpec spec, Tensor value = {});
  Node& constant(std::string name, Tensor value);
  Node& variable(std::string name, OutputSpec spec);
  /// `value` is a symbol of this graph, or a tensor.
  Node& assign(std::string name, Node& variable, const Tensor& value);
  /// Args as the dispatcher takes them; symbols of this graph among them become inputs.
  Node& call(std::string name, const Operator& op, std::span<const Value> args);
  /// Sum of the gradients of `ys`, each times its `grad_ys` (undefined: ones), with respect
  /// to each of `xs`, where nothing flows on behind the `stops`.
  Node& gradients(std::string name, const TensorList& ys, const TensorList& grad_ys,
                  const TensorList& xs, const TensorList& stops = {});
  Node& group(std::string name, std::vector<Node*> controls);
  /// Runs the function, whose outputs are like `outputs`.
  Node& function(std::string name, Ref<Function> function, const TensorList& inputs,
                 std::vector<OutputSpec> outputs);

  /// What stands here for a symbol of the graph that this one will be a body of
  /// (control_flow.h); a symbol of this graph is itself.  What is made for it has the name,
  /// or that of the symbol's node.
  Tensor capture(const Tensor& outer, std::string name = "");
  /// All that was captured, which is forgotten.  The body is complete: to add a node to it
  /// is a ValueError.
  std::vector<Capture> take_captures();

  /// The tensor that stands for an output; always the same one.
  Tensor symbol(Edge edge);
  /// The node of a name; null if there is none.
  Node* find(std::string_view name) const;
  /// All nodes, in the order in which they were made.
  std::vector<Node*> nodes() const;
  /// Counts changes.
  int64_t version() const { return version_.load(std::memory_order_acquire); }
  /// A name that no node has, which is taken from now on if `mark`.
  std::string unique_name(std::string_view name, bool mark = true);
  /// From now on adding nodes is a RuntimeError.
  void finalize() { finalized_.store(true); }
  bool finalized() const { return finalized_.load(); }
  /// Whether the gradient of `y` with respect to `x` can be anything but nothing, where
  /// none flows on behind the `stops`.  NotImplementedError in a body where a way leads on
  /// outside of it.
  bool connected(Edge y, Edge x, std::span<const Edge> stops = {}) const;

  /// Of what this thread adds from now on.
  void set_scope(Scope scope);

 private:
  ~Graph() override;
  void refuse_ways_outside(Edge y, Edge x, std::span<const Edge> stops) const;
  bool leads(Edge y, Edge x) const;
  Scope scope() const;
  std::unique_ptr<Node> begin(NodeKind kind);
  void check_open() const;
  Node& publish(std::unique_ptr<Node> node, const std::string& name);
  std::string unique_locked(std::string_view name, bool mark);

  mutable std::mutex mutex_;          // guards the rest
  std::map<uint64_t, Scope> scopes_;  // by the number of the thread
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, Node*, std::less<>> by_name_;
  std::map<std::string, int64_t, std::less<>> used_;  // lower case, as names differ in more
  std::atomic<int64_t> version_{0};
  std::vector<Capture> captures_;
  std::atomic<bool> finalized_{false};
  std::atomic<bool> complete_{false};  // a body that was handed on
  bool closed_ = false;
};

/// The node and output that a symbol stands for; a null edge for any other tensor.
Edge edge_of(const Tensor& tensor);
/// The same of a symbol of this graph; ValueError for any other, which says what it is.
Edge edge_in(const Graph& graph, std::string_view function, const Tensor& tensor);

/// Whether it is a call that writes to its arguments.
bool writes(const Node& node);
/// Whether calls of the op give back results of work that goes on after them
/// (dispatcher/outside_work.h): it has a kernel of its own at Async.
bool schedules_itself(const Operator& op);

/// What the call will give: the op's own rules, asked with tensors without memory.
std::vector<OutputSpec> infer(const Node& node);

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// graph/graph.cc: making nodes, their names, and the symbols of their outputs.
#include "graph/graph.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "dispatcher/dispatcher.h"
#include "framework/calling.h"
#include "scheduler/hooks.h"

namespace pkg::graph {
namespace {

// Unlike its id no later thread has it.
uint64_t number_of_this_thread() {
  static constinit std::atomic<uint64_t> given{0};
  thread_local const uint64_t number = given.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = char(std::tolower(static_cast<unsigned char>(c)));
  return made;
}

// The sizes as a tensor that stands for them has them: 0 for what is not known.
Shape sizes_of_symbol(const OutputSpec& spec) {
  Shape sizes = spec.known_rank ? spec.sizes : Shape{};
  for (int64_t& size : sizes) size = std::max<int64_t>(size, 0);
  return sizes;
}

// No tensor has so many elements, nor can a symbol stand for them.
void refuse_too_many(const OutputSpec& spec) { (void)sizes_of_symbol(spec).numel(); }

OutputSpec spec_of(const Tensor& tensor) { return {tensor.dtype(), true, tensor.sizes()}; }

}  // namespace

Meaning::~Meaning() = default;
Graph::~Graph() = default;

std::string Edge::str() const { return node->name + ":" + std::to_string(output); }

bool OutputSpec::accepts(const Shape& given) const {
  if (!known_rank) return true;
  if (sizes.size() != given.size()) return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] >= 0 && sizes[d] != given[d]) return false;
  }
  return true;
}

bool OutputSpec::fully_known() const {
  return known_rank &&
         std::all_of(sizes.begin(), sizes.end(), [](auto n) { return n >= 0; });
}

std::string OutputSpec::str() const {
  if (!known_rank) return "<unknown>";
  std::string text = "(";
  for (size_t d = 0; d < sizes.size(); ++d) {
    text += (d ? ", " : "") + (sizes[d] < 0 ? "?" : std::to_string(sizes[d]));
  }
  return text + (sizes.size() == 1 ? ",)" : ")");
}

std::string Node::type() const {
  switch (kind) {
    case NodeKind::Placeholder:
      return value.defined() ? "PlaceholderWithDefault" : "Placeholder";
    case NodeKind::Constant: return "Const";
    case NodeKind::Variable: return "Variable";
    case NodeKind::Assign: return "Assign";
    case NodeKind::Gradients: return "Gradients";
    case NodeKind::Group: return "NoOp";
    case NodeKind::Function: return function->type;
    case NodeKind::Op:
      return op->ns == "pkg" ? op->schema.full_name() : op->qualified_name();
  }
  return "";
}

std::string Node::call_site() const { return site_text(site); }

void Node::add_input(size_t arg, int32_t item, Edge from) {
  inputs.push_back({uint16_t(arg), item, from});
}

void Graph::set_scope(Scope scope) {
  const bool empty = scope.prefix.empty() && scope.controls.empty() && scope.device.empty();
  std::lock_guard lock(mutex_);
  if (empty) scopes_.erase(number_of_this_thread());
  else scopes_[number_of_this_thread()] = std::move(scope);
}

Scope Graph::scope() const {
  std::lock_guard lock(mutex_);
  const auto found = scopes_.find(number_of_this_thread());
  return found == scopes_.end() ? Scope() : found->second;
}

void Graph::close() {
  std::vector<Tensor> symbols;  // may be the last to refer to this graph: they end last
  const Ref<Graph> alive = Ref<Graph>::share(this);
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& node : nodes_) {
    for (Tensor& symbol : node->symbols_) symbols.push_back(std::move(symbol));
    node->symbols_.clear();
  }
}

void Graph::check_open() const {
  PKG_CHECK(!finalized(), RuntimeError,
            "Graph is finalized and cannot be modified: no node can be added to it.");
  PKG_CHECK(
      !complete_.load(), ValueError,
      "[graph] expected symbols that can be used here, got one of a part of a loop or "
      "choice, which is complete. Give it back from the function that builds the part.");
}

std::unique_ptr<Node> Graph::begin(NodeKind kind) {
  check_open();
  std::unique_ptr<Node> node(new Node(*this, kind));
  Scope scope = this->scope();
  node->controls = std::move(scope.controls);
  node->device = std::move(scope.device);
  node->site = mark_site();
  node->no_grad = !grad_enabled();
  return node;
}

Node& Graph::publish(std::unique_ptr<Node> made, const std::string& name) {
  for (const OutputSpec& spec : made->outputs) refuse_too_many(spec);
  std::string wanted = name.empty() ? made->type() : name;
  if (name.empty()) {
    for (char& c : wanted) {
      if (c == '.' || c == ':') c = '_';  // ':' stands before the number of an output
    }
  }
  // "scope/" at the end says that the name is whole already.
  if (wanted.ends_with('/')) wanted.pop_back();
  else wanted = scope().prefix + wanted;
  std::lock_guard lock(mutex_);
  check_open();
  PKG_CHECK(wanted.find(':') == std::string::npos, ValueError,
            "[graph] expected a name without ':', which stands before the number of an "
            "output, got '",
            wanted, "'.");
  Node& node = *made;
  node.id = int64_t(nodes_.size());
  node.name = name.ends_with('/') ? wanted : unique_locked(wanted, true);
  PKG_CHECK(by_name_.emplace(node.name, &node).second, ValueError, "[graph] the name '",
            node.name, "' is taken by another node.");
  used_.emplace(lower(node.name), 1);
  nodes_.push_back(std::move(made));
  version_.fetch_add(1, std::memory_order_release);
  return node;
}

std::string Graph::unique_name(std::string_view name, bool mark) {
  std::lock_guard lock(mutex_);
  return unique_locked(name, mark);
}

// Names that differ in case only would be one file on some systems, so they count as equal.
std::string Graph::unique_locked(std::string_view name, bool mark) {
  const std::string key = lower(name);
  const auto found = used_.find(key);
  int64_t count = found == used_.end() ? 0 : found->second;
  if (mark) used_[key] = count + 1;
  if (count == 0) return std::string(name);
  std::string made;
  do {
    made = std::string(name) + "_" + std::to_string(count++);
  } while (used_.contains(lower(made)));
  if (mark) {
    used_[key] = count;
    used_[lower(made)] = 1;
  }
  return made;
}

Node& Graph::placeholder(std::string name, OutputSpec spec, Tensor value) {
  auto node = begin(NodeKind::Placeholder);
  if (value.defined()) {
    PKG_CHECK(value.dtype() == spec.dtype && spec.accepts(value.sizes()), ValueError,
              "[placeholder] expected a default of ", spec.dtype, " and shape ", spec.str(),
              ", got ", value.dtype(), " and ", value.sizes(), ".");
  }
  node->value = std::move(value);
  node->outputs.push_back(std::move(spec));
  return publish(std::move(node), name);
}

Node& Graph::constant(std::string name, Tensor value) {
  PKG_CHECK(value.defined() && !edge_of(value).node, TypeError,
            "[constant] expected a tensor with values.");
  auto node = begin(NodeKind::Constant);
  node->outputs.push_back(spec_of(value));
  node->value = std::move(value);
  return publish(std::move(node), name);
}

Node& Graph::variable(std::string name, OutputSpec spec) {
  auto node = begin(NodeKind::Variable);
  node->outputs.push_back(std::move(spec));
  return publish(std::move(node), name);
}

Node& Graph::assign(std::string name, Node& variable, const Tensor& value) {
  PKG_CHECK(&variable.graph == this && variable.kind == NodeKind::Variable, ValueError,
            "[assign] expected a variable of this graph, got ", variable.name, " (",
            variable.type(), ").");
  auto node = begin(NodeKind::Assign);
  node->variable = &variable;
  const Edge from = edge_of(value);
  const OutputSpec& wanted = variable.outputs[0];
  OutputSpec given = from.node ? from.node->outputs[from.output] : spec_of(value);
  PKG_CHECK(given.dtype == wanted.dtype, TypeError, "[assign] expected a value of ",
            wanted.dtype, " for the variable ", variable.name, ", got ", given.dtype, ".");
  bool fits = !given.known_rank || !wanted.known_rank ||
              given.sizes.size() == wanted.sizes.size();
  for (size_t d = 0;
       fits && given.known_rank && wanted.known_rank && d < given.sizes.size(); ++d) {
    fits = given.sizes[d] < 0 || wanted.sizes[d] < 0 || given.sizes[d] == wanted.sizes[d];
  }
  PKG_CHECK(fits, ValueError,
            "[assign] Dimensions must be equal: expected a value of shape ", wanted.str(),
            " for the variable ", variable.name, ", got ", given.str(), ".");
  node->args.emplace_back(from.node ? Tensor() : value);
  if (from.node) node->add_input(0, -1, edge_in(*this, "assign", value));
  node->outputs.push_back(given.known_rank ? given : wanted);
  return publish(std::move(node), name);
}

Node& Graph::call(std::string name, const Operator& op, std::span<const Value> args) {
  auto node = begin(NodeKind::Op);
  node->op = &op;
  node->args.assign(args.begin(), args.end());
  for (size_t i = 0; i < node->args.size(); ++i) {
    if (auto* tensor = std::get_if<Tensor>(&node->args[i])) {
      if (!edge_of(*tensor).node) continue;
      node->add_input(i, -1, edge_in(*this, op.schema.name, *tensor));
      *tensor = {};
    } else if (auto* list = std::get_if<TensorList>(&node->args[i])) {
      for (size_t k = 0; k < list->size(); ++k) {
        if (!edge_of((*list)[k]).node) continue;
        node->add_input(i, int32_t(k), edge_in(*this, op.schema.name, (*list)[k]));
        (*list)[k] = {};
      }
    }
  }
  node->outputs = infer(*node);
  return publish(std::move(node), name);
}

Node& Graph::gradients(std::string name, const TensorList& ys, const TensorList& grad_ys,
                       const TensorList& xs, const TensorList& stops) {
  PKG_CHECK(!ys.empty() && !xs.empty(), ValueError,
            "[gradients] expected at least one y and one x, got ", ys.size(), " and ",
            xs.size(), ".");
  PKG_CHECK(grad_ys.empty() || grad_ys.size() == ys.size(), ValueError,
            "[gradients] expected one gradient for each of ", ys.size(), " ys, got ",
            grad_ys.size(), ".");
  auto node = begin(NodeKind::Gradients);
  node->n_ys = ys.size();
  node->args = {TensorList(ys.size()), TensorList(ys.size()), TensorList(xs.size()),
                TensorList(stops.size())};
  for (size_t i = 0; i < ys.size(); ++i) {
    node->add_input(0, int32_t(i), edge_in(*this, "gradients", ys[i]));
  }
  for (size_t i = 0; i < ys.size(); ++i) {
    const bool given = i < grad_ys.size() && grad_ys[i].defined();
    node->has_grad_y.push_back(given);
    if (!given) continue;
    if (edge_of(grad_ys[i]).node) {
      node->add_input(1, int32_t(i), edge_in(*this, "gradients", grad_ys[i]));
    } else {
      std::get<TensorList>(node->args[1])[i] = grad_ys[i];
    }
  }
  for (size_t i = 0; i < xs.size(); ++i) {
    const Edge x = edge_in(*this, "gradients", xs[i]);
    node->add_input(2, int32_t(i), x);
    node->outputs.push_back(x.node->outputs[x.output]);
  }
  for (size_t i = 0; i < stops.size(); ++i) {
    node->add_input(3, int32_t(i), edge_in(*this, "gradients", stops[i]));
  }
  return publish(std::move(node), name);
}

Node& Graph::group(std::string name, std::vector<Node*> controls) {
  auto node = begin(NodeKind::Group);
  for (Node* control : controls) {
    PKG_CHECK(&control->graph == this, ValueError, "[group] the node ", control->name,
              " is not an element of this graph.");
    node->controls.push_back(control);
  }
  return publish(std::move(node), name);
}

Node& Graph::function(std::string name, Ref<Function> function, const TensorList& inputs,
                      std::vector<OutputSpec> outputs) {
  auto node = begin(NodeKind::Function);
  node->args = {TensorList(inputs.size())};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (edge_of(inputs[i]).node) {
      node->add_input(0, int32_t(i), edge_in(*this, function->type, inputs[i]));
    } else {
      std::get<TensorList>(node->args[0])[i] = inputs[i];
    }
  }
  for (const Node* variable : function->variables) {
    PKG_CHECK(&variable->graph == this, ValueError, "[", function->type, "] the variable ",
              variable->name, " is not an element of this graph.");
  }
  node->function = std::move(function);
  node->outputs = std::move(outputs);
  return publish(std::move(node), name);
}

Tensor Graph::capture(const Tensor& outer, std::string name) {
  const Edge from = edge_of(outer);
  PKG_CHECK(from.node, TypeError, "[capture] expected a symbol, got a tensor with values.");
  if (&from.node->graph == this) return outer;
  {
    std::unique_lock lock(mutex_);
    for (const Capture& capture : captures_) {
      if (edge_of(capture.outer) != from) continue;
      const Edge inner = capture.inner;
      lock.unlock();
      return symbol(inner);
    }
  }
  const bool variable = from.node->kind == NodeKind::Variable;
  auto node = begin(variable ? NodeKind::Variable : NodeKind::Placeholder);
  node->controls.clear();
  node->outer = from;
  if (name.empty()) name = from.node->name;
  node->outputs.push_back(from.node->outputs[from.output]);
  const Edge inner{&publish(std::move(node), name), 0};
  const Tensor found = symbol(inner);
  std::lock_guard lock(mutex_);
  captures_.push_back({outer, inner});
  return found;
}

std::vector<Capture> Graph::take_captures() {
  complete_.store(true);
  std::lock_guard lock(mutex_);
  return std::move(captures_);
}

Tensor Graph::symbol(Edge edge) {
  std::lock_guard lock(mutex_);
  Node& node = *edge.node;
  PKG_CHECK(edge.output < node.outputs.size(), IndexError,
            "[graph] expected an output below ", node.outputs.size(), " of ", node.name,
            ", got ", edge.output, ".");
  std::vector<Tensor>& made = node.symbols_;
  if (edge.output < made.size() && made[edge.output].defined()) return made[edge.output];
  // Who shows a shape asks the OutputSpec.
  const OutputSpec& spec = node.outputs[edge.output];
  const Shape sizes = sizes_of_symbol(spec);
  auto storage = Storage::symbolic(0, DispatchKey::Graph,
                                   Ref<Meaning>::make(Ref<Graph>::share(this), edge));
  Tensor symbol(Ref<TensorImpl>::make(std::move(storage), sizes, sizes.numel(), spec.dtype,
                                      Device{}));
  if (closed_) return symbol;
  if (made.size() < node.outputs.size()) made.resize(node.outputs.size());
  return made[edge.output] = symbol;
}

Node* Graph::find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<Node*> Graph::nodes() const {
  std::lock_guard lock(mutex_);
  std::vector<Node*> all;
  for (const auto& node : nodes_) all.push_back(node.get());
  return all;
}

namespace {

// Note [Gradients of one's own]: where a function written in Python stands for what the
// engine would do, the engine is stopped by a node that was recorded without gradients
// though it could have none: stop_gradient, or an op of REGISTER_OP.  The graph knows no
// more of such ways than that they may go on there.
bool has_own_gradient(const Node& node) {
  if (!node.no_grad || !node.op) return false;
  return node.op->definition().non_differentiable || framework::definition_of(*node.op);
}

// Goes back from `y` along the ways of gradients, over nodes made since number `first`, and
// not beyond the stops, until `found` says so of one.  `own`: also along those that
// gradients of one's own take.
template <class F>
bool walk_back(Edge y, int64_t first, std::span<const Edge> stops, bool own, F found) {
  std::vector<Edge> next{y};
  std::unordered_set<const Node*> seen;
  while (!next.empty()) {
    const Edge edge = next.back();
    next.pop_back();
    if (found(edge)) return true;
    if (std::find(stops.begin(), stops.end(), edge) != stops.end()) continue;
    const Node& node = *edge.node;
    if (node.id < first || !seen.insert(&node).second) continue;
    const bool ends = node.no_grad || (node.op && node.op->definition().non_differentiable);
    if (ends && !(own && has_own_gradient(node))) continue;
    if (node.kind == NodeKind::Assign) {  // a read: Note [Assigned values have no history]
      next.push_back({node.variable, 0});
      continue;
    }
    if (node.function) {
      if (!node.function->differentiable()) continue;
      for (Node* variable : node.function->variables) next.push_back({variable, 0});
    }
    for (const Node::Input& input : node.inputs) {
      // The xs and stops of gradients are places, not values that they are made of.
      if (node.kind == NodeKind::Gradients && input.arg >= 2) continue;
      if (is_floating(input.from.node->outputs[input.from.output].dtype)) {
        next.push_back(input.from);
      }
    }
  }
  return false;
}

}  // namespace

// In a body what was captured is where its own ways end: those that go on outside would be
// missed.
void Graph::refuse_ways_outside(Edge y, Edge x, std::span<const Edge> stops) const {
  std::vector<Capture> captures;
  {
    std::lock_guard lock(mutex_);
    captures = captures_;
  }
  const auto own = std::find_if(captures.begin(), captures.end(),
                                [&](const Capture& c) { return c.inner == x; });
  if (own == captures.end()) return;
  const Edge outer = edge_of(own->outer);
  walk_back(y, 0, stops, true, [&](Edge edge) {
    if (std::find(stops.begin(), stops.end(), edge) != stops.end()) return false;
    for (const Capture& capture : captures) {
      if (capture.inner != edge || edge == x) continue;
      const Edge from = edge_of(capture.outer);
      PKG_CHECK(
          !from.node->graph.leads(from, outer), NotImplementedError,
          "[gradients] expected ways from y to ", outer.str(),
          " that lie within the loop or choice, got one through ", from.str(),
          ", which was computed outside of it. Hint: compute that within the function, "
          "too, or take the gradient outside.");
    }
    return false;
  });
}

// Whether the value of `y` comes from `x`, by ways of which gradients may come back.
bool Graph::leads(Edge y, Edge x) const {
  refuse_ways_outside(y, x, {});
  return walk_back(y, x.node->id, {}, true, [&](Edge edge) { return edge == x; });
}

bool Graph::connected(Edge y, Edge x, std::span<const Edge> stops) const {
  refuse_ways_outside(y, x, stops);
  return walk_back(y, x.node->id, stops, false, [&](Edge edge) { return edge == x; });
}

Edge edge_of(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const Storage& storage = tensor.storage();
  if (!storage.dynamic_keys().has(DispatchKey::Graph)) return {};
  return static_cast<const Meaning*>(storage.meaning())->edge;
}

Edge edge_in(const Graph& graph, std::string_view function, const Tensor& tensor) {
  const Edge edge = edge_of(tensor);
  PKG_CHECK(edge.node, TypeError, "[", function,
            "] expected a symbol of a graph, got a tensor with values.");
  PKG_CHECK(
      &edge.node->graph == &graph, ValueError, "[", function, "] Tensor ", edge.str(),
      " is not an element of this graph: tensors of two graphs cannot be used together.");
  return edge;
}

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// graph/evaluate.cc: see evaluate.h.
#include "graph/evaluate.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "autograd/engine.h"
#include "dispatcher/dispatcher.h"
#include "framework/kernel_set.h"
#include "graph/step_trace.h"
#include "ops/functions.h"
#include "scheduler/stop_point.h"

namespace pkg::graph {
namespace {

// What a graph says of a shape holds, or the run fails.
void check_outputs(const Node& node, const std::vector<Tensor>& outputs) {
  PKG_CHECK(outputs.size() == node.outputs.size(), ValueError, "[", node.name,
            "] expected ", node.outputs.size(),
            " results, as when it was added to the graph, got ", outputs.size(), ".");
  for (size_t i = 0; i < outputs.size(); ++i) {
    PKG_CHECK(!outputs[i].defined() || node.outputs[i].accepts(outputs[i].sizes()),
              ValueError, "[", node.name, "] expected a result ", i, " of shape ",
              node.outputs[i].str(), ", as the graph says, got ", outputs[i].sizes(), ".");
  }
}

// A plan gives every result memory, and calls read it: one of the device meta has none.
void check_memory(const Node& node, const Tensor& tensor) {
  PKG_CHECK(!tensor.defined() || !tensor.is_meta(), ValueError, "[", node.name,
            "] expected tensors with values, got one on the device meta of shape ",
            tensor.sizes(), ". Hint: a run of a graph has only values of the CPU.");
}

// Unless it has a history, or cannot have one.
Tensor as_leaf(const Tensor& tensor) {
  if (!is_floating(tensor.dtype()) || tensor.requires_grad()) return tensor;
  Tensor leaf = share(tensor);
  set_requires_grad(leaf, true);
  return leaf;
}

// Of a variable that was assigned: of all that was read of it.
Tensor sum_of_reads(const Node& node, std::span<const Tensor> found, const Tensor& last) {
  Tensor sum;
  for (const Tensor& part : found) {
    if (!part.defined()) continue;
    PKG_CHECK(
        !sum.defined() || sum.sizes() == part.sizes(), ValueError, "[", node.name,
        "] expected the values that a variable has in one run to be of one shape, got ",
        sum.sizes(), " and ", part.sizes(), ": their gradients have no sum.");
    sum = sum.defined() ? ops::add(sum, part) : part;
  }
  return sum.defined() ? sum : ops::full_like(last, 0);
}

}  // namespace

std::vector<Node*> needed(std::span<const Edge> feeds, std::span<const Edge> fetches,
                          std::span<Node* const> targets) {
  std::unordered_set<Node*> seen;
  std::vector<Node*> next;
  const auto want = [&](Edge edge) {
    if (std::find(feeds.begin(), feeds.end(), edge) != feeds.end()) return;
    if (seen.insert(edge.node).second) next.push_back(edge.node);
  };
  for (Edge fetch : fetches) want(fetch);
  for (Node* target : targets) {
    if (seen.insert(target).second) next.push_back(target);
  }
  while (!next.empty()) {
    const Node* node = next.back();
    next.pop_back();
    for (const Node::Input& input : node->inputs) want(input.from);
    for (Node* control : node->controls) {
      if (seen.insert(control).second) next.push_back(control);
    }
  }
  std::vector<Node*> nodes(seen.begin(), seen.end());
  std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->id < b->id; });
  return nodes;
}

void Evaluation::feed(Edge edge, Tensor value) { fed_[edge] = std::move(value); }

void Evaluation::run(std::span<Node* const> nodes) {
  const Node* last = nullptr;  // of the nodes that take gradients
  for (Node* node : nodes) {
    if (node->kind != NodeKind::Gradients) continue;
    last = node;
    for (const Node::Input& input : node->inputs) {
      if (input.arg >= 2) wanted_[input.from];  // xs and stops
    }
  }
  if (!differentiable) find_recorded(nodes);
  LocalKeys keys{t_local_keys.included, {}};
  if (!last && !differentiable) keys.excluded |= DispatchKey::Autograd;
  UseKeys mine(keys);
  for (const auto& [edge, value] : fed_) {
    set(*edge.node, std::vector<Tensor>(edge.node->outputs.size()));
  }
  const bool timed = control && trace::wanted(trace::Kind::Step);
  for (Node* node : nodes) {
    stop_point();  // to make a plan of many nodes takes its time as well
    if (at) at(*node);
    if (timed) run_timed(*node, node == last);
    else run(*node, node == last);
  }
}

// What leads to something that gradients are taken of.  A call beside it need not have any.
void Evaluation::find_recorded(std::span<Node* const> nodes) {
  std::vector<const Node*> next;
  for (const Node* node : nodes) {
    if (node->kind == NodeKind::Gradients) next.push_back(node);
  }
  while (!next.empty()) {
    const Node* node = next.back();
    next.pop_back();
    if (node->kind == NodeKind::Assign) continue;  // Note [Assigned values have no history]
    for (const Node::Input& input : node->inputs) {
      if (recorded_.insert(input.from.node).second) next.push_back(input.from.node);
    }
  }
}

bool Evaluation::has_no_history(const Node& node) const {
  return node.no_grad || (!differentiable && !recorded_.contains(&node));
}

// Until the results are there: tasks tell of that themselves where they are traced.
void Evaluation::run_timed(Node& node, bool last_gradients) {
  const TimedStep timed(node.type(), &node);
  run(node, last_gradients);
  if (trace::wanted(trace::Kind::Task)) return;
  for (const Tensor& output : values_[&node]) {
    if (output.defined()) output.wait();
  }
}

void Evaluation::run(Node& node, bool last_gradients) {
  const framework::AtNode mine(kernels, &node, &node.name);
  switch (node.kind) {
    case NodeKind::Placeholder:
      if (values_.contains(&node)) return;
      PKG_CHECK(node.value.defined(), ValueError,
                "You must feed a value for placeholder tensor '", node.name,
                "' with dtype ", node.outputs[0].dtype, " and shape ",
                node.outputs[0].str(), ".");
      return set(node, {node.value});
    case NodeKind::Constant: return set(node, {node.value});
    case NodeKind::Variable:
      if (values_.contains(&node)) return;  // fed
      return set(node, {read(node)});
    case NodeKind::Group: return;
    case NodeKind::Gradients:
      return set(node, gradients(node, !last_gradients || differentiable));
    case NodeKind::Op: return set(node, call(node));
    case NodeKind::Function: return set(node, function(node));
    case NodeKind::Assign: {
      const auto args = arguments(node);
      Tensor read = assign(*node.variable, std::get<Tensor>(args[0]));
      // A read of its own: what else is read of the variable is not behind it.
      if (read.requires_grad() && wanted_.contains({&node, 0})) {
        read = ops::expand(read, Shape(size_t(read.ndim()), -1));
      }
      return set(node, {read});
    }
  }
}

// Note [Assigned values have no history]
// A variable keeps a value, and not how it was made: no gradient flows from what is read of it
// to what it was assigned.  So each value is a leaf, as the first one is, and the gradient with
// respect to the variable is the sum of those of all that were read of it, before and after
// it was assigned.  TensorFlow says so of what it reads by the handle of a variable.
Tensor Evaluation::assign(Node& variable, const Tensor& value) {
  check_memory(variable, value);
  PKG_CHECK(variable.outputs[0].accepts(value.sizes()), ValueError,
            "[assign] expected a value of shape ", variable.outputs[0].str(),
            " for the variable ", variable.name, ", got ", value.sizes(), ".");
  Tensor kept;
  {
    ExcludeKeys off(DispatchKey::Autograd);
    kept = keep(variable, value);
  }
  written_.emplace_back(&variable, kept);
  if (const auto wanted = wanted_.find({&variable, 0}); wanted != wanted_.end()) {
    kept = as_leaf(kept);
    wanted->second.push_back(kept);
  }
  values_[&variable] = {kept};
  return kept;
}

std::vector<Tensor> Evaluation::function(Node& node) {
  PKG_CHECK(control, NotImplementedError, "[", node.name,
            "] runs parts of its own: there is no plan for the graph around it.");
  std::optional<ExcludeKeys> off;
  const bool plain = has_no_history(node);
  if (plain) off.emplace(DispatchKey::Autograd);
  FunctionRun run;
  run.control = control;
  run.session = session;
  run.read = [&](const Node& variable) {
    const auto found = values_.find(&variable);
    return found == values_.end() ? read(variable) : found->second[0];
  };
  run.assign = [&](Node& variable, const Tensor& value) { return assign(variable, value); };
  const auto args = arguments(node);
  const auto& given = std::get<TensorList>(args[0]);
  const TensorList outputs = node.function->run(given, run);
  PKG_CHECK(outputs.size() == node.outputs.size(), ValueError, "[", node.name,
            "] expected ", node.outputs.size(), " results, got ", outputs.size(), ".");
  std::vector<Tensor> made;
  for (const Tensor& output : outputs) {
    const auto same = [&](const Tensor& other) { return other.is_same(output); };
    if (plain) {
      made.push_back(share(output));
    } else if (output.requires_grad() && (std::any_of(given.begin(), given.end(), same) ||
                                          std::any_of(made.begin(), made.end(), same))) {
      // What is passed through has a place of its own in the history.
      made.push_back(ops::expand(output, Shape(size_t(output.ndim()), -1)));
    } else {
      made.push_back(output);
    }
  }
  return made;
}

// What gradients are taken with respect to is a leaf of this evaluation, or has a history
// that the engine stops at.  What was fed belongs to others: its alias is marked.
void Evaluation::set(Node& node, std::vector<Tensor> outputs) {
  for (const Tensor& output : outputs) check_memory(node, output);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    // Of an operation with several outputs, the others may be wanted beside one that is fed.
    if (const auto fed = fed_.find({&node, i}); fed != fed_.end()) outputs[i] = fed->second;
    const auto wanted = wanted_.find({&node, i});
    if (wanted == wanted_.end() || !outputs[i].defined()) continue;
    if (!wanted->second.empty()) {
      outputs[i] = wanted->second[0];
      continue;
    }
    outputs[i] = as_leaf(outputs[i]);
    wanted->second = {outputs[i]};
  }
  values_[&node] = std::move(outputs);
}

Tensor Evaluation::value(Edge edge) const {
  const auto found = values_.find(edge.node);
  PKG_ASSERT(found != values_.end() && edge.output < found->second.size());
  PKG_CHECK(found->second[edge.output].defined(), RuntimeError,
            "Attempting to use uninitialized value ", edge.node->name);
  return found->second[edge.output];
}

std::vector<Value> Evaluation::arguments(const Node& node) const {
  return node.arguments([&](Edge edge) { return value(edge); },
                        [&](const Tensor& tensor) {
                          const bool other = tensor.defined() && captured &&
                                             !tensor.impl()->wrapped_number;
                          return other ? captured(tensor) : tensor;
                        });
}

std::vector<Tensor> Evaluation::call(Node& node) {
  std::optional<ExcludeKeys> off;
  if (has_no_history(node)) off.emplace(DispatchKey::Autograd);
  std::vector<Value> args = arguments(node);
  Stack stack(args);
  std::optional<ExcludeKeys> here;
  // A task would not know whose kernel it is.
  if (control && framework::find_kernel_set(*node.op)) {
    for (const Value& arg : args) {
      for_each_tensor(arg, [](const Tensor& tensor) {
        if (tensor.defined()) tensor.wait();
      });
    }
    here.emplace(DispatchKey::Async);
  }
  Dispatcher::get().call_boxed(*node.op, stack);
  std::vector<Tensor> outputs;
  for (Value& result : stack.results) {
    if (auto* tensor = std::get_if<Tensor>(&result)) outputs.push_back(*tensor);
    if (auto* list = std::get_if<TensorList>(&result)) {
      outputs.insert(outputs.end(), list->begin(), list->end());
    }
  }
  check_outputs(node, outputs);
  if (!wanted_.empty()) give_places(node, args, outputs);
  return outputs;
}

// What a call gives back as it took it has a place of its own in the history where gradients
// are taken at it: else they would be those at the argument.
void Evaluation::give_places(Node& node, const std::vector<Value>& args,
                             std::vector<Tensor>& outputs) const {
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    if (!output.defined() || !output.requires_grad()) continue;
    if (!wanted_.contains({&node, i})) continue;
    bool taken = false;
    for (const Value& arg : args) {
      for_each_tensor(arg, [&](const Tensor& other) { taken |= other.is_same(output); });
    }
    if (taken) output = ops::expand(output, Shape(size_t(output.ndim()), -1));
  }
}

std::vector<Tensor> Evaluation::gradients(Node& node, bool create_graph) {
  TensorList ys, grad_ys, xs, stops;
  const auto args = arguments(node);
  const auto& all_ys = std::get<TensorList>(args[0]);
  const auto& all_grads = std::get<TensorList>(args[1]);
  for (size_t i = 0; i < all_ys.size(); ++i) {
    if (!all_ys[i].requires_grad()) continue;
    ys.push_back(all_ys[i]);
    grad_ys.push_back(node.has_grad_y[i] ? all_grads[i] : ops::full_like(all_ys[i], 1));
  }
  std::vector<size_t> n_values;  // of each x
  for (const Node::Input& input : node.inputs) {
    if (input.arg < 2) continue;
    const std::vector<Tensor>& values = wanted_.at(input.from);
    TensorList& list = input.arg == 2 ? xs : stops;
    list.insert(list.end(), values.begin(), values.end());
    if (input.arg == 2) n_values.push_back(values.size());
  }
  TensorList found(xs.size());
  if (!ys.empty()) found = grad(ys, xs, grad_ys, true, create_graph, true, stops);
  std::vector<Tensor> outputs;
  size_t first = 0;
  for (const size_t n : n_values) {
    const std::span parts = std::span<const Tensor>(found).subspan(first, n);
    first += n;
    outputs.push_back(sum_of_reads(node, parts, xs[first - 1]));
  }
  if (node.no_grad) {
    for (Tensor& output : outputs) output = share(output);
  }
  return outputs;
}

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// autograd/engine.cc: an iterative pass in descending order of sequence numbers.
//
// A node is created after the nodes of its inputs, so whoever has the largest number
// among the pending nodes has received all its gradients: no counting pass is needed.
#include "autograd/engine.h"

#include <queue>
#include <unordered_map>

#include "autograd/accumulate_grad.h"
#include "dispatcher/dispatcher.h"
#include "ops/functions.h"
#include "scheduler/hooks.h"

namespace pkg {
namespace {

class Pass {
 public:
  Pass(bool retain_graph, bool create_graph, bool accumulate)
      : retain_graph_(retain_graph), create_graph_(create_graph),
        accumulate_(accumulate) {}

  void add(const Edge& edge, Tensor grad) {
    auto [entry, fresh] = pending_.try_emplace(edge.node.get());
    if (fresh) {
      entry->second.node = edge.node;
      entry->second.grads.resize(edge.node->n_outputs());
      order_.push({edge.node->sequence(), edge.node.get()});
    }
    Tensor& slot = entry->second.grads[edge.input_nr];
    slot = slot.defined() ? ops::add(slot, grad) : std::move(grad);
  }

  /// The gradient arriving at `edge` is also wanted as result `index`.
  void capture(const Edge& edge, size_t index) {
    captures_[edge.node.get()].push_back({edge.input_nr, index});
  }

  void run(TensorList& captured) {
    int64_t count = 0;
    while (!order_.empty()) {
      if (++count % 1024 == 0) check_interrupt();
      Node* key = order_.top().second;
      order_.pop();
      auto found = pending_.find(key);
      const Ref<Node> node = std::move(found->second.node);
      TensorList grads = std::move(found->second.grads);
      pending_.erase(found);
      if (!captures_.empty()) {
        for (const auto& [input_nr, index] : captures_[key]) {
          captured[index] = grads[input_nr];
        }
      }
      if (node->edges().empty() && !accumulate_) continue;
      TensorList next = node->apply(std::move(grads));
      if (!retain_graph_) node->release_saved();
      for (size_t i = 0; i < next.size(); ++i) {
        if (next[i].defined() && node->edges()[i].node) {
          add(node->edges()[i], std::move(next[i]));
        }
      }
    }
  }

 private:
  struct Pending {
    Ref<Node> node;
    TensorList grads;
  };
  bool retain_graph_, create_graph_, accumulate_;
  std::unordered_map<Node*, Pending> pending_;
  std::priority_queue<std::pair<uint64_t, Node*>> order_;
  std::unordered_map<Node*, std::vector<std::pair<uint32_t, size_t>>> captures_;
};

// Grad mode is on in the pass exactly when the gradients shall be differentiable.
class GradMode {
 public:
  explicit GradMode(bool enabled) : saved_(grad_enabled()) { set_grad_enabled(enabled); }
  ~GradMode() { set_grad_enabled(saved_); }

 private:
  bool saved_;
};

void seed(Pass& pass, const TensorList& outputs, const TensorList& grad_outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    PKG_CHECK(output.requires_grad(), RuntimeError, "element ", i,
              " of tensors does not require grad and does not have a grad_fn");
    Tensor grad = i < grad_outputs.size() ? grad_outputs[i] : Tensor();
    if (!grad.defined()) {
      PKG_CHECK(output.numel() == 1, RuntimeError,
                "grad can be implicitly created only for scalar outputs, got shape ",
                output.sizes());
      grad = ops::full_like(output, 1);
    }
    PKG_CHECK(grad.sizes() == output.sizes(), RuntimeError, "Mismatch in shape: "
              "grad_output[", i, "] has a shape of ", grad.sizes(), " and output[", i,
              "] has a shape of ", output.sizes());
    pass.add(gradient_edge(output), grad);
  }
}

}  // namespace

void backward(const TensorList& outputs, const TensorList& grad_outputs,
              bool retain_graph, bool create_graph) {
  BlockingRegion without_gil;
  GradMode mode(create_graph);
  Pass pass(retain_graph || create_graph, create_graph, true);
  seed(pass, outputs, grad_outputs);
  TensorList none;
  pass.run(none);
}

TensorList grad(const TensorList& outputs, const TensorList& inputs,
                const TensorList& grad_outputs, bool retain_graph, bool create_graph,
                bool allow_unused) {
  BlockingRegion without_gil;
  GradMode mode(create_graph);
  Pass pass(retain_graph || create_graph, create_graph, false);
  std::vector<Edge> kept;  // the nodes that captures are keyed by stay alive
  for (size_t i = 0; i < inputs.size(); ++i) {
    PKG_CHECK(inputs[i].requires_grad(), RuntimeError,
              "One of the differentiated Tensors does not require grad (input ", i, ")");
    kept.push_back(gradient_edge(inputs[i]));
    pass.capture(kept.back(), i);
  }
  seed(pass, outputs, grad_outputs);
  TensorList result(inputs.size());
  pass.run(result);
  for (size_t i = 0; i < result.size(); ++i) {
    PKG_CHECK(allow_unused || result[i].defined(), RuntimeError,
              "One of the differentiated Tensors appears to not have been used in the "
              "graph (input ", i, "). Set allow_unused=True if this is the desired "
              "behavior.");
  }
  return result;
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// autograd/engine.cc: an iterative pass in descending order of sequence numbers.
//
// A node is created after the nodes of its inputs, so whoever has the largest number
// among the pending nodes has received all its gradients: no counting pass is needed.
#include "autograd/engine.h"

#include <algorithm>
#include <set>
#include <vector>

#include "autograd/accumulate_grad.h"
#include "autograd/nesting.h"
#include "autograd/pending.h"
#include "autograd/views.h"
#include "autograd/wanted.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/running_total.h"
#include "ops/functions.h"
#include "scheduler/hooks.h"
#include "scheduler/stop_point.h"
#include "tensor/layout.h"

namespace pkg {
namespace {

std::atomic<bool> g_detect_anomaly{false};

// A pass checks for Ctrl-C each time it has computed this many elements of gradients, so at
// least every few milliseconds.  A node counts as at least a thousand elements.
constexpr int64_t kNodeWork = 1 << 10, kWorkUnasked = 1 << 20;

bool has_nan(const Tensor& tensor) {
  return is_floating(tensor.dtype()) &&
         item(ops::any(ops::isnan(tensor), std::nullopt, false)).to<bool>();
}

std::string where(const Node& node) {
  const std::string site = node.call_site();
  return node.name() + (site.empty() ? "" : ", recorded at " + site);
}

// Whether `grad` may be added to in place: nobody else sees its memory, here or outside, and
// each element has a place of its own.
bool is_private(const Tensor& grad) {
  return grad.ref()->use_count() == 1 && !grad.is_view() && grad.storage().held_by(1) &&
         !grad.storage().exported() && !grad.requires_grad() &&
         (grad.is_contiguous() || !may_overlap(grad.sizes(), grad.strides()));
}

class Pass final : public RunningTotals {
 public:
  struct Options {
    bool retain_graph, create_graph, accumulate;
  };
  explicit Pass(Options options) : options_(options) {}

  void add(const Edge& edge, Tensor grad) {
    if (wanted_ && !wanted_->receives(*edge.node)) return;
    Tensor& slot = pending_.gradients(edge.node)[edge.input_nr];
    if (!slot.defined()) {
      slot = std::move(grad);
    } else if (!options_.create_graph && is_private(slot) && slot.dtype() == grad.dtype() &&
               slot.sizes() == grad.sizes()) {
      ops::add_(slot, grad);
    } else {
      slot = ops::add(slot, grad);
    }
  }

  /// Of the node that runs, and only where nobody looks at what it gives: a hook, the check
  /// for NaN, a second derivative.
  Tensor take(const Shape& sizes, DType dtype) override {
    const Node* node = std::exchange(running_, nullptr);  // it gets it once
    if (!node || options_.create_graph || node->hooks_or_null()) return {};
    if (g_detect_anomaly.load(std::memory_order_relaxed)) return {};
    const Edge* only = nullptr;
    for (const Edge& edge : node->edges()) {
      if (!edge.node) continue;
      if (only) return {};
      only = &edge;
    }
    TensorList* grads = only ? pending_.find(*only->node) : nullptr;
    if (!grads) return {};
    Tensor& slot = (*grads)[only->input_nr];
    if (!slot.defined() || slot.dtype() != dtype || slot.sizes() != sizes ||
        !is_private(slot)) {
      return {};
    }
    // To add whole tensors makes 0 of each -0: after this, to add to a part does as well.
    if (totals_.insert({only->node.get(), only->input_nr}).second) {
      ops::add_(slot, Tensor(0.0));
    }
    return std::exchange(slot, Tensor());
  }

  /// The gradient arriving at `edge` is also wanted as result `index`.
  void capture(const Edge& edge, size_t index) {
    captures_.push_back({edge.node.get(), edge.input_nr, index});
  }

  /// The gradient arriving at `edge` is captured, and then dropped.
  void stop(const Edge& edge) { stops_.push_back({edge.node.get(), edge.input_nr, 0}); }

  /// From here on only nodes run that lead to one of `targets`.
  void restrict_to(std::span<const Edge> targets, bool single_output) {
    single_ = single_output;
    wanted_.emplace(targets);
    pending_.for_each([this](const Node& node) { wanted_->explore(node); });
  }

  void run(TensorList& captured) {
    const UseRunningTotals mine(this);
    int64_t work = 0;  // elements since the last check for Ctrl-C
    while (!pending_.empty()) {
      auto [node, grads] = pending_.take_latest();
      work += kNodeWork;
      for (const Tensor& grad : grads) work += grad.defined() ? grad.numel() : 0;
      if (work >= kWorkUnasked) {
        work = 0;
        stop_point();
      }
      try {
        step(*node, std::move(grads), captured);
      } catch (Error& error) {
        error.append(" [in backward of " + where(*node) + "]");
        throw;
      }
    }
  }

 private:
  struct Capture {
    Node* node;
    uint32_t input_nr;
    size_t index;
  };

  void step(Node& node, TensorList grads, TensorList& captured) {
    const bool runs = !wanted_ || wanted_->runs(node);
    const HookList* hooks = node.hooks_or_null();
    const bool leaf = node.edges().empty();
    // An output that leads nowhere is passed over, but the hooks of the only one run, as
    // in PyTorch.
    const bool wanted = runs || wanted_->receives(node);
    if (!wanted && !single_) return;
    if (hooks) hooks->run_on_tensors(grads);
    if (!wanted) return;
    for (const Capture& capture : captures_) {
      if (capture.node == &node) captured[capture.index] = grads[capture.input_nr];
    }
    if (drop_stopped(node, grads)) return;
    if (leaf ? !options_.accumulate : !runs) return;
    if (hooks) hooks->run_before(grads);
    TensorList given = hooks ? grads : std::move(grads);
    running_ = &node;
    TensorList next = options_.retain_graph ? node.apply(std::move(given))
                                            : node.apply_and_release(std::move(given));
    running_ = nullptr;
    if (hooks) hooks->run_after(next, grads);
    if (g_detect_anomaly.load(std::memory_order_relaxed)) check_finite(node, next);
    const auto& edges = node.edges();
    for (size_t i = 0; i < next.size(); ++i) {
      if (next[i].defined() && edges[i].node) add(edges[i], std::move(next[i]));
    }
  }

  // Whether nothing is left of the gradients, as all of them stop here.
  bool drop_stopped(const Node& node, TensorList& grads) const {
    bool dropped = false;
    for (const Capture& stop : stops_) {
      if (stop.node != &node) continue;
      grads[stop.input_nr] = {};
      dropped = true;
    }
    return dropped && std::none_of(grads.begin(), grads.end(),
                                   [](const Tensor& grad) { return grad.defined(); });
  }

  static void check_finite(const Node& node, const TensorList& grads) {
    for (size_t i = 0; i < grads.size(); ++i) {
      PKG_CHECK(!grads[i].defined() || !has_nan(grads[i]), RuntimeError, "Function '",
                node.name(), "' returned nan values in its ", i, "th output.");
    }
  }

  Options options_;
  PendingNodes pending_;
  const Node* running_ = nullptr;  // its formula may take a running total
  std::set<std::pair<const Node*, uint32_t>> totals_;  // where some were taken
  std::vector<Capture, PoolAllocator<Capture>> captures_, stops_;
  std::optional<WantedNodes> wanted_;  // none: every node runs
  bool single_ = false;  // one output, perhaps one that leads to none of the wanted
};

// Grad mode is on during the pass if the gradients are to be differentiable.
class GradMode {
 public:
  explicit GradMode(bool enabled) : saved_(set_grad_enabled(enabled)) {}
  ~GradMode() { set_grad_enabled(saved_); }

 private:
  bool saved_;
};

void seed(Pass& pass, const TensorList& outputs, const TensorList& grad_outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    PKG_CHECK(requires_grad(output), RuntimeError, "element ", i,
              " of tensors does not require grad and does not have a grad_fn");
    Tensor grad = i < grad_outputs.size() ? grad_outputs[i] : Tensor();
    if (!grad.defined()) {
      PKG_CHECK(output.numel() == 1, RuntimeError,
                "grad can be implicitly created only for scalar outputs, got shape ",
                output.sizes());
      grad = ops::full_like(output, 1);
    }
    PKG_CHECK(grad.sizes() == output.sizes(), RuntimeError,
              "Mismatch in shape: "
              "grad_output[",
              i, "] has a shape of ", grad.sizes(), " and output[", i, "] has a shape of ",
              output.sizes());
    pass.add(gradient_edge(output), grad);
  }
}

// Where the gradients of `inputs` arrive.
std::vector<Edge> edges_of(const TensorList& inputs) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < inputs.size(); ++i) {
    PKG_CHECK(inputs[i].defined() && requires_grad(inputs[i]), RuntimeError,
              "One of the differentiated Tensors does not require grad (input ", i, ")");
    edges.push_back(gradient_edge(inputs[i]));
  }
  return edges;
}

}  // namespace

void set_detect_anomaly(bool enabled) { g_detect_anomaly = enabled; }
bool detect_anomaly() { return g_detect_anomaly; }

void backward(const TensorList& outputs, const TensorList& grad_outputs, bool retain_graph,
              bool create_graph, const TensorList& inputs) {
  BlockingRegion without_gil;
  GradMode mode(create_graph);
  Pass pass({retain_graph || create_graph, create_graph, true});
  const std::vector<Edge> targets = edges_of(inputs);
  seed(pass, outputs, grad_outputs);
  if (!inputs.empty()) {
    for (const Tensor& input : inputs) retain_grad(input);
    pass.restrict_to(targets, outputs.size() == 1);
  }
  run_nested([&pass] {
    TensorList none;
    pass.run(none);
  });
}

TensorList grad(const TensorList& outputs, const TensorList& inputs,
                const TensorList& grad_outputs, bool retain_graph, bool create_graph,
                bool allow_unused, const TensorList& stops) {
  BlockingRegion without_gil;
  GradMode mode(create_graph);
  Pass pass({retain_graph || create_graph, create_graph, false});
  // The nodes that captures are keyed by stay alive.
  const std::vector<Edge> targets = edges_of(inputs);
  for (size_t i = 0; i < targets.size(); ++i) pass.capture(targets[i], i);
  std::vector<Edge> stopping;
  for (const Tensor& tensor : stops) {
    if (!tensor.defined() || !requires_grad(tensor)) continue;
    pass.stop(stopping.emplace_back(gradient_edge(tensor)));
  }
  seed(pass, outputs, grad_outputs);
  pass.restrict_to(targets, outputs.size() == 1);
  TensorList result(inputs.size());
  run_nested([&] { pass.run(result); });
  for (size_t i = 0; i < result.size(); ++i) {
    PKG_CHECK(allow_unused || result[i].defined(), RuntimeError,
              "The differentiated Tensor at index ", i,
              " appears to not have been used "
              "in the graph. Set allow_unused=True if this is the desired behavior.");
  }
  return result;
}

}  // namespace pkg

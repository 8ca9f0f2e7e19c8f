// SPDX-License-Identifier: Apache-2.0
// graph/control_flow.cc: see control_flow.h.
#include "graph/control_flow.h"

#include <algorithm>

#include "framework/kernel_set.h"
#include "graph/evaluate.h"
#include "graph/session.h"
#include "ops/functions.h"
#include "scheduler/hooks.h"
#include "scheduler/stop_point.h"

namespace pkg::graph {
namespace {

/// A body that is complete, and how to run it.
class Part {
 public:
  /// What it uses of the graph around goes to the end of the function's variables and of
  /// the inputs of its node.
  Part(Body body, Function& function, TensorList& inputs) : body_(std::move(body)) {
    feeds_ = body_.inputs;
    for (const Capture& capture : body_.graph->take_captures()) {
      feeds_.push_back(capture.inner);
      const Edge outer = edge_of(capture.outer);
      const bool variable = outer.node->kind == NodeKind::Variable;
      variables_.push_back(variable ? outer.node : nullptr);
      if (variable) function.variables.push_back(outer.node);
      else inputs.push_back(capture.outer);
      n_symbols_ += !variable;
    }
    nodes_ = needed(feeds_, body_.outputs, body_.targets);
    for (Node* node : nodes_) {
      if (node->kind == NodeKind::Assign) assigns_ = true;
      if (node->kind == NodeKind::Function) assigns_ |= node->function->assigns;
      functions_ |= node->kind == NodeKind::Function;
      if (node->kind == NodeKind::Op)
        keeps_ |= framework::find_kernel_set(*node->op) != nullptr;
      if (node->kind == NodeKind::Function) keeps_ |= node->function->keeps;
      for (const Value& value : node->args) {
        for_each_tensor(value, [&](const Tensor& tensor) {
          if (is_floating(tensor.dtype())) tensors_.push_back(tensor);
        });
      }
    }
    function.assigns |= assigns_;
    function.keeps |= keeps_;
    callable_ = make();
  }

  size_t n_inputs() const { return body_.inputs.size(); }
  size_t n_outputs() const { return body_.outputs.size(); }
  const OutputSpec& spec(size_t output) const {
    const Edge edge = body_.outputs[output];
    return edge.node->outputs[edge.output];
  }
  /// How many symbols it uses.
  size_t n_symbols() const { return n_symbols_; }

  /// `captured`: values of the symbols.
  TensorList run(const TensorList& given, std::span<const Tensor> captured,
                 const FunctionRun& run) const {
    TensorList feeds = given;
    for (const Node* variable : variables_) {
      if (variable) {
        feeds.push_back(run.read(*variable));
        continue;
      }
      feeds.push_back(captured.front());
      captured = captured.subspan(1);
    }
    for (size_t i = 0; i < feeds_.size(); ++i) check_feed(feeds_[i], feeds[i]);
    const auto needs = [](const Tensor& tensor) {
      return tensor.defined() && tensor.requires_grad();
    };
    const bool recorded = !t_local_keys.excluded.has(DispatchKey::Autograd) &&
                          (functions_ || std::any_of(feeds.begin(), feeds.end(), needs) ||
                           std::any_of(tensors_.begin(), tensors_.end(), needs));
    const bool complete = std::all_of(
        feeds.begin(), feeds.end(), [](const Tensor& tensor) { return tensor.defined(); });
    const Ref<Callable> callable = keeps_ && run.session ? run.session->kept_body(
                                                               this, [&] { return make(); })
                                                         : callable_;
    try {
      if (complete && !assigns_ && !recorded)
        return callable->run_as_part(feeds, *run.control);
      return interpret(feeds, run, callable->session());
    } catch (const CancelledError&) { throw; } catch (Error& error) {
      say_where(error);
      throw;
    }
  }

 private:
  Ref<Callable> make() const {
    return Ref<Session>::make(body_.graph)
        ->make_callable(feeds_, body_.outputs, body_.targets);
  }

  // The run tells the node of its own graph, and the lines of what failed in the parts stand
  // in the text, the innermost first.
  void say_where(Error& error) const {
    const Node* failed = failed_node();
    if (!failed || &failed->graph != body_.graph.get()) return;
    const std::string site = failed->call_site();
    error.append(str(" [in operation '", failed->name, "', ", failed->type(),
                     site.empty() ? "" : ", made by the line ", site, "]"));
    set_failed_node(nullptr);
  }

  static void check_feed(Edge edge, const Tensor& tensor) {
    if (!tensor.defined()) return;  // of a variable
    const OutputSpec& spec = edge.node->outputs[edge.output];
    PKG_CHECK(tensor.dtype() == spec.dtype && spec.accepts(tensor.sizes()), ValueError, "[",
              edge.node->name, "] expected ", spec.dtype, " of shape ", spec.str(),
              ", got ", tensor.dtype(), " of shape ", tensor.sizes(), ".");
  }

  TensorList interpret(const TensorList& feeds, const FunctionRun& run,
                       Session& session) const {
    Evaluation evaluation;
    for (size_t i = 0; i < feeds.size(); ++i) evaluation.feed(feeds_[i], feeds[i]);
    evaluation.differentiable = !t_local_keys.excluded.has(DispatchKey::Autograd);
    evaluation.control = run.control;
    evaluation.session = &session;
    evaluation.kernels = &session.kernels();
    evaluation.keep = [&](Node& variable, const Tensor& value) {
      return run.assign(*variable.outer.node, value);
    };
    const Node* current = nullptr;
    evaluation.at = [&](const Node& node) {
      current = nullptr;
      stop_point();
      run.control->check();
      current = &node;
    };
    try {
      evaluation.run(nodes_);
    } catch (...) {
      set_failed_node(current);
      throw;
    }
    TensorList outputs;
    for (Edge output : body_.outputs) outputs.push_back(evaluation.value(output));
    return outputs;
  }

  Body body_;
  std::vector<Edge> feeds_;       // inputs, then what is captured
  std::vector<Node*> variables_;  // that is captured; null where it is another symbol
  size_t n_symbols_ = 0;
  std::vector<Node*> nodes_;
  TensorList tensors_;  // with values, that calls refer to
  bool assigns_ = false;
  bool functions_ = false;  // whether some run bodies of their own
  bool keeps_ = false;      // Note [Kept bodies]
  Ref<Callable> callable_;
};

bool truth(const char* what, const Tensor& tensor) {
  PKG_CHECK(tensor.dtype() == DType::Bool && tensor.numel() == 1, ValueError, "[", what,
            "] expected a condition of one bool, got ", tensor.dtype(), " of shape ",
            tensor.sizes(), ".");
  tensor.wait();
  return *tensor.data<bool>();
}

class While final : public Function {
 public:
  While(Body condition, Body body, TensorList& inputs)
      : Function("While"),
        condition_(std::move(condition), *this, inputs),
        body_(std::move(body), *this, inputs) {}

  TensorList run(const TensorList& inputs, const FunctionRun& run) override {
    const size_t n = body_.n_inputs();
    std::vector<TensorList> collected(body_.n_outputs() - n);
    TensorList values(inputs.begin(), inputs.begin() + std::ptrdiff_t(n));
    const std::span captured = std::span(inputs).subspan(n);
    const auto of_condition = captured.first(condition_.n_symbols());
    const auto of_body = captured.subspan(condition_.n_symbols());
    BlockingRegion others_may_run;
    while (true) {
      stop_point();
      run.control->check();
      if (!truth("while", condition_.run(values, of_condition, run)[0])) break;
      TensorList made = body_.run(values, of_body, run);
      for (size_t i = n; i < made.size(); ++i) {
        collected[i - n].push_back(ops::unsqueeze(made[i], 0));
      }
      made.resize(n);
      values = std::move(made);
    }
    for (size_t i = 0; i < collected.size(); ++i) {
      values.push_back(whole(collected[i], body_.spec(n + i)));
    }
    return values;
  }

 private:
  // What a turn would have given says the shape where there was none.
  static Tensor whole(const TensorList& turns, const OutputSpec& spec) {
    if (!turns.empty()) return ops::cat(turns, 0);
    Shape sizes{0};
    for (size_t d = 0; spec.known_rank && d < spec.sizes.size(); ++d) {
      sizes.push_back(std::max<int64_t>(spec.sizes[d], 0));
    }
    return empty(sizes, spec.dtype, Device{});
  }

  Part condition_, body_;
};

class Cond final : public Function {
 public:
  Cond(Body if_true, Body if_false, TensorList& inputs)
      : Function("If"),
        if_true_(std::move(if_true), *this, inputs),
        if_false_(std::move(if_false), *this, inputs) {}

  TensorList run(const TensorList& inputs, const FunctionRun& run) override {
    const std::span captured = std::span(inputs).subspan(1);
    const size_t n = if_true_.n_symbols();
    if (truth("cond", inputs[0])) return if_true_.run({}, captured.first(n), run);
    return if_false_.run({}, captured.subspan(n), run);
  }

 private:
  Part if_true_, if_false_;
};

std::vector<DType> dtypes_of(const std::vector<Edge>& edges) {
  std::vector<DType> dtypes;
  for (Edge edge : edges) dtypes.push_back(edge.node->outputs[edge.output].dtype);
  return dtypes;
}

OutputSpec either(const OutputSpec& a, const OutputSpec& b) {
  if (!a.known_rank || !b.known_rank || a.sizes.size() != b.sizes.size()) {
    return OutputSpec{a.dtype, false, Shape{}};
  }
  OutputSpec spec = a;
  for (size_t d = 0; d < spec.sizes.size(); ++d) {
    if (spec.sizes[d] != b.sizes[d]) spec.sizes[d] = -1;
  }
  return spec;
}

OutputSpec spec_of(Edge edge) { return edge.node->outputs[edge.output]; }

}  // namespace

Node& add_while(Graph& graph, std::string name, Body condition, Body body,
                const TensorList& values) {
  PKG_CHECK(condition.inputs.size() == values.size() &&
                body.inputs.size() == values.size() &&
                body.outputs.size() >= values.size() && condition.outputs.size() == 1,
            ValueError,
            "[while] expected one condition, and as many inputs and at least as many "
            "outputs as the ",
            values.size(), " values, got ", condition.outputs.size(), " conditions, ",
            condition.inputs.size(), " and ", body.inputs.size(), " inputs, ",
            body.outputs.size(), " outputs.");
  const std::vector<Edge> next(body.outputs.begin(),
                               body.outputs.begin() + std::ptrdiff_t(values.size()));
  PKG_CHECK(dtypes_of(body.inputs) == dtypes_of(next) &&
                dtypes_of(body.inputs) == dtypes_of(condition.inputs),
            ValueError,
            "[while] expected the body to give what it takes: the dtypes of "
            "its inputs and outputs differ.");
  std::vector<OutputSpec> outputs;
  for (Edge input : body.inputs) outputs.push_back(spec_of(input));
  for (size_t i = values.size(); i < body.outputs.size(); ++i) {
    OutputSpec collected = spec_of(body.outputs[i]);
    if (collected.known_rank) {
      Shape sizes{-1};  // so many turns
      for (int64_t size : collected.sizes) sizes.push_back(size);
      collected.sizes = sizes;
    }
    outputs.push_back(std::move(collected));
  }
  TensorList inputs = values;
  const auto made = Ref<While>::make(std::move(condition), std::move(body), inputs);
  return graph.function(std::move(name), made, inputs, std::move(outputs));
}

Node& add_cond(Graph& graph, std::string name, const Tensor& predicate, Body if_true,
               Body if_false) {
  PKG_CHECK(if_true.inputs.empty() && if_false.inputs.empty() &&
                dtypes_of(if_true.outputs) == dtypes_of(if_false.outputs),
            ValueError,
            "[cond] expected both parts to give as many tensors of the same "
            "dtypes, got ",
            if_true.outputs.size(), " and ", if_false.outputs.size(), ".");
  std::vector<OutputSpec> outputs;
  for (size_t i = 0; i < if_true.outputs.size(); ++i) {
    outputs.push_back(either(spec_of(if_true.outputs[i]), spec_of(if_false.outputs[i])));
  }
  TensorList inputs{predicate};
  const auto made = Ref<Cond>::make(std::move(if_true), std::move(if_false), inputs);
  return graph.function(std::move(name), made, inputs, std::move(outputs));
}

}  // namespace pkg::graph

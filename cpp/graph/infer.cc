// SPDX-License-Identifier: Apache-2.0
// graph/infer.cc: what a call will give, as far as it is known before it runs.
//
// Note [Unknown sizes]
// A shape rule knows numbers only.  So the call is made twice on the Meta key, with two
// numbers in the place of every unknown size; what differs between the two results is
// unknown, and no rule has to know of graphs.  The numbers have many divisors, so that what
// is divided (reshape, chunk) mostly divides.  Where both are refused, because the size has
// to agree with another, 1 is tried, which goes with most; what is then 1 is unknown.
#include <cstring>

#include "dispatcher/dispatcher.h"
#include "graph/graph.h"

namespace pkg::graph {
namespace {

constexpr int64_t kGuesses[] = {5040, 10080};
constexpr int64_t kSmall = 2;

using Trial = std::vector<Spec>;

Tensor like(const OutputSpec& spec, int64_t guess, Device device) {
  Shape sizes = spec.sizes;
  for (int64_t& size : sizes) size = size < 0 ? guess : size;
  return empty(sizes, spec.dtype, device);
}

// A tensor with values beside those without: only numbers may be.
Value without_values(const Value& value) {
  const auto bare = [](const Tensor& tensor) {
    if (!tensor.defined() || tensor.ndim() == 0 || edge_of(tensor).node) return tensor;
    return empty(tensor.sizes(), tensor.dtype(), Device{DeviceType::Meta});
  };
  if (auto* tensor = std::get_if<Tensor>(&value)) return bare(*tensor);
  if (auto* list = std::get_if<TensorList>(&value)) {
    TensorList made;
    for (const Tensor& tensor : *list) made.push_back(bare(tensor));
    return made;
  }
  return value;
}

Trial run(const Operator& op, std::vector<Value> args) {
  Stack stack{args, {}, 0};
  Dispatcher::get().call_boxed(op, stack);
  Trial trial;
  for (int i = 0; i < stack.n_results; ++i) {
    const Value& result = stack.results[size_t(i)];
    if (auto* tensor = std::get_if<Tensor>(&result)) trial.push_back(tensor->spec());
    if (auto* list = std::get_if<TensorList>(&result)) {
      for (const Tensor& tensor : *list) trial.push_back(tensor.spec());
    }
  }
  return trial;
}

Trial on_meta(const Node& node, int64_t guess) {
  std::vector<Value> args = node.arguments([&](Edge edge) {
    return like(edge.node->outputs[edge.output], guess, Device{DeviceType::Meta});
  });
  for (Value& arg : args) arg = without_values(arg);
  return run(*node.op, std::move(args));
}

// For what looks at values: rank and dtype only, from a run with ones of small sizes.
std::vector<OutputSpec> by_example(const Node& node) {
  const std::vector<Value> args = node.arguments([&](Edge edge) {
    Tensor made = like(edge.node->outputs[edge.output], kSmall, Device{});
    PKG_CHECK(made.numel() <= 1 << 16, ValueError, "[infer] too large to try");
    std::memset(made.data<void>(), 0, size_t(made.storage().nbytes()));
    return made;
  });
  std::vector<OutputSpec> outputs;
  for (const Spec& spec : run(*node.op, args)) {
    Shape unknown = spec.sizes;
    for (int64_t& size : unknown) size = -1;
    outputs.push_back({spec.dtype, true, unknown});
  }
  return outputs;
}

OutputSpec of_unknown_rank(DType dtype) {
  OutputSpec spec;
  spec.dtype = dtype;
  spec.known_rank = false;
  return spec;
}

std::vector<OutputSpec> unknown(const Node& node) {
  DType dtype = DType::Float32;
  if (!node.inputs.empty()) {
    const Edge first = node.inputs[0].from;
    dtype = first.node->outputs[first.output].dtype;
  }
  return std::vector<OutputSpec>(node.op->schema.returns.size(), of_unknown_rank(dtype));
}

std::vector<OutputSpec> merge(const Trial& a, const Trial& b) {
  std::vector<OutputSpec> outputs;
  for (size_t i = 0; i < a.size(); ++i) {
    OutputSpec spec{a[i].dtype, true, a[i].sizes};
    if (i >= b.size() || b[i].sizes.size() != spec.sizes.size())
      spec = of_unknown_rank(spec.dtype);
    for (size_t d = 0; d < spec.sizes.size(); ++d) {
      if (b[i].sizes[d] != spec.sizes[d]) spec.sizes[d] = -1;
    }
    outputs.push_back(std::move(spec));
  }
  return outputs;
}

// With 1 for what is unknown, where other sizes are refused.
std::vector<OutputSpec> of_ones(const Node& node) {
  std::vector<OutputSpec> outputs = merge(on_meta(node, 1), on_meta(node, 1));
  for (OutputSpec& spec : outputs) {
    for (int64_t& size : spec.sizes) size = size == 1 ? -1 : size;
  }
  return outputs;
}

template <class F>
std::optional<std::vector<OutputSpec>> attempt(F f) {
  try {
    return f();
  } catch (const Error&) { return std::nullopt; }
}

}  // namespace

std::vector<OutputSpec> infer(const Node& node) {
  UseKeys plain{LocalKeys{{}, KeySet{DispatchKey::Autograd, DispatchKey::Profiler}}};
  bool all_known = true;
  for (const Node::Input& input : node.inputs) {
    const OutputSpec& spec = input.from.node->outputs[input.from.output];
    if (!spec.known_rank) return unknown(node);
    all_known = all_known && spec.fully_known();
  }
  try {
    const Trial first = on_meta(node, kGuesses[0]);
    return merge(first, all_known ? first : on_meta(node, kGuesses[1]));
  } catch (const NotImplementedError&) {
    // No rule, as the result depends on values; a refused dtype ends here, too.
    if (auto found = attempt([&] { return by_example(node); })) return *found;
    if (node.op->has_kernel(DispatchKey::Meta)) throw;
  } catch (const Error&) {
    if (auto found = attempt([&] { return by_example(node); }); found && all_known) {
      return *found;
    }
    if (all_known) throw;
    if (auto found = attempt([&] { return of_ones(node); })) return *found;
  }
  return unknown(node);
}

}  // namespace pkg::graph

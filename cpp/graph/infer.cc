// SPDX-License-Identifier: Apache-2.0
// graph/infer.cc: what a call will give, as far as it is known before it runs.
//
// Note [Unknown sizes]
// A shape rule knows numbers only.  So the call is made on the Meta key with a number in the
// place of every unknown size, then with twice that number, for all of them and for one after
// the other, as far as the op takes that; what differs between the results is unknown, and no
// rule has to know of graphs.  The numbers have many divisors, so that what is divided
// (reshape, chunk) mostly divides.  With 1 for all, some ops have fewer dimensions (squeeze):
// then their number is unknown, and others are shorter (a slice), as with 0.  Where the first
// numbers are refused, because a size has to agree with another, 1 goes with most, or a size
// that is known; what is then of that size is unknown.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>

#include "base/foreign_error.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/unknown_size.h"
#include "framework/calling.h"
#include "graph/graph.h"
#include "tensor/generator.h"

namespace pkg::graph {
namespace {

constexpr int64_t kGuess = 5040;
constexpr int64_t kSmall = 2;

using Trial = std::vector<Spec>;

// Numbers for the unknown sizes of a call, in their order.
struct Guess {
  int64_t all;
  int64_t doubled = -1;  // which of them is twice as large
  int64_t count = 0;     // so far
  size_t rank = 0;       // of what has none that is known

  int64_t operator()() { return count++ == doubled ? 2 * all : all; }
};

Tensor like(const OutputSpec& spec, Guess& guess, Device device) {
  Shape sizes = spec.known_rank ? spec.sizes : Shape(guess.rank, -1);
  for (int64_t& size : sizes) size = size < 0 ? guess() : size;
  return empty(sizes, spec.dtype, device);
}

// A tensor with values beside those without: only numbers may be, and none that is written.
Value without_values(const Value& value, bool written) {
  const auto bare = [&](const Tensor& tensor) {
    if (!tensor.defined() || edge_of(tensor).node) return tensor;
    if (tensor.ndim() == 0 && !written) return tensor;
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
  Stack stack(args);
  Dispatcher::get().call_boxed(op, stack);
  Trial trial;
  for (const Value& result : stack.results) {
    if (auto* tensor = std::get_if<Tensor>(&result)) trial.push_back(tensor->spec());
    if (auto* list = std::get_if<TensorList>(&result)) {
      for (const Tensor& tensor : *list) trial.push_back(tensor.spec());
    }
  }
  return trial;
}

// `open`: whether a result has a size that follows from none of the arguments.
Trial on_meta(const Node& node, Guess guess, bool* open = nullptr) {
  const UnknownSizes sizes(guess.all);
  std::vector<Value> args = node.arguments([&](Edge edge) {
    return like(edge.node->outputs[edge.output], guess, Device{DeviceType::Meta});
  });
  for (size_t i = 0; i < args.size(); ++i) {
    args[i] = without_values(args[i], node.op->schema.arguments[i].written);
  }
  Trial trial = run(*node.op, std::move(args));
  if (open) *open = sizes.asked();
  return trial;
}

// Without a rule, what writes to its arguments gives them back.
std::vector<OutputSpec> written(const Node& node) {
  std::vector<OutputSpec> outputs;
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (!node.op->schema.arguments[i].written) continue;
    for_each_tensor(node.args[i], [&](const Tensor& tensor) {
      outputs.push_back({tensor.dtype(), true, tensor.sizes()});
    });
  }
  return outputs;
}

// For what looks at values: rank and dtype only, from a run with zeros of small sizes.
std::vector<OutputSpec> by_example(const Node& node) {
  PKG_CHECK(!writes(node), ValueError, "[infer] a call that writes is not tried");
  PKG_CHECK(!schedules_itself(*node.op), ValueError,
            "[infer] work that others take part in is not tried");
  for (const Value& value : node.args) {
    const auto* number = std::get_if<Scalar>(&value);
    PKG_CHECK(!number || std::abs(number->to<double>()) <= 1 << 16, ValueError,
              "[infer] too large to try");
  }
  Guess guess{kSmall};
  const std::vector<Value> args = node.arguments([&](Edge edge) {
    Tensor made = like(edge.node->outputs[edge.output], guess, Device{});
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

[[noreturn]] void refuse_count(const Node& node) {
  detail::raise<ValueError>("[", node.op->schema.name,
                            "] has as many results as a size says that is not known yet. "
                            "Give the placeholder that size.");
}

std::vector<OutputSpec> outputs_of(const Trial& trial) {
  std::vector<OutputSpec> outputs;
  for (const Spec& spec : trial) outputs.push_back({spec.dtype, true, spec.sizes});
  return outputs;
}

// What differs in another trial is unknown.
void compare(const Node& node, std::vector<OutputSpec>& outputs, const Trial& trial) {
  if (trial.size() != outputs.size()) refuse_count(node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    Shape& sizes = outputs[i].sizes;
    if (!outputs[i].known_rank) continue;
    if (trial[i].sizes.size() != sizes.size())
      outputs[i] = of_unknown_rank(outputs[i].dtype);
    for (size_t d = 0; outputs[i].known_rank && d < sizes.size(); ++d) {
      if (trial[i].sizes[d] != sizes[d]) sizes[d] = -1;
    }
  }
}

template <class F>
auto attempt(F f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const Error& error) {
    throw_if_stops(error);
    return std::nullopt;
  }
}

// The sizes that a reshape is given are those of the result, whatever comes; null for other
// ops, and for sizes that it refuses.
const Shape* reshaped_to(const Node& node) {
  if (node.op->ns != "pkg" || node.op->schema.name != "reshape") return nullptr;
  const auto* sizes = std::get_if<Shape>(&node.args.at(1));
  const auto refused = [](int64_t size) { return size < -1; };
  if (!sizes || std::any_of(sizes->begin(), sizes->end(), refused)) return nullptr;
  return std::count(sizes->begin(), sizes->end(), -1) > 1 ? nullptr : sizes;
}

std::vector<OutputSpec> unknown(const Node& node) {
  if (const Shape* sizes = reshaped_to(node)) {
    const Edge from = node.inputs.at(0).from;
    return {{from.node->outputs[from.output].dtype, true, *sizes}};
  }
  for (const Argument& result : node.op->schema.returns) {
    if (result.list) refuse_count(node);
  }
  // With several numbers of dimensions and sizes: what all trials agree on is known.
  std::vector<OutputSpec> outputs;
  size_t n = 0;
  for (size_t rank = 0; rank < 5 && !writes(node); ++rank) {
    for (int64_t size : {kGuess, 2 * kGuess}) {
      const auto trial = attempt([&] { return on_meta(node, {size, -1, 0, rank}); });
      if (!trial) continue;
      ++n;
      if (outputs.empty()) outputs = outputs_of(*trial);
      else compare(node, outputs, *trial);
    }
  }
  for (OutputSpec& spec : outputs) {
    if (n <= 2) spec = of_unknown_rank(spec.dtype);  // of one number of dimensions only
  }
  if (!outputs.empty()) return outputs;
  DType dtype = DType::Float32;
  if (!node.inputs.empty()) {
    const Edge first = node.inputs[0].from;
    dtype = first.node->outputs[first.output].dtype;
  }
  return std::vector<OutputSpec>(node.op->schema.returns.size(), of_unknown_rank(dtype));
}

// With sizes for what is unknown that are taken where other numbers are refused.
std::optional<std::vector<OutputSpec>> with_size(const Node& node, int64_t size) {
  const auto first = attempt([&] { return on_meta(node, {size}); });
  if (!first) return std::nullopt;
  std::vector<OutputSpec> outputs = outputs_of(*first);
  bool compared = false;
  for (int64_t times = 2; times <= 4; ++times) {
    const auto other = attempt([&] { return on_meta(node, {times * size}); });
    if (!other || other->size() != outputs.size()) continue;
    compare(node, outputs, *other);
    compared = true;
  }
  if (compared) return outputs;
  for (OutputSpec& spec : outputs)
    std::replace(spec.sizes.begin(), spec.sizes.end(), size, int64_t{-1});
  return outputs;
}

// 1, the sizes that are known, how many elements a shape among the arguments has, and the sum
// of its numbers.
std::vector<int64_t> candidates(const Node& node) {
  std::vector<int64_t> sizes{1};
  const auto add = [&](const Shape& shape) {
    for (int64_t size : shape) {
      const bool fresh = std::find(sizes.begin(), sizes.end(), size) == sizes.end();
      if (size > 1 && fresh && sizes.size() < 8) sizes.push_back(size);
    }
  };
  for (const Node::Input& input : node.inputs) {
    add(input.from.node->outputs[input.from.output].sizes);
  }
  for (const Value& value : node.args) {
    for_each_tensor(value, [&](const Tensor& tensor) { add(tensor.sizes()); });
    if (auto* shape = std::get_if<Shape>(&value)) {
      add(*shape);
      const auto n = attempt([&] { return shape->numel(); });
      if (n) add(Shape{*n});
      add(Shape{std::accumulate(shape->begin(), shape->end(), int64_t{0})});  // of parts
    }
  }
  return sizes;
}

// An op of REGISTER_OP has a rule that knows of unknown sizes, and is asked itself.
std::vector<OutputSpec> by_definition(const Node& node,
                                      const framework::OpRegistrationData& data) {
  const std::vector<Value> args = node.arguments([&](Edge edge) {
    return empty(Shape{}, edge.node->outputs[edge.output].dtype, Device{DeviceType::Meta});
  });
  std::deque<framework::Tensor> values;
  std::vector<framework::KnownInput> inputs;
  const framework::CallTypes types(data.op_def, args);
  const auto add_value = [&](framework::KnownInput& input, const Tensor& value) {
    constexpr int64_t kMostElements = 1024;  // shapes and the like
    if (value.is_meta() || !value.is_contiguous() || value.numel() > kMostElements) return;
    input.value = &values.emplace_back(value.wait(), input.type);
  };
  for (size_t i = 0; i < data.op_def.inputs.size(); ++i) {
    int32_t item = std::holds_alternative<TensorList>(args[i]) ? 0 : -1;
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      framework::KnownInput& input = inputs.emplace_back();
      input.type = types.types[inputs.size() - 1];
      const auto from = std::find_if(
          node.inputs.begin(), node.inputs.end(),
          [&](const Node::Input& of) { return of.arg == i && of.item == item; });
      if (item >= 0) ++item;
      if (from == node.inputs.end()) {
        input.shape = framework::PartialShape::of(tensor.sizes());
        return add_value(input, tensor);
      }
      const Edge edge = from->from;
      const OutputSpec& spec = edge.node->outputs[edge.output];
      if (spec.known_rank) input.shape = framework::PartialShape::of(spec.sizes);
      else input.shape.known_rank = false;
      if (edge.node->kind == NodeKind::Constant) add_value(input, edge.node->value);
    });
  }
  const framework::AttrValues attrs = attrs_of_call(data.op_def, args, types);
  std::vector<OutputSpec> outputs;
  for (auto& output : infer_outputs(data, attrs, inputs, node.name)) {
    const auto dtype = framework::dtype_of_data_type(output.type);
    PKG_CHECK(dtype, NotImplementedError, "[", data.op_def.name,
              "] there are no tensors of ", framework::dtype_name(output.type), ".");
    outputs.push_back({*dtype, output.shape.known_rank, output.shape.sizes});
  }
  return outputs;
}

}  // namespace

// Such a call is never made to see what it gives.
bool writes(const Node& node) {
  if (!node.op) return false;
  const auto& arguments = node.op->schema.arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.written; });
}

bool schedules_itself(const Operator& op) {
  const bool plain = op.kind != OpKind::Composite && op.kind != OpKind::View;  // none there
  return plain && op.has_kernel(DispatchKey::Async);
}

std::vector<OutputSpec> infer(const Node& node) {
  UseKeys plain{LocalKeys{{}, KeySet{DispatchKey::Autograd, DispatchKey::Profiler}}};
  const RandomTrial trial;
  if (const auto* data = framework::definition_of(*node.op)) {
    return by_definition(node, *data);
  }
  int64_t n_unknown = 0;
  for (const Node::Input& input : node.inputs) {
    const OutputSpec& spec = input.from.node->outputs[input.from.output];
    if (!spec.known_rank) return unknown(node);
    n_unknown += std::count(spec.sizes.begin(), spec.sizes.end(), -1);
  }
  bool open = false;
  bool all_known = n_unknown == 0;
  std::vector<OutputSpec> outputs;
  try {
    outputs = outputs_of(on_meta(node, {kGuess}, &open));
    all_known = all_known && !open;
  } catch (const NotImplementedError&) {
    // No rule, as the result depends on values; a refused dtype ends here, too.
    if (auto found = attempt([&] { return by_example(node); })) return *found;
    if (node.op->has_kernel(DispatchKey::Meta)) throw;
    if (writes(node)) return written(node);
  } catch (const Error& error) {
    throw_if_stops(error);
    // A fake kernel in Python that refuses what is known.
    if (all_known && dynamic_cast<const ForeignError*>(&error)) throw;
    if (auto found = attempt([&] { return by_example(node); }); found && all_known) {
      return *found;
    }
    if (all_known) throw;
    for (int64_t size : candidates(node)) {
      if (auto found = with_size(node, size)) return *found;
    }
  }
  if (outputs.empty()) return unknown(node);
  const auto try_also = [&](Guess guess) {
    if (const auto trial = attempt([&] { return on_meta(node, guess); })) {
      compare(node, outputs, *trial);
    }
  };
  if (all_known) return outputs;
  try_also({2 * kGuess});
  for (int64_t i = 0; i < n_unknown; ++i) try_also({kGuess, i});
  // How many parts there are is not asked of so small sizes.
  for (int64_t size : {1, 0}) {
    const auto small = attempt([&] { return on_meta(node, {size}); });
    if (small && small->size() == outputs.size()) compare(node, outputs, *small);
  }
  return outputs;
}

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// graph/plan.cc: the Plan key, one boxed function for all ops: a call becomes a step of the
// plan that this thread makes; its results are tensors without memory.
#include "graph/plan.h"

#include <algorithm>
#include <unordered_map>

#include "dispatcher/domain.h"
#include "dispatcher/library.h"
#include "dispatcher/plain_kernel.h"
#include "graph/evaluate.h"
#include "graph/fusion.h"
#include "graph/same_call.h"
#include "ops/functions.h"

namespace pkg::graph {
namespace {

struct BufferNumber final : Intrusive {
  explicit BufferNumber(size_t number_in) : number(number_in) {}
  size_t number;
};

class Recorder;
thread_local Recorder* t_recorder = nullptr;

class Recorder {
 public:
  /// `shares`: whether equal calls are one step, which no write may follow.
  Recorder(Plan& plan, framework::NodeKernels* kernels, bool shares)
      : before_(std::exchange(t_recorder, this)),
        plan_(plan),
        kernels_(kernels),
        shares_(shares) {}
  ~Recorder() { t_recorder = before_; }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// A tensor that lies in a buffer of its own.
  Tensor make(Buffer::Kind kind, size_t index, const Spec& spec) {
    Tensor made(Ref<TensorImpl>::make(Storage::meta(0), spec.sizes, spec.sizes.numel(),
                                      spec.dtype, spec.device));
    give_buffer(made, kind, index, made.numel() * itemsize(spec.dtype));
    return made;
  }

  /// The tensor with values as a buffer: it is looked at anew at each run.
  Tensor capture(const Tensor& tensor) {
    const auto [entry, fresh] = captured_.try_emplace(tensor.impl());
    if (fresh) {
      entry->second = share(tensor);
      give_buffer(entry->second, Buffer::Kind::Capture, plan_.captures.size(),
                  tensor.storage().nbytes());
      if (tensor.requires_grad()) set_requires_grad(entry->second, true);
      plan_.captures.push_back(tensor);
      plan_.capture_places.push_back(entry->second);
    }
    return entry->second;
  }

  /// A copy in a buffer that is given away after the run.
  Tensor result(const Tensor& value) {
    const int buffer = buffer_of(value);
    if (buffer >= 0 && value.is_contiguous() && value.offset() == 0) {
      Buffer& found = plan_.buffers[size_t(buffer)];
      if (found.kind == Buffer::Kind::Made && !std::exchange(found.given, true)) {
        return value;  // memory of its own anyway
      }
      if (found.kind == Buffer::Kind::Temporary &&
          found.nbytes == value.numel() * itemsize(value.dtype())) {
        found.kind = Buffer::Kind::Result;
        return value;
      }
    }
    all_ = true;
    const Tensor copy = ops::row_major_copy(value);
    all_ = false;
    plan_.buffers[size_t(buffer_of(copy))].kind = Buffer::Kind::Result;
    return copy;
  }

  /// Before a step writes to a tensor with values that this plan has made: as a run must not
  /// change what the next one begins with, it becomes a buffer.
  void own_written(const Operator& op, const Tensor& tensor) {
    if (buffer_of(tensor) >= 0) return;
    PKG_CHECK(tensor.storage().use_count() == 1, NotImplementedError, "[", op.schema.name,
              "] writes to memory that other tensors of a graph show, too.");
    const Tensor values = share(tensor);
    give_buffer(tensor, Buffer::Kind::Temporary, 0, tensor.storage().nbytes());
    if (op.definition().in_program_order) return;  // it fills the tensor
    all_ = true;
    ops::copy_(tensor, values);
    all_ = false;
  }

  void at(const Node& node) { node_ = &node; }
  /// Whether some call, which may be part of another one, writes to what it is given.
  bool wrote() const { return wrote_; }

  /// False if the call is not one for the plan: nothing in it is.
  bool record(const Operator& op, Stack& stack);

 private:
  void give_buffer(const Tensor& tensor, Buffer::Kind kind, size_t index, int64_t nbytes) {
    tensor.impl()->storage = Storage::symbolic(
        nbytes, DispatchKey::Plan, Ref<BufferNumber>::make(plan_.buffers.size()));
    plan_.buffers.push_back({kind, nbytes, index});
  }
  void structured(const Operator& op, const Kernel& kernel, Stack& stack);
  void function(const Operator& op, const Kernel& kernel, Stack& stack);
  void going_on(const Operator& op, const Kernel& kernel, Stack& stack);
  void add(Step step) {
    step.node = node_;
    step.may_keep = !step.goes_on && detail::is_plain(*step.kernel);
    for (const Value& arg : step.args) {
      if (!step.may_keep) break;
      for_each_tensor(arg, [&](const Tensor& tensor) {
        const int number = buffer_of(tensor);
        if (number < 0) return;
        Buffer& buffer = plan_.buffers[size_t(number)];
        if (buffer.kind == Buffer::Kind::Temporary) buffer.kind = Buffer::Kind::Result;
      });
    }
    for (size_t i = 0; i < step.args.size(); ++i) {
      if (!step.op->schema.arguments[i].written) continue;
      for_each_tensor(step.args[i], [&](const Tensor& tensor) {
        const Buffer& buffer = plan_.buffers[size_t(buffer_of(tensor))];
        if (buffer.kind == Buffer::Kind::Capture) step.writes.push_back(buffer.index);
      });
    }
    plan_.steps.push_back(std::move(step));
  }

  Recorder* before_;
  Plan& plan_;
  framework::NodeKernels* const kernels_;
  const Node* node_ = nullptr;
  const bool shares_;
  bool wrote_ = false;
  bool all_ = false;  // calls without buffers, too
  CallTable calls_;
  std::unordered_map<const TensorImpl*, Tensor> captured_;
};

bool has_buffers(std::span<const Value> args) {
  bool any = false;
  for (const Value& value : args) {
    for_each_tensor(value, [&](const Tensor& tensor) { any |= buffer_of(tensor) >= 0; });
  }
  return any;
}

bool Recorder::record(const Operator& op, Stack& stack) {
  const Operator& definition = op.definition();
  if (!all_ && !definition.in_program_order && !has_buffers(stack.args)) return false;
  if (op.restricted()) detail::check_dtypes(op, stack.args);
  for (size_t i = 0; i < stack.args.size(); ++i) {
    if (!op.schema.arguments[i].written) continue;
    wrote_ = true;
    for_each_tensor(stack.args[i], [&](const Tensor& t) { own_written(op, t); });
  }
  const Kernel* own = node_ && kernels_ ? kernels_->of(node_, node_->name, op) : nullptr;
  const Kernel& kernel = own ? *own : op.kernel(DispatchKey::CPU);
  if (definition.kind == OpKind::Structured && kernel.compute) {
    structured(op, kernel, stack);
  } else if (schedules_itself(op)) {
    going_on(op, kernel, stack);
  } else {
    function(op, kernel, stack);
  }
  return true;
}

void Recorder::structured(const Operator& op, const Kernel& kernel, Stack& stack) {
  const size_t n = op.schema.returns.size();
  detail::convert_numbers(op, stack.args);
  std::array<Spec, kMaxResults> all;
  detail::infer_shapes(op, stack.args, all.data());
  const std::span<const Spec> specs(all.data(), n);
  const Operator& definition = op.definition();
  const bool once = shares_ && !wrote_ && !all_ && !definition.in_program_order;
  const int64_t known = once ? calls_.find(plan_.steps, op, stack.args) : -1;
  if (known >= 0) {
    // Each has a history of its own.
    for (const Tensor& result : plan_.steps[size_t(known)].results) {
      stack.push(share(result));
    }
    return;
  }
  Step step;
  step.op = &op;
  step.kernel = &kernel;
  step.args.assign(stack.args.begin(), stack.args.end());
  step.nanoseconds = definition.cost
                         ? definition.cost(stack.args.data(), all.data())
                         : double(specs[0].sizes.numel()) * definition.element_cost;
  plan_.nanoseconds += step.nanoseconds;
  auto results = detail::make_results(op, kernel, stack.args, specs);
  for (size_t i = 0; i < n; ++i) {
    // Its memory goes back at once: only the order of its elements was asked for.
    if (!op.in_place()) {
      give_buffer(results[i], Buffer::Kind::Temporary, 0, results[i].storage().nbytes());
    }
    step.dtypes[i] = specs[i].dtype;
    step.results.push_back(results[i]);
  }
  if (once) calls_.add(step, plan_.steps.size());
  add(std::move(step));
  for (size_t i = 0; i < n; ++i) stack.push(std::move(results[i]));
}

// One without a shape rule: if it gives back what it was given to write to, there is nothing
// to infer.
void Recorder::function(const Operator& op, const Kernel& kernel, Stack& stack) {
  TensorList written;
  for (size_t i = 0; i < stack.args.size(); ++i) {
    if (!op.schema.arguments[i].written) continue;
    for_each_tensor(stack.args[i], [&](const Tensor& t) { written.push_back(t); });
  }
  const auto& returns = op.schema.returns;
  const bool list = returns.size() == 1 && returns[0].list;
  PKG_CHECK(!written.empty() && (list || returns.size() <= written.size()),
            NotImplementedError, "[", op.schema.name,
            "] has results whose shapes depend on values.");
  Step step;
  step.op = &op;
  step.kernel = &kernel;
  step.computes = false;
  step.args.assign(stack.args.begin(), stack.args.end());
  add(std::move(step));
  for (const Tensor& tensor : written) tensor.bump_version();
  if (list) return stack.push(std::move(written));
  for (size_t i = 0; i < returns.size(); ++i) stack.push(written[i]);
}

// What its results are like its own rule says, asked with tensors without data.
void Recorder::going_on(const Operator& op, const Kernel& kernel, Stack& stack) {
  const auto bare = [](const Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    return empty(tensor.sizes(), tensor.dtype(), Device{DeviceType::Meta});
  };
  std::vector<Value> args(stack.args.begin(), stack.args.end());
  for (Value& arg : args) {
    if (auto* tensor = std::get_if<Tensor>(&arg)) *tensor = bare(*tensor);
    auto* list = std::get_if<TensorList>(&arg);
    for (size_t i = 0; list && i < list->size(); ++i) (*list)[i] = bare((*list)[i]);
  }
  Stack made(args);
  Dispatcher::get().redispatch_boxed(op, KeySet(DispatchKey::Meta), made);
  Step step;
  step.op = &op;
  step.kernel = &kernel;
  step.computes = false;
  step.goes_on = true;
  step.args.assign(stack.args.begin(), stack.args.end());
  const auto placed = [&](const Tensor& like) {
    Tensor result = make(Buffer::Kind::Made, 0,
                         {like.sizes(), like.dtype(), Device{DeviceType::CPU}});
    step.results.push_back(result);
    return result;
  };
  for (Value& result : made.results) {
    if (auto* tensor = std::get_if<Tensor>(&result)) *tensor = placed(*tensor);
    auto* list = std::get_if<TensorList>(&result);
    for (size_t i = 0; list && i < list->size(); ++i) (*list)[i] = placed((*list)[i]);
  }
  add(std::move(step));
  for (Value& result : made.results) stack.push(std::move(result));
}

void plan_fallback(const Operator& op, const Kernel&, KeySet keys, Stack& stack) {
  const KeySet below = keys & KeySet::below(DispatchKey::Plan);
  PKG_CHECK(t_recorder || !has_buffers(stack.args), RuntimeError, "[", op.schema.name,
            "] got a tensor of a plan that is made no longer.");
  if (t_recorder && !below.has(DispatchKey::Meta) && t_recorder->record(op, stack)) return;
  Dispatcher::get().redispatch_boxed(op, below, stack);
}

PKG_LIBRARY_IMPL(_, Plan, m) { m.fallback(plan_fallback); }

// When a buffer is used first and last.
void find_lifetimes(Plan& plan) {
  for (Buffer& buffer : plan.buffers) buffer.first = plan.steps.size();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const auto use = [&](const Tensor& tensor) {
      const int number = buffer_of(tensor);
      if (number < 0) return;
      Buffer& buffer = plan.buffers[size_t(number)];
      buffer.first = std::min(buffer.first, s);
      buffer.last = s;
    };
    for (const Value& arg : plan.steps[s].args) for_each_tensor(arg, use);
    for (const Tensor& result : plan.steps[s].results) use(result);
  }
}

// Whether something wrote to what it was given.
bool record_plan(Plan& plan, std::span<Node* const> nodes, std::span<const Edge> fetches,
                 const PlanInputs& inputs, bool shares) {
  Recorder recorder(plan, inputs.kernels, shares);
  LocalKeys keys{KeySet{DispatchKey::Plan}, {}};
  UseKeys mine(keys);
  Evaluation evaluation;
  evaluation.kernels = inputs.kernels;
  for (size_t i = 0; i < inputs.feeds.size(); ++i) {
    evaluation.feed(inputs.feeds[i],
                    recorder.make(Buffer::Kind::Feed, i, inputs.feed_specs[i]));
  }
  evaluation.read = [&](const Node& variable) {
    const auto place = std::find(inputs.variables.begin(), inputs.variables.end(),
                                 &variable);
    const size_t index = size_t(place - inputs.variables.begin());
    const Spec& spec = inputs.variable_specs[index];
    return has_value(spec) ? recorder.make(Buffer::Kind::Variable, index, spec) : Tensor();
  };
  evaluation.keep = [&](Node&, const Tensor& value) {
    return share(recorder.result(value));
  };
  evaluation.captured = [&](const Tensor& tensor) { return recorder.capture(tensor); };
  evaluation.at = [&](const Node& node) { recorder.at(node); };
  evaluation.run(nodes);
  UseKeys off(LocalKeys{KeySet{DispatchKey::Plan},
                        KeySet{DispatchKey::Graph, DispatchKey::Autograd}});
  for (Edge fetch : fetches)
    plan.fetches.push_back(recorder.result(evaluation.value(fetch)));
  plan.written = evaluation.written();
  return recorder.wrote();
}

}  // namespace

int buffer_of(const Tensor& tensor) {
  if (!tensor.defined()) return -1;
  const Storage& storage = tensor.storage();
  if (!storage.dynamic_keys().has(DispatchKey::Plan)) return -1;
  return int(static_cast<const BufferNumber*>(storage.meaning())->number);
}

Plan make_plan(std::span<Node* const> nodes, std::span<const Edge> fetches,
               const PlanInputs& inputs) {
  const bool some_write = std::any_of(nodes.begin(), nodes.end(),
                                      [](const Node* node) { return writes(*node); });
  Plan plan;
  if (some_write || record_plan(plan, nodes, fetches, inputs, true)) {
    plan = Plan();
    record_plan(plan, nodes, fetches, inputs, false);
  }
  prune(plan, inputs.asked);
  begin_early(plan);
  fuse(plan);
  find_lifetimes(plan);
  find_waits(plan);
  place_buffers(plan);
  return plan;
}

}  // namespace pkg::graph

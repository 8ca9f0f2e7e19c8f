// SPDX-License-Identifier: Apache-2.0
// graph/executable.cc: frames, and the loop over steps.
#include "graph/executable.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <unordered_map>

#include "graph/fusion.h"
#include "graph/step_trace.h"
#include "scheduler/hooks.h"
#include "scheduler/stop_point.h"

namespace pkg::graph {
namespace {

struct Failed {
  const Node* node = nullptr;
  Ref<Graph> graph;  // keeps the node
};
thread_local Failed t_failed;

}  // namespace

const Node* failed_node() { return t_failed.node; }
void set_failed_node(const Node* node) {
  t_failed = {node, node ? Ref<Graph>::share(&node->graph) : nullptr};
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void RunControl::check() const {
  if (cancelled && cancelled->load(std::memory_order_relaxed)) {
    throw CancelledError("Session was closed, or its run was cancelled.");
  }
  if (deadline > 0 && steady_seconds() > deadline) {
    throw CancelledError("Timed out: the run took longer than its timeout.");
  }
}

/// The tensors of a plan over real memory, for one run at a time.
class Executable::Frame {
 public:
  explicit Frame(const Plan& plan) : plan_(plan), buffers_(plan.buffers.size()) {
    slab_ = Storage::make(plan.slab_bytes);
    for (size_t b = 0; b < buffers_.size(); ++b) {
      const Buffer& buffer = plan.buffers[b];
      if (buffer.kind != Buffer::Kind::Temporary) continue;
      const bool used = buffer.first < plan.steps.size();
      buffers_[b].storage = used ? Storage::part(slab_, buffer.offset, buffer.nbytes)
                                 : nothing_;
    }
    for (const Step& step : plan.steps) {
      Step& mine = steps_.emplace_back(step);
      for (Value& arg : mine.args) place(arg);
      for (Tensor& result : mine.results) result = place(result);
      fused_.push_back(step.fusion ? std::make_unique<FusedRun>(*step.fusion,
                                                                [&](const Tensor& tensor) {
                                                                  return place(tensor);
                                                                })
                                   : nullptr);
    }
    made_.clear();
  }

  RunResults run(const TensorList& feeds, const TensorList& variables,
                 const RunControl& control) {
    for (size_t b = 0; b < buffers_.size(); ++b) bind(b, feeds, variables);
    {
      ExcludeKeys off(KeySet::all().without(kBackendKeys));
      const auto each = [&](auto run_step) {
        for (size_t s = 0; s < steps_.size(); ++s) {
          stop_point();
          control.check();
          run_step(s);
        }
      };
      if (trace::wanted(trace::Kind::Step)) {
        each([this](size_t s) {
          const TimedStep timed(label_of(steps_[s]), steps_[s].node);
          run(s);
        });
      } else {
        each([this](size_t s) { run(s); });
      }
    }
    for (size_t b = 0; b < buffers_.size(); ++b) {
      if (plan_.buffers[b].kind == Buffer::Kind::Made) await(b);
    }
    RunResults results;
    results.fetches.reserve(plan_.fetches.size());
    for (const Tensor& fetch : plan_.fetches) results.fetches.push_back(give(fetch));
    results.written.reserve(plan_.written.size());
    for (const auto& [node, value] : plan_.written) {
      results.written.emplace_back(node, give(value));
    }
    return results;
  }

  /// Lets go of what belongs to others.
  void unbind() {
    for (size_t b = 0; b < buffers_.size(); ++b) {
      const auto kind = plan_.buffers[b].kind;
      if (kind == Buffer::Kind::Temporary || kind == Buffer::Kind::Local ||
          kind == Buffer::Kind::Result) {
        continue;
      }
      rebind(buffers_[b], nothing_, 0);
    }
  }

 private:
  struct Placed {
    TensorImpl* impl;
    int64_t offset;  // within what is bound
  };
  struct Memory {
    Ref<Storage> storage;
    std::vector<Placed> tensors;
  };

  // The tensor of this frame for one of the plan.
  Tensor place(const Tensor& tensor) {
    const int number = buffer_of(tensor);
    if (number < 0) {
      if (tensor.defined()) tensor.wait();
      return tensor;
    }
    Tensor& made = made_[tensor.impl()];
    if (made.defined()) return made;
    Memory& memory = buffers_[size_t(number)];
    const TensorImpl& impl = *tensor.impl();
    made = Tensor(Ref<TensorImpl>::make(memory.storage ? memory.storage : nothing_,
                                        impl.sizes, impl.strides, impl.offset, impl.dtype,
                                        impl.device));
    made.impl()->wrapped_number = impl.wrapped_number;
    memory.tensors.push_back({made.impl(), impl.offset});
    return made;
  }
  void place(Value& value) {
    if (auto* tensor = std::get_if<Tensor>(&value)) *tensor = place(*tensor);
    auto* list = std::get_if<TensorList>(&value);
    for (size_t k = 0; list && k < list->size(); ++k) (*list)[k] = place((*list)[k]);
  }

  static void rebind(Memory& memory, const Ref<Storage>& storage, int64_t offset) {
    memory.storage = storage;
    for (Placed& placed : memory.tensors) {
      placed.impl->storage = storage;
      placed.impl->offset = placed.offset + offset;
    }
  }
  static void rebind(Memory& memory, const Tensor& tensor, bool from_start) {
    tensor.wait();
    rebind(memory, tensor.impl()->storage, from_start ? tensor.offset() : 0);
  }

  void bind(size_t b, const TensorList& feeds, const TensorList& variables) {
    const Buffer& buffer = plan_.buffers[b];
    Memory& memory = buffers_[b];
    switch (buffer.kind) {
      case Buffer::Kind::Temporary:
      case Buffer::Kind::Made:
      case Buffer::Kind::Local: return;
      case Buffer::Kind::Feed: return rebind(memory, feeds[buffer.index], true);
      case Buffer::Kind::Variable: return rebind(memory, variables[buffer.index], true);
      // Its tensors keep their places in its memory.
      case Buffer::Kind::Capture:
        return rebind(memory, plan_.captures[buffer.index], false);
      case Buffer::Kind::Result: {
        // Of the last run, when whoever got it has let it go.
        const bool mine = memory.storage &&
                          memory.storage->owned_by(uint32_t(1 + memory.tensors.size()));
        if (!mine || memory.storage->exported())
          rebind(memory, Storage::make(buffer.nbytes), 0);
      }
    }
  }

  static std::vector<Value> shared(std::vector<Value> args) {
    const auto another = [](Tensor& tensor) {
      if (tensor.defined()) tensor = share(tensor);
    };
    for (Value& value : args) {
      if (auto* tensor = std::get_if<Tensor>(&value)) another(*tensor);
      if (auto* list = std::get_if<TensorList>(&value)) {
        for (size_t k = 0; k < list->size(); ++k) another((*list)[k]);
      }
    }
    return args;
  }

  void run(size_t s) {
    Step& step = steps_[s];
    for (const size_t b : step.awaits) await(b);
    if (fused_[s]) return fused_[s]->run();
    std::optional<NoStop> to_the_end;  // others see what it writes to
    if (!step.writes.empty()) to_the_end.emplace();
    for (size_t capture : step.writes) {
      plan_.captures[capture].storage().wait_writable();
      plan_.captures[capture].bump_version();
    }
    try {
      std::vector<Value> own;  // what is kept of these is no tensor of a frame
      if (step.may_keep) own = shared(step.args);
      if (step.computes) {
        return detail::compute(*step.op, *step.kernel, step.may_keep ? own : step.args,
                               step.results, step.dtypes);
      }
      std::vector<Value> args = step.may_keep ? std::move(own) : step.args;
      Stack stack(args);
      step.kernel->boxed(*step.op, *step.kernel, KeySet(DispatchKey::CPU), stack);
      if (step.goes_on) take(plan_.steps[s], stack);
    } catch (...) {
      set_failed_node(step.node);
      throw;
    }
  }

  // What a step has made, as its buffers.
  void take(const Step& planned, const Stack& stack) {
    size_t i = 0;
    for (const Value& result : stack.results) {
      for_each_tensor(result, [&](const Tensor& made) {
        const Tensor& place = planned.results.at(i++);
        PKG_CHECK(made.sizes() == place.sizes() && made.dtype() == place.dtype() &&
                      made.is_contiguous() && made.offset() == 0,
                  RuntimeError, "[", planned.op->schema.name, "] expected a result of ",
                  place.dtype(), " of shape ", place.sizes(), ", as when it was planned, ",
                  "got ", made.dtype(), " of shape ", made.sizes(),
                  ". Has the number of ranks changed? Make a new Session.");
        rebind(buffers_[size_t(buffer_of(place))], made.impl()->storage, 0);
      });
    }
    PKG_ASSERT(i == planned.results.size());
  }

  void await(size_t b) {
    try {
      if (buffers_[b].storage) buffers_[b].storage->wait_readable();
    } catch (...) {
      set_failed_node(plan_.steps[plan_.buffers[b].index].node);
      throw;
    }
  }

  Tensor give(const Tensor& planned) const {
    const int number = buffer_of(planned);
    PKG_ASSERT(number >= 0);
    const TensorImpl& impl = *planned.impl();
    return Tensor(Ref<TensorImpl>::make(buffers_[size_t(number)].storage, impl.sizes,
                                        impl.strides, impl.offset, impl.dtype,
                                        impl.device));
  }

  const Plan& plan_;
  Ref<Storage> slab_;
  Ref<Storage> nothing_ = Storage::meta(0);
  std::vector<Memory> buffers_;
  std::vector<Step> steps_;
  std::vector<std::unique_ptr<FusedRun>> fused_;  // of those that are fused, else null
  std::unordered_map<const TensorImpl*, Tensor> made_;  // while the frame is made
};

Executable::Executable(Plan plan) : plan_(std::move(plan)) {}
Executable::~Executable() = default;

bool Executable::valid() const {
  const auto lies_alike = [](const Tensor& now, const Tensor& planned) {
    return now.dtype() == planned.dtype() && now.sizes() == planned.sizes() &&
           now.strides() == planned.strides() && now.offset() == planned.offset() &&
           now.storage().nbytes() == planned.storage().nbytes();
  };
  return std::equal(plan_.captures.begin(), plan_.captures.end(),
                    plan_.capture_places.begin(), lies_alike);
}

std::unique_ptr<Executable::Frame> Executable::acquire() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto frame = std::move(free_.back());
      free_.pop_back();
      return frame;
    }
  }
  return std::make_unique<Frame>(plan_);
}

void Executable::give_back(std::unique_ptr<Frame> frame) {
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(frame));
}

RunResults Executable::run(const TensorList& feeds, const TensorList& variables,
                           const RunControl& control) {
  constexpr double kLongNanoseconds = 50e3;
  std::optional<BlockingRegion> others_may_run;
  if (plan_.nanoseconds >= kLongNanoseconds) others_may_run.emplace();
  // After an error nobody uses it again: an asynchronous kernel that is waited for no longer
  // (Ctrl-C, a timeout) goes on with the tensors that it was given, and they with their memory.
  std::unique_ptr<Frame> frame = acquire();
  RunResults results = frame->run(feeds, variables, control);
  frame->unbind();
  give_back(std::move(frame));
  return results;
}

}  // namespace pkg::graph

// SPDX-License-Identifier: Apache-2.0
// dispatcher/async.cc: the Async key, one boxed function for all ops: allocate the
// results now, run the kernel when its inputs are ready.
//
// Tensors carry this key while work on them is pending or when they are so large that
// their ops may be worth a task; calls of small ready tensors never come here.  What is
// cheap and ready runs on the caller.  Memory that NumPy can see is only touched while
// the call lasts.
#include <cmath>
#include <deque>
#include <mutex>
#include <optional>

#include "dispatcher/library.h"
#include "dispatcher/outside_work.h"
#include "dispatcher/plain_kernel.h"
#include "dispatcher/row_major.h"
#include "scheduler/fork_locks.h"
#include "scheduler/hooks.h"
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#include "scheduler/stop_point.h"

namespace pkg {
namespace {

/// Below this cost a kernel runs on the caller, with the help of the workers
/// (parallel_for).  Handing it over and waiting for it costs some 20 us, its result is then
/// written to memory that is in no cache, and all that follows has to queue up behind it.
constexpr double kTaskNanoseconds = 1e6;
/// The same of pointwise ops, copies and ops that pick parts, which go over memory once:
/// results in other memory each time, some of them in flight, take twice as long as one that
/// the next call finds in cache.
constexpr double kPassNanoseconds = 4e6;
/// From this cost on, other Python threads may run while the kernel does.
constexpr double kLongNanoseconds = 200e3;

// What one thread may have in flight, so that a loop that never reads its results does
// not fill the memory with them.
constexpr size_t kMaxInFlight = 256;
// A hundred milliseconds of work, and little more memory than that work needs anyway.
constexpr int64_t kMaxBytesInFlight = int64_t{256} << 20;

// A call must read its dependencies and enter its own event in one step: otherwise two
// threads could wait for each other.
constinit std::mutex g_ordering;
const detail::HeldOverFork g_ordering_held{detail::ForkLock::AsyncOrder, g_ordering};

/// Calls f(tensor, written) for every tensor argument.
template <class F>
void for_each_argument(const Operator& op, std::span<const Value> args, F f) {
  for (size_t i = 0; i < args.size(); ++i) {
    const bool written = op.schema.arguments[i].written;
    for_each_tensor(args[i], [&](const Tensor& tensor) { f(tensor, written); });
  }
}

/// Nanoseconds on the caller, roughly.  An op that states its cost computes, and the workers
/// share that; others wait for memory, where help shortens little.
double estimate(const Operator& op, std::span<const Value> args, const Spec* specs) {
  constexpr int kMostHelp = 4;  // counted on
  if (op.cost && specs) {
    return op.cost(args.data(), specs) / std::min(num_threads(), kMostHelp);
  }
  int64_t elements = specs ? specs[0].sizes.numel() : 0;
  for (const Value& value : args.subspan(op.reads_part ? 1 : 0)) {
    for_each_tensor(value,
                    [&](const Tensor& t) { elements = std::max(elements, t.numel()); });
  }
  return double(elements) * op.element_cost;
}

/// The same value without history: pending work keeps memory alive, not graphs.
Value bare(const Value& value) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) {
    return tensor->defined() ? Value(share(*tensor)) : value;
  }
  if (const TensorList* list = std::get_if<TensorList>(&value)) {
    TensorList copies;
    for (const Tensor& tensor : *list) {
      copies.push_back(tensor.defined() ? share(tensor) : tensor);
    }
    return copies;
  }
  return value;
}

/// Whether the kernel may be stopped half way.  Not when it writes to a tensor that others
/// see; a random fill may, as it takes long and leaves numbers wherever it stops.
bool stoppable(const Operator& op) {
  const auto& arguments = op.schema.arguments;
  return op.definition().in_program_order ||
         std::none_of(arguments.begin(), arguments.end(),
                      [](const auto& argument) { return argument.written; });
}

/// Where the results of a task go.  What it makes itself is marked as long as it holds it.
class Results {
 public:
  Results() = default;
  Results(Results&&) = default;
  ~Results() {
    for (size_t i = 0; made_ && i < kMaxResults; ++i) {
      if (tensors_[i].defined()) tensors_[i].storage().end_making();
    }
  }
  void write(Tensor given) { tensors_[0] = std::move(given); }
  void make(size_t i, const Tensor& fresh) {
    made_ = true;
    tensors_[i] = share(fresh);
    fresh.storage().begin_making();
  }
  std::span<Tensor> first(size_t n) { return {tensors_.data(), n}; }

 private:
  std::array<Tensor, kMaxResults> tensors_;
  bool made_ = false;
};

/// The body of a task: one kernel with its arguments and where the results go.
struct Work {
  const Operator* op;
  const Kernel* kernel;
  bool stoppable;
  std::vector<Value> args;
  Results results;
  detail::ResultTypes dtypes;

  void operator()() {
    std::optional<NoStop> to_the_end;
    if (!stoppable) to_the_end.emplace();
    ExcludeKeys off(KeySet::all().without(kBackendKeys));
    detail::compute(*op, *kernel, args, results.first(op->schema.returns.size()), dtypes);
  }
};

/// The work that this thread has submitted; waits for the oldest when it is too much.
class InFlight {
 public:
  void add(Ref<Event> event, int64_t bytes) {
    queue_.push_back({std::move(event), bytes});
    bytes_ += bytes;
    while (queue_.size() > 1 &&
           (queue_.front().event->done() || queue_.size() > kMaxInFlight ||
            bytes_ > kMaxBytesInFlight)) {
      const Entry oldest = std::move(queue_.front());
      queue_.pop_front();
      bytes_ -= oldest.bytes;
      oldest.event->wait_for(HUGE_VAL);
    }
  }

 private:
  struct Entry {
    Ref<Event> event;
    int64_t bytes;
  };
  std::deque<Entry> queue_;
  int64_t bytes_ = 0;
};
thread_local InFlight t_in_flight;

/// Runs it on the caller, when what it needs is ready.
template <class Run>
void wait_and_run(const Operator& op, const Stack& stack, double cost, Run run) {
  for_each_argument(op, stack.args, [](const Tensor& tensor, bool written) {
    if (written) tensor.storage().wait_writable();
    else tensor.storage().wait_readable();
  });
  std::optional<NoStop> to_the_end;
  if (!stoppable(op)) to_the_end.emplace();
  std::optional<BlockingRegion> others_may_run;
  if (cost >= kLongNanoseconds) others_may_run.emplace();
  run();
}

void submit_work(const Operator& op, const Kernel& kernel, Stack& stack,
                 std::span<const Spec> specs) {
  Work work{&op, &kernel, stoppable(op), {}, {}, {}};
  work.args.reserve(stack.args.size());
  for (const Value& value : stack.args) work.args.push_back(bare(value));
  for (size_t i = 0; i < specs.size(); ++i) work.dtypes[i] = specs[i].dtype;
  std::array<Tensor, kMaxResults> results = detail::make_results(op, kernel, stack.args,
                                                                 specs);
  int64_t bytes = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (op.in_place()) {  // a kernel asks whether its result is an argument
      work.results.write(std::get<Tensor>(work.args[0]));
    } else {
      work.results.make(i, results[i]);
      bytes += results[i].storage().nbytes();
    }
  }
  // Before the lock: this may run other code, which may call ops again.
  std::string site = submission_site();
  std::vector<Ref<Event>> data, order;
  Ref<Event> event;
  {
    std::lock_guard lock(g_ordering);
    for_each_argument(op, stack.args, [&](const Tensor& tensor, bool written) {
      tensor.storage().collect_dependencies(data, written ? &order : nullptr);
    });
    event = submit(
        std::move(work), data,
        {.name = op.schema.name.c_str(), .call_site = std::move(site), .after = order});
    for_each_argument(op, stack.args, [&](const Tensor& tensor, bool written) {
      if (!written) tensor.storage().add_reader(event);
    });
    for (size_t i = 0; i < specs.size(); ++i) results[i].storage().set_writer(event);
  }
  t_in_flight.add(std::move(event), bytes);
  for (size_t i = 0; i < specs.size(); ++i) stack.push(std::move(results[i]));
}

void async_fallback(const Operator& op, const Kernel&, KeySet keys, Stack& stack) {
  if (op.restricted()) detail::check_dtypes(op, stack.args);
  const KeySet below = keys & KeySet::below(DispatchKey::Async);
  if (below.has(DispatchKey::Meta)) {
    return Dispatcher::get().redispatch_boxed(op, below, stack);
  }
  const Operator& definition = op.definition();
  const Kernel& kernel = op.kernel(DispatchKey::CPU);
  if (definition.kind != OpKind::Structured || !kernel.compute) {
    const double cost = estimate(definition, stack.args, nullptr);
    return wait_and_run(op, stack, cost,
                        [&] { Dispatcher::get().redispatch_boxed(op, below, stack); });
  }
  std::array<Spec, kMaxResults> all;
  detail::convert_numbers(op, stack.args);
  try {
    detail::infer_shapes(op, stack.args, all.data());
  } catch (const NotImplementedError&) {
    // A rule that cannot tell from the arguments: the kernel makes its results itself.  To
    // those that are given theirs this is a refusal, for which nobody waits.
    if (kernel.unboxed && !detail::makes_results(kernel)) throw;
    return wait_and_run(op, stack, estimate(definition, stack.args, nullptr),
                        [&] { Dispatcher::get().redispatch_boxed(op, below, stack); });
  }
  const std::span<const Spec> specs(all.data(), op.schema.returns.size());
  const double cost = estimate(definition, stack.args, all.data());
  bool ready = true, private_memory = true;
  for_each_argument(op, stack.args, [&](const Tensor& tensor, bool written) {
    Storage& storage = tensor.storage();
    ready = (written ? storage.writable() : storage.readable()) && ready;  // asks all
    private_memory = private_memory && !storage.exported();
  });
  const bool pass = !definition.cost && (definition.pointwise || definition.keeps_order ||
                                         definition.reads_part);
  const double least = pass ? kPassNanoseconds : kTaskNanoseconds;
  const bool worth = (!ready || cost >= least) && !definition.in_program_order;
  if (!worth || !private_memory || !async_enabled() || in_parallel_region()) {
    return wait_and_run(op, stack, cost, [&] {
      if (detail::makes_results(kernel)) {
        return Dispatcher::get().redispatch_boxed(op, below, stack);
      }
      detail::run_checked(op, kernel, stack, specs);
    });
  }
  submit_work(op, kernel, stack, specs);
}

PKG_LIBRARY_IMPL(_, Async, m) { m.fallback(async_fallback); }

}  // namespace

std::vector<Ref<Event>> enter_outside_work(const Ref<Event>& done,
                                           std::span<const Tensor> inputs,
                                           std::span<const Tensor> outputs) {
  std::vector<Ref<Event>> needed;
  std::lock_guard lock(g_ordering);
  for (const Tensor& tensor : inputs) {
    if (!tensor.defined()) continue;
    tensor.storage().collect_dependencies(needed, nullptr);
    tensor.storage().add_reader(done);
  }
  for (const Tensor& tensor : outputs) {
    if (tensor.defined()) tensor.storage().set_writer(done);
  }
  return needed;
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// collectives/ops.cc: the collectives as records.  Their kernels submit jobs and return
// tensors that are pending; where a shape follows from what other ranks send they wait.
//
// Note [Kernels at Async]
// The Async fallback would wait for pending inputs of an op without a shape rule.  So these
// have their kernel at Async, too: an input is waited for on no thread at all.
#include "collectives/collectives.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "collectives/error.h"
#include "collectives/submitting.h"
#include "dispatcher/outside_work.h"
#include "ops/op.h"
#include "scheduler/scheduler.h"

namespace pkg::collectives {
namespace {

// Kernels call ops on the inputs, which is nothing that autograd should see.
ExcludeKeys no_history() { return ExcludeKeys(DispatchKey::Autograd); }

std::string without_scope(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

// ---- The session ------------------------------------------------------------------------

Tensor pending_numbers(int64_t count, const Ref<Event>& event, DType dtype,
                       void (*fill)(char*)) {
  const Tensor made = count < 0 ? empty(Shape{}, dtype) : empty(Shape{count}, dtype);
  const Ref<Event> filled = submit([data = bytes_of(made), fill, made] { fill(data); },
                                   {event}, {.name = "init"});
  enter_outside_work(filled, {}, {&made, 1});
  return made;
}

double start_seconds() {
  const char* const text = std::getenv("HOROVOD_START_TIMEOUT");
  if (!text || !*text) return Settings().start_seconds;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  PKG_CHECK(!*end && seconds >= 0 && std::isfinite(seconds), ValueError,
            "[init] expected HOROVOD_START_TIMEOUT to be a number of seconds >= 0 (0: no "
            "limit), got '",
            text, "'.");
  return seconds;
}

Tensor init_kernel(const std::string& library, int64_t fusion_bytes, int64_t cache_capacity,
                   double stall_seconds, double failure_seconds) {
  PKG_CHECK(fusion_bytes >= 0 && cache_capacity >= 0, ValueError,
            "[init] expected sizes of at least 0, got fusion_bytes=", fusion_bytes,
            " and cache_capacity=", cache_capacity, ".");
  PKG_CHECK(stall_seconds >= 0 && failure_seconds > 0, ValueError,
            "[init] expected stall_seconds >= 0 and failure_seconds > 0, got ",
            stall_seconds, " and ", failure_seconds, ".");
  const Ref<Event> started = Engine::get().init({library, fusion_bytes, cache_capacity,
                                                 stall_seconds, failure_seconds,
                                                 start_seconds()});
  return pending_numbers(6, started, DType::Int64, [](char* data) {
    // Another rank may have ended the session already: then the next call says so.
    const Place place = Engine::get().last_place();
    const int64_t numbers[] = {place.rank,       place.size,       place.local_rank,
                               place.local_size, place.cross_rank, place.cross_size};
    std::copy(std::begin(numbers), std::end(numbers), reinterpret_cast<int64_t*>(data));
  });
}

Tensor shutdown_kernel() {
  return pending_numbers(-1, Engine::get().shutdown(), DType::Int32,
                         [](char* data) { *reinterpret_cast<int32_t*>(data) = 0; });
}

Tensor running_kernel() {
  const Tensor made = empty(Shape{}, DType::Bool);
  *made.data<bool>() = Engine::get().running();
  return made;
}

Tensor counts_kernel() {
  const Counts counts = Engine::get().counts();
  const Tensor made = empty(Shape{4}, DType::Int64);
  const int64_t numbers[] = {counts.whole, counts.numbered, counts.responses,
                             counts.tensors};
  std::copy(std::begin(numbers), std::end(numbers), made.data<int64_t>());
  return made;
}

// ---- Allreduce --------------------------------------------------------------------------

Tensor allreduce_kernel(const Tensor& self, const std::string& name, int64_t op,
                        double prescale, double postscale, bool ignore_name_scope,
                        bool in_turn) {
  const ExcludeKeys off = no_history();
  Request request = request_for(Kind::Allreduce, self,
                                ignore_name_scope ? without_scope(name) : name);
  set_reduction(request, op, prescale, postscale);
  const Tensor result = empty(self.sizes(), self.dtype());
  const Ref<Job> job = job_for(std::move(request), self, result);
  job->in_turn = in_turn;
  submit_jobs({&job, 1});
  return result;
}

TensorList grouped_allreduce_kernel(const TensorList& tensors, const std::string& name,
                                    int64_t op, double prescale, double postscale,
                                    bool in_turn) {
  const ExcludeKeys off = no_history();
  PKG_CHECK(!tensors.empty(), ValueError,
            "[grouped_allreduce] expected at least one tensor, got an empty list.");
  TensorList results;
  std::vector<Ref<Job>> jobs;
  const Request group = request_for(Kind::Allreduce, {}, name);
  for (size_t i = 0; i < tensors.size(); ++i) {
    Request request = request_for(Kind::Allreduce, tensors[i],
                                  str(group.name, "_", i + 1, "of", tensors.size()));
    request.group = group.name;
    request.group_size = int32_t(tensors.size());
    request.numbered = group.numbered;
    set_reduction(request, op, prescale, postscale);
    results.push_back(empty(tensors[i].sizes(), tensors[i].dtype()));
    jobs.push_back(job_for(std::move(request), tensors[i], results.back()));
    jobs.back()->in_turn = in_turn;
  }
  submit_jobs(jobs);
  return results;
}

// The name of the collective in backward: that of forward may still be under way.
std::string gradient_name(const std::string& name) {
  return name.empty() ? name : name + ".grad";
}

void check_linear(const char* op, int64_t reduction) {
  PKG_CHECK(reduction == int(Reduction::Sum) || reduction == int(Reduction::Average),
            NotImplementedError, "[", op, "] has a gradient for Sum and Average, not for ",
            name_of(Reduction(reduction)), ".");
}

TensorList allreduce_gradient(const GradContext& g) {
  const auto op = g.arg<int64_t>(2);
  check_linear("allreduce", op);
  return {allreduce(g.grad(), gradient_name(g.arg<std::string>(1)), op, g.arg<double>(3),
                    g.arg<double>(4), g.arg<bool>(5), true)};
}

Tensor zeros(const Spec& spec) {
  const Tensor made = empty(spec.sizes, spec.dtype);
  std::memset(made.data(), 0, size_t(made.numel() * itemsize(spec.dtype)));
  return made;
}

TensorList grouped_allreduce_gradient(const GradContext& g) {
  const auto op = g.arg<int64_t>(2);
  check_linear("grouped_allreduce", op);
  TensorList grads;
  for (size_t i = 0; i < g.grads.size(); ++i) {
    grads.push_back(g.grads[i].defined() ? g.grads[i] : zeros(g.specs[i]));
  }
  return grouped_allreduce(grads, gradient_name(g.arg<std::string>(1)), op,
                           g.arg<double>(3), g.arg<double>(4), true);
}

// ---- The others -------------------------------------------------------------------------

Tensor wait_for(const Ref<Job>& job) {
  job->event->wait();
  return job->output;
}

Tensor allgather_kernel(const Tensor& self, const std::string& name) {
  const ExcludeKeys off = no_history();
  check_rows(Kind::Allgather, self.sizes());
  const Ref<Job> job = job_for(request_for(Kind::Allgather, self, name), self, {});
  submit_jobs({&job, 1});
  return wait_for(job);
}

// The rows of this rank in the sum of all gradients.
Tensor allgather_gradient(const Tensor& grad, const Shape& sizes, const std::string& name) {
  const std::string own = gradient_name(name);
  Tensor rows = empty(Shape{1}, DType::Int64);
  *rows.data<int64_t>() = sizes[0];
  const Tensor all = allgather(rows, own.empty() ? own : own + ".rows");
  const Tensor sum = allreduce(grad, own, int64_t(Reduction::Sum), 1.0, 1.0, false, true);
  const int64_t* const counts = all.wait().data<int64_t>();
  int64_t begin = 0;
  for (int r = 0; r < Engine::get().place().rank; ++r) begin += counts[r];
  return ops::slice(sum, 0, begin, begin + sizes[0], 1);
}

Tensor broadcast_kernel(const Tensor& self, int64_t root, const std::string& name) {
  const ExcludeKeys off = no_history();
  const Place place = Engine::get().place();
  PKG_CHECK(root >= 0 && root < place.size, ValueError,
            "[broadcast] expected 0 <= root_rank < ", place.size, ", got ", root, ".");
  Request request = request_for(Kind::Broadcast, self, name);
  request.root = int32_t(root);
  const Tensor result = empty(self.sizes(), self.dtype());
  const Ref<Job> job = job_for(std::move(request), self, result);
  submit_jobs({&job, 1});
  return result;
}

Tensor broadcast_gradient(const Tensor& grad, int64_t root, const std::string& name) {
  const Tensor sum = allreduce(grad, gradient_name(name), int64_t(Reduction::Sum), 1.0, 1.0,
                               false, true);
  return Engine::get().place().rank == root ? sum : ops::zeros_of(grad.sizes(), grad);
}

Shape splits_of(const Tensor& self, const Tensor& splits, int64_t ranks) {
  const int64_t rows = self.size(0);
  if (!splits.defined()) {
    PKG_CHECK(rows % ranks == 0, ValueError, "[alltoall] expected a first dimension that ",
              ranks, " ranks can share, got ", rows, ". Give splits.");
    return Shape(size_t(ranks), rows / ranks);
  }
  PKG_CHECK(splits.ndim() == 1 && splits.size(0) == ranks, ValueError,
            "[alltoall] expected splits of shape [", ranks, "], got ", splits.sizes(), ".");
  const Tensor numbers = ops::contiguous(ops::to_dtype(splits, DType::Int64));
  const int64_t* const counts = numbers.wait().data<int64_t>();
  const Shape made(counts, size_t(ranks));
  int64_t sum = 0;
  for (const int64_t count : made) {
    PKG_CHECK(count >= 0 && count <= rows - sum, ValueError,
              "[alltoall] expected splits that are at least 0 and sum to ", rows, ", got ",
              made, ".");
    sum += count;
  }
  PKG_CHECK(sum == rows, ValueError, "[alltoall] expected splits that sum to ", rows,
            ", got ", made, ".");
  return made;
}

std::tuple<Tensor, Tensor> alltoall_kernel(const Tensor& self, const Tensor& splits,
                                           const std::string& name) {
  const ExcludeKeys off = no_history();
  check_rows(Kind::Alltoall, self.sizes());
  Request request = request_for(Kind::Alltoall, self, name);
  request.splits = splits_of(self, splits, Engine::get().place().size);
  const Ref<Job> job = job_for(std::move(request), self, {});
  submit_jobs({&job, 1});
  wait_for(job);
  return {job->output, job->splits};
}

TensorList alltoall_gradient(const GradContext& g) {
  if (!g.grad().defined()) return {Tensor(), Tensor()};
  auto [back, rows] = alltoall(g.grad(), g.result(1), gradient_name(g.arg<std::string>(2)));
  return {back, Tensor()};
}

Shape scattered(const Shape& sizes) {
  check_rows(Kind::Reducescatter, sizes);
  const Place place = Engine::get().place();
  Shape made = sizes;
  made[0] = scattered_rows(sizes[0], place.rank, place.size);
  return made;
}

Tensor reducescatter_kernel(const Tensor& self, const std::string& name, int64_t op,
                            double prescale, double postscale) {
  const ExcludeKeys off = no_history();
  const Tensor result = empty(scattered(self.sizes()), self.dtype());
  Request request = request_for(Kind::Reducescatter, self, name);
  set_reduction(request, op, prescale, postscale);
  const Ref<Job> job = job_for(std::move(request), self, result);
  submit_jobs({&job, 1});
  return result;
}

TensorList reducescatter_gradient(const GradContext& g) {
  const auto op = g.arg<int64_t>(2);
  check_linear("reducescatter", op);
  double factor = g.arg<double>(3) * g.arg<double>(4);
  if (op == int(Reduction::Average)) factor /= Engine::get().place().size;
  const Tensor all = allgather(g.grad(), gradient_name(g.arg<std::string>(1)));
  return {factor == 1 ? all : all * Tensor(factor)};
}

template <Kind kind>
Tensor alone_kernel() {
  Engine& engine = Engine::get();
  engine.place();  // is there a session
  // All ranks that join mean the same; barriers are numbered.
  Request request = request_for(kind, {}, kind == Kind::Join ? "join.noname" : "");
  const Tensor result = empty(Shape{}, DType::Int32);
  const Ref<Job> job = job_for(std::move(request), {}, result);
  submit_jobs({&job, 1});
  return result;
}

// ---- Without data -----------------------------------------------------------------------

Tensor without_data(const Shape& sizes, const Tensor& like) {
  return empty(sizes, like.dtype(), Device{DeviceType::Meta});
}
Tensor same_meta(const Tensor& self, const std::string&, int64_t, double, double, bool,
                 bool) {
  return without_data(self.sizes(), self);
}
Tensor broadcast_meta(const Tensor& self, int64_t, const std::string&) {
  return without_data(self.sizes(), self);
}
Tensor reducescatter_meta(const Tensor& self, const std::string&, int64_t, double, double) {
  return without_data(scattered(self.sizes()), self);
}
TensorList grouped_meta(const TensorList& tensors, const std::string&, int64_t, double,
                        double, bool) {
  TensorList made;
  for (const Tensor& tensor : tensors) made.push_back(without_data(tensor.sizes(), tensor));
  return made;
}

[[noreturn]] void refuse_graph(const char* op) {
  detail::raise<NotImplementedError>(
      "[", op,
      "] has rows that other ranks send, so that its shape is not known before it "
      "runs: it cannot be in a graph yet, nor get tensors without data.");
}
Tensor allgather_refused(const Tensor&, const std::string&) { refuse_graph("allgather"); }
std::tuple<Tensor, Tensor> alltoall_refused(const Tensor&, const Tensor&,
                                            const std::string&) {
  refuse_graph("alltoall");
}

PKG_LIBRARY(horovod, m) {
  const auto pending = [](OpBuilder builder, auto kernel, auto meta) {
    builder.in_program_order()
        .impl(DispatchKey::CPU, kernel)
        .impl(DispatchKey::Async, kernel)
        .impl(DispatchKey::Meta, meta);
    return builder;
  };
  m.def("init(str library='', int fusion_bytes=134217728, int cache_capacity=1024, "
        "float stall_seconds=300.0, float failure_seconds=30.0) -> Tensor")
      .doc("Begins a session with the other ranks: int64 [rank, size, local_rank, "
           "local_size, cross_rank, cross_size], when all have come.")
      .in_program_order()
      .cpu(init_kernel);
  m.def("shutdown() -> Tensor")
      .doc("Ends the session on all ranks: 0, when all know. What is pending fails.")
      .in_program_order()
      .cpu(shutdown_kernel);
  m.def("_running() -> Tensor")
      .doc("Whether there is a session.")
      .in_program_order()
      .cpu(running_kernel);
  m.def("_counts() -> Tensor")
      .doc("Of this session: requests sent whole and as numbers, responses, tensors in "
           "them.")
      .in_program_order()
      .cpu(counts_kernel);

  pending(m.def("allreduce(Tensor tensor, str name='', int reduce_op=1, "
                "float prescale_factor=1.0, float postscale_factor=1.0, "
                "bool ignore_name_scope=False, bool in_turn=False) -> Tensor"),
          allreduce_kernel, same_meta)
      .doc("postscale_factor * reduction over all ranks of prescale_factor * tensor. "
           "in_turn: it may come after another one of its name, not an error.")
      .grad("", allreduce_gradient);
  pending(m.def("grouped_allreduce(Tensor[] tensors, str name='', int reduce_op=1, "
                "float prescale_factor=1.0, float postscale_factor=1.0, "
                "bool in_turn=False) -> Tensor[]"),
          grouped_allreduce_kernel, grouped_meta)
      .doc("allreduce of several tensors, all of them or none, and in_turn as there.")
      .grad("", grouped_allreduce_gradient);
  pending(m.def("broadcast(Tensor tensor, int root_rank, str name='') -> Tensor"),
          broadcast_kernel, broadcast_meta)
      .doc("The tensor of rank root_rank, on all ranks.")
      .grad("", [](const GradContext& g) -> TensorList {
        return {broadcast_gradient(g.grad(), g.arg<int64_t>(1), g.arg<std::string>(2))};
      });
  pending(m.def("reducescatter(Tensor tensor, str name='', int reduce_op=1, "
                "float prescale_factor=1.0, float postscale_factor=1.0) -> Tensor"),
          reducescatter_kernel, reducescatter_meta)
      .doc("As allreduce, of which each rank gets its share of the rows.")
      .grad("", reducescatter_gradient);
  pending(m.def("allgather(Tensor tensor, str name='') -> Tensor"), allgather_kernel,
          allgather_refused)
      .impl(DispatchKey::Graph, allgather_refused)
      .doc("The rows of all ranks behind each other, which may be of different number. "
           "Waits for them.")
      .grad("", [](const GradContext& g) -> TensorList {
        return {allgather_gradient(g.grad(), g.shape(0), g.arg<std::string>(1))};
      });
  pending(m.def("alltoall(Tensor tensor, Tensor? splits=None, str name='') -> "
                "(Tensor output, Tensor received_splits)"),
          alltoall_kernel, alltoall_refused)
      .impl(DispatchKey::Graph, alltoall_refused)
      .doc("Sends splits[r] rows to each rank r, and gets what the others send here. "
           "Waits for them.")
      .grad("result1", alltoall_gradient);
  m.def("join() -> Tensor")
      .doc("Takes part in what other ranks do without data of its own, until all have "
           "joined: the last rank that did, int32.")
      .in_program_order()
      .cpu(alone_kernel<Kind::Join>);
  m.def("barrier() -> Tensor")
      .doc("0, when all ranks have come here.")
      .in_program_order()
      .cpu(alone_kernel<Kind::Barrier>);
}

}  // namespace
}  // namespace pkg::collectives

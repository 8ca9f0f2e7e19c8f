// SPDX-License-Identifier: Apache-2.0
// collectives/moving_ops.cc: the records that move rows and compute nothing: allgather, alone
// and in groups, broadcast, alltoall.  Where a shape follows from what other ranks send, the
// kernel waits for it.
#include "collectives/records.h"
#include "dispatcher/unknown_size.h"

namespace pkg::collectives {
namespace {

TensorList gathered(Call& call, std::span<const Tensor> tensors, bool in_turn) {
  const ExcludeKeys off = no_history();
  std::vector<Ref<Job>> jobs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    check_rows(Kind::Allgather, tensors[i].sizes());
    jobs.push_back(job_for(call.request(tensors[i], i), tensors[i], {}));
    jobs.back()->in_turn = in_turn;
  }
  call.submit(jobs);
  TensorList results;
  for (const Ref<Job>& job : jobs) {
    job->event->wait();
    results.push_back(job->output);
  }
  return results;
}

Tensor allgather_kernel(const Tensor& self, const std::string& name, bool in_turn) {
  return as_call(Kind::Allgather, name, 0,
                 [&](Call& call) { return gathered(call, {&self, 1}, in_turn)[0]; });
}

TensorList grouped_allgather_kernel(const TensorList& tensors, const std::string& name,
                                    bool in_turn) {
  return as_call(Kind::Allgather, name, group_of(tensors), [&](Call& call) {
    PKG_CHECK(!tensors.empty(), ValueError,
              "[grouped_allgather] expected at least one tensor, got an empty list.");
    return gathered(call, tensors, in_turn);
  });
}

// The rows of this rank in the sum of all gradients.
Tensor allgather_gradient(const Tensor& grad, const Shape& sizes, const std::string& name) {
  const std::string own = gradient_name(name);
  Tensor rows = empty(Shape{1}, DType::Int64);
  *rows.data<int64_t>() = sizes[0];
  const Tensor all = allgather(rows, own.empty() ? own : own + ".rows", true);
  const Tensor sum = allreduce(grad, own, int64_t(Reduction::Sum), 1.0, 1.0, false, true);
  const int64_t* const counts = all.wait().data<int64_t>();
  int64_t begin = 0;
  for (int r = 0; r < Engine::get().place().rank; ++r) begin += counts[r];
  return ops::slice(sum, 0, begin, begin + sizes[0], 1);
}

TensorList grouped_allgather_gradient(const GradContext& g) {
  const std::string own = gradient_name(g.arg<std::string>(1));
  const size_t count = g.grads.size();
  const Tensor rows = empty(Shape{1, int64_t(count)}, DType::Int64);
  for (size_t i = 0; i < count; ++i) rows.data<int64_t>()[i] = g.shape(i)[0];
  const Tensor all = allgather(rows, own.empty() ? own : own + ".rows", true).wait();
  const Place place = Engine::get().place();
  std::vector<int64_t> begins(count, 0), sums(count, 0);  // of the rows of each
  for (size_t r = 0; r < size_t(place.size); ++r) {
    for (size_t i = 0; i < count; ++i) {
      const int64_t each = all.data<int64_t>()[r * count + i];
      if (int(r) < place.rank) begins[i] += each;
      sums[i] += each;
    }
  }
  TensorList grads;
  for (size_t i = 0; i < count; ++i) grads.push_back(gradient_of(g, i, sums[i]));
  grads = grouped_allreduce(grads, own, int64_t(Reduction::Sum), 1.0, 1.0, true);
  for (size_t i = 0; i < count; ++i) {
    grads[i] = ops::slice(grads[i], 0, begins[i], begins[i] + g.shape(i)[0], 1);
  }
  return grads;
}

Tensor broadcast_kernel(const Tensor& self, int64_t root, const std::string& name,
                        bool in_turn) {
  return as_call(Kind::Broadcast, name, 0, [&](Call& call) {
    const ExcludeKeys off = no_history();
    const int size = call.place().size;
    PKG_CHECK(root >= 0 && root < size, ValueError,
              "[broadcast] expected 0 <= root_rank < ", size, ", got ", root, ".");
    Request request = call.request(self);
    request.root = int32_t(root);
    const Tensor result = empty(self.sizes(), self.dtype());
    const Ref<Job> job = job_for(std::move(request), self, result);
    job->in_turn = in_turn;
    call.submit({&job, 1});
    return result;
  });
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
                                           const std::string& name, bool in_turn) {
  return as_call(Kind::Alltoall, name, 0, [&](Call& call) {
    const ExcludeKeys off = no_history();
    check_rows(Kind::Alltoall, self.sizes());
    Request request = call.request(self);
    request.splits = splits_of(self, splits, call.place().size);
    const Ref<Job> job = job_for(std::move(request), self, {});
    job->in_turn = in_turn;
    call.submit({&job, 1});
    job->event->wait();
    return std::tuple(job->output, job->splits);
  });
}

TensorList alltoall_gradient(const GradContext& g) {
  if (!g.grad().defined()) return {Tensor(), Tensor()};
  auto [back, rows] = alltoall(g.grad(), g.result(1), gradient_name(g.arg<std::string>(2)),
                               true);
  return {back, Tensor()};
}

// ---- Without data -----------------------------------------------------------------------

Tensor broadcast_meta(const Tensor& self, int64_t, const std::string&, bool) {
  return without_data(self.sizes(), self);
}
Tensor rows_meta(Kind kind, const Tensor& self) {
  check_rows(kind, self.sizes());
  Shape sizes = self.sizes();
  sizes[0] = unknown_size(name_of(kind));
  return without_data(sizes, self);
}
Tensor allgather_meta(const Tensor& self, const std::string&, bool) {
  return rows_meta(Kind::Allgather, self);
}
TensorList grouped_allgather_meta(const TensorList& tensors, const std::string&, bool) {
  TensorList made;
  for (const Tensor& tensor : tensors) made.push_back(rows_meta(Kind::Allgather, tensor));
  return made;
}
std::tuple<Tensor, Tensor> alltoall_meta(const Tensor& self, const Tensor&,
                                         const std::string&, bool) {
  const Tensor rows = rows_meta(Kind::Alltoall, self);
  const Shape ranks{unknown_size("alltoall")};
  return {rows, empty(ranks, DType::Int64, Device{DeviceType::Meta})};
}

PKG_LIBRARY_FRAGMENT(horovod, m) {
  pending(m.def("broadcast(Tensor tensor, int root_rank, str name='', "
                "bool in_turn=False) -> Tensor"),
          broadcast_kernel, broadcast_meta)
      .doc("The tensor of rank root_rank, on all ranks; in_turn as of allreduce.")
      .grad("", [](const GradContext& g) -> TensorList {
        return {broadcast_gradient(g.grad(), g.arg<int64_t>(1), g.arg<std::string>(2))};
      });
  pending(m.def("allgather(Tensor tensor, str name='', bool in_turn=False) -> Tensor"),
          allgather_kernel, allgather_meta)
      .doc("The rows of all ranks behind each other, which may be of different number. "
           "Waits for them.")
      .grad("", [](const GradContext& g) -> TensorList {
        return {allgather_gradient(g.grad(), g.shape(0), g.arg<std::string>(1))};
      });
  pending(m.def("grouped_allgather(Tensor[] tensors, str name='', bool in_turn=False) -> "
                "Tensor[]"),
          grouped_allgather_kernel, grouped_allgather_meta)
      .doc("allgather of several tensors, all of them or none. Waits for them.")
      .grad("", grouped_allgather_gradient);
  pending(m.def("alltoall(Tensor tensor, Tensor? splits=None, str name='', "
                "bool in_turn=False) -> (Tensor output, Tensor received_splits)"),
          alltoall_kernel, alltoall_meta)
      .doc("Sends splits[r] rows to each rank r, and gets what the others send here. "
           "Waits for them.")
      .grad("result1", alltoall_gradient);
}

}  // namespace
}  // namespace pkg::collectives

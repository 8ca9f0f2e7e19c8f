// SPDX-License-Identifier: Apache-2.0
// collectives/reducing_ops.cc: the records allreduce and reducescatter, alone and in groups.
#include <cstring>

#include "collectives/records.h"
#include "dispatcher/unknown_size.h"

namespace pkg::collectives {

Tensor gradient_of(const GradContext& g, size_t i, int64_t rows) {
  if (g.grads[i].defined()) return g.grads[i];
  Shape sizes = g.shape(i);
  if (rows >= 0) sizes[0] = rows;
  const Tensor made = empty(sizes, g.specs[i].dtype);
  std::memset(made.data(), 0, size_t(made.numel() * itemsize(made.dtype())));
  return made;
}

namespace {

std::string without_scope(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

void check_linear(const char* op, int64_t reduction) {
  PKG_CHECK(reduction == int(Reduction::Sum) || reduction == int(Reduction::Average),
            NotImplementedError, "[", op, "] has a gradient for Sum and Average, not for ",
            name_of(Reduction(reduction)), ".");
}

// Submits one reduction, or a group of them; `output(sizes)` is the shape of a result.
template <class Output>
TensorList submit_reductions(Call& call, std::span<const Tensor> tensors, int64_t op,
                             double prescale, double postscale, bool in_turn,
                             Output output) {
  const ExcludeKeys off = no_history();
  TensorList results;
  std::vector<Ref<Job>> jobs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Request request = call.request(tensors[i], i);
    set_reduction(request, op, prescale, postscale);
    results.push_back(empty(output(tensors[i].sizes()), tensors[i].dtype()));
    jobs.push_back(job_for(std::move(request), tensors[i], results.back()));
    jobs.back()->in_turn = in_turn;
  }
  call.submit(jobs);
  return results;
}

const Shape& same(const Shape& sizes) { return sizes; }

Shape scattered(const Shape& sizes, const Place& place) {
  check_rows(Kind::Reducescatter, sizes);
  Shape made = sizes;
  made[0] = scattered_rows(sizes[0], place.rank, place.size);
  return made;
}

void check_group(const char* op, const TensorList& tensors) {
  PKG_CHECK(!tensors.empty(), ValueError, "[", op,
            "] expected at least one tensor, got an empty list.");
}

Tensor allreduce_kernel(const Tensor& self, const std::string& name, int64_t op,
                        double prescale, double postscale, bool ignore_name_scope,
                        bool in_turn) {
  return as_call(Kind::Allreduce, ignore_name_scope ? without_scope(name) : name, 0,
                 [&](Call& call) {
                   return submit_reductions(call, {&self, 1}, op, prescale, postscale,
                                            in_turn, same)[0];
                 });
}

TensorList grouped_allreduce_kernel(const TensorList& tensors, const std::string& name,
                                    int64_t op, double prescale, double postscale,
                                    bool in_turn) {
  return as_call(Kind::Allreduce, name, group_of(tensors), [&](Call& call) {
    check_group("grouped_allreduce", tensors);
    return submit_reductions(call, tensors, op, prescale, postscale, in_turn, same);
  });
}

Tensor reducescatter_kernel(const Tensor& self, const std::string& name, int64_t op,
                            double prescale, double postscale, bool in_turn) {
  return as_call(Kind::Reducescatter, name, 0, [&](Call& call) {
    const auto share = [&](const Shape& sizes) { return scattered(sizes, call.place()); };
    return submit_reductions(call, {&self, 1}, op, prescale, postscale, in_turn, share)[0];
  });
}

TensorList grouped_reducescatter_kernel(const TensorList& tensors, const std::string& name,
                                        int64_t op, double prescale, double postscale,
                                        bool in_turn) {
  return as_call(Kind::Reducescatter, name, group_of(tensors), [&](Call& call) {
    check_group("grouped_reducescatter", tensors);
    const auto share = [&](const Shape& sizes) { return scattered(sizes, call.place()); };
    return submit_reductions(call, tensors, op, prescale, postscale, in_turn, share);
  });
}

TensorList allreduce_gradient(const GradContext& g) {
  const auto op = g.arg<int64_t>(2);
  check_linear("allreduce", op);
  return {allreduce(g.grad(), gradient_name(g.arg<std::string>(1)), op, g.arg<double>(3),
                    g.arg<double>(4), g.arg<bool>(5), true)};
}

TensorList grouped_allreduce_gradient(const GradContext& g) {
  const auto op = g.arg<int64_t>(2);
  check_linear("grouped_allreduce", op);
  TensorList grads;
  for (size_t i = 0; i < g.grads.size(); ++i) grads.push_back(gradient_of(g, i));
  return grouped_allreduce(grads, gradient_name(g.arg<std::string>(1)), op,
                           g.arg<double>(3), g.arg<double>(4), true);
}

// What each element of the gradient counts in the inputs.
double factor_of(const GradContext& g) {
  const double factor = g.arg<double>(3) * g.arg<double>(4);
  const bool average = g.arg<int64_t>(2) == int(Reduction::Average);
  return average ? factor / Engine::get().place().size : factor;
}

Tensor times(const Tensor& tensor, double factor) {
  return factor == 1 ? tensor : tensor * Tensor(factor);
}

TensorList reducescatter_gradient(const GradContext& g) {
  check_linear("reducescatter", g.arg<int64_t>(2));
  const Tensor all = allgather(g.grad(), gradient_name(g.arg<std::string>(1)), true);
  return {times(all, factor_of(g))};
}

TensorList grouped_reducescatter_gradient(const GradContext& g) {
  check_linear("grouped_reducescatter", g.arg<int64_t>(2));
  const Place place = Engine::get().place();
  TensorList shares;
  for (size_t i = 0; i < g.grads.size(); ++i) {
    shares.push_back(
        gradient_of(g, i, scattered_rows(g.shape(i)[0], place.rank, place.size)));
  }
  TensorList grads = grouped_allgather(shares, gradient_name(g.arg<std::string>(1)), true);
  for (Tensor& grad : grads) grad = times(grad, factor_of(g));
  return grads;
}

// ---- Without data -----------------------------------------------------------------------

Tensor same_meta(const Tensor& self, const std::string&, int64_t, double, double, bool,
                 bool) {
  return without_data(self.sizes(), self);
}
TensorList grouped_meta(const TensorList& tensors, const std::string&, int64_t, double,
                        double, bool) {
  TensorList made;
  for (const Tensor& tensor : tensors) made.push_back(without_data(tensor.sizes(), tensor));
  return made;
}
// The share of this rank: before init() nobody knows how many there are.
Tensor share_meta(const Tensor& self) {
  check_rows(Kind::Reducescatter, self.sizes());
  if (Engine::get().running()) {
    return without_data(scattered(self.sizes(), Engine::get().place()), self);
  }
  Shape sizes = self.sizes();
  sizes[0] = unknown_size("reducescatter");
  return without_data(sizes, self);
}
Tensor reducescatter_meta(const Tensor& self, const std::string&, int64_t, double, double,
                          bool) {
  return share_meta(self);
}
TensorList grouped_reducescatter_meta(const TensorList& tensors, const std::string&,
                                      int64_t, double, double, bool) {
  TensorList made;
  for (const Tensor& tensor : tensors) made.push_back(share_meta(tensor));
  return made;
}

PKG_LIBRARY_FRAGMENT(horovod, m) {
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
  pending(m.def("reducescatter(Tensor tensor, str name='', int reduce_op=1, "
                "float prescale_factor=1.0, float postscale_factor=1.0, "
                "bool in_turn=False) -> Tensor"),
          reducescatter_kernel, reducescatter_meta)
      .doc("As allreduce, of which each rank gets its share of the rows.")
      .grad("", reducescatter_gradient);
  pending(m.def("grouped_reducescatter(Tensor[] tensors, str name='', int reduce_op=1, "
                "float prescale_factor=1.0, float postscale_factor=1.0, "
                "bool in_turn=False) -> Tensor[]"),
          grouped_reducescatter_kernel, grouped_reducescatter_meta)
      .doc("reducescatter of several tensors, all of them or none.")
      .grad("", grouped_reducescatter_gradient);
}

}  // namespace
}  // namespace pkg::collectives

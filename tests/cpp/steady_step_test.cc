// SPDX-License-Identifier: Apache-2.0
// tests/cpp/steady_step_test.cc: after a few steps of training nothing more is asked of
// the system: no malloc and none of its relatives, whoever calls it.
#include "autograd/engine.h"
#include "autograd/leaf.h"
#include "check.h"
#include "count_malloc.h"
#include "dispatcher/dispatcher.h"
#include "ops/functions.h"
#include "scheduler/cpu_count.h"
#include "scheduler/scheduler.h"
#include "tensor/allocator.h"

using namespace pkg;

namespace {

const Op<Tensor(const Tensor&, const Tensor&, const Tensor&)> linear{"linear"};
const Op<Tensor(const Tensor&, const Tensor&, const Tensor&, int64_t, double,
                const std::string&)>
    cross_entropy{"cross_entropy"};
const Op<TensorList(const TensorList&, const TensorList&, const TensorList&, double, double,
                    double, double, bool)>
    sgd_step{"_sgd_step_"};

Tensor filled(Shape sizes, float scale) {
  Tensor t = empty(sizes, DType::Float32);
  for (int64_t i = 0; i < t.numel(); ++i) {
    t.data<float>()[i] = scale * float((i * 7919) % 101 - 50) / 50;
  }
  return t;
}
Tensor parameter(Shape sizes) {
  Tensor t = filled(sizes, 0.1f);
  set_requires_grad(t, true);
  return t;
}

// The digits MLP of the benchmarks.
struct Training {
  Tensor x = filled(Shape{64, 64}, 1), y = empty(Shape{64}, DType::Int64);
  TensorList params{parameter(Shape{128, 64}), parameter(Shape{128}),
                    parameter(Shape{10, 128}), parameter(Shape{10})};
  TensorList momenta;

  Training() {
    for (int64_t i = 0; i < 64; ++i) y.data<int64_t>()[i] = i % 10;
    for (const Tensor& p : params) momenta.push_back(filled(p.sizes(), 0));
  }
  float step() {
    for (const Tensor& p : params) set_grad(p, Tensor());
    const Tensor h = ops::relu(linear(x, params[0], params[1]));
    const Tensor loss = cross_entropy(linear(h, params[2], params[3]), y, Tensor(), -100,
                                      0.0, "mean");
    backward({loss}, {});
    TensorList grads;
    for (const Tensor& p : params) grads.push_back(p.grad());
    const bool before = set_grad_enabled(false);
    sgd_step(params, grads, momenta, 0.05, 0.9, 0.0, 0.0, false);
    set_grad_enabled(before);
    synchronize();
    return item(loss).to<float>();
  }
};

int64_t calls_of_steady_steps() {
  Training training;
  const float first = training.step();
  float last = first;
  for (int i = 0; i < 50; ++i) last = training.step();
  CHECK(last < first);
  const int64_t before = allocator_stats().system_allocations;
  g_calls = 0;
  g_counting = true;
  for (int i = 0; i < 100; ++i) last = training.step();
  g_counting = false;
  CHECK(allocator_stats().system_allocations == before);
  return g_calls;
}

}  // namespace

TEST(the_counter_counts) {
  g_calls = 0;
  g_counting = true;
  void* volatile some = std::malloc(10);
  std::free(some);
  g_counting = false;
  CHECK(g_calls == PKG_COUNTS_MALLOC);
}

TEST(a_steady_step_on_one_thread_asks_the_system_for_nothing) {
  set_num_threads(1);
  CHECK(calls_of_steady_steps() == 0);
}

TEST(nor_does_one_on_all_threads) {
  set_num_threads(available_cpus());
  CHECK(calls_of_steady_steps() == 0);
}

// SPDX-License-Identifier: Apache-2.0
// tests/cpp/steady_run_test.cc: after a few runs a session asks the system for nothing more.
#include <algorithm>

#include "check.h"
#include "count_malloc.h"
#include "graph/session.h"
#include "ops/functions.h"
#include "scheduler/cpu_count.h"
#include "scheduler/scheduler.h"
#include "tensor/allocator.h"

using namespace pkg;
using namespace pkg::graph;

namespace {

const OutputSpec kSpec{DType::Float32, true, Shape{64, 64}};

Tensor filled(const Shape& sizes) {
  const Tensor made = empty(sizes, DType::Float32);
  for (int64_t i = 0; i < made.numel(); ++i) made.data<float>()[i] = float(i % 7) / 7;
  return made;
}

// One step of training of a network of two layers, and a chain long enough to be fused.
struct Model {
  Ref<Graph> graph = Ref<Graph>::make();
  Node& fed = graph->placeholder("x", kSpec);
  Node& w = graph->variable("w", kSpec);
  Node& v = graph->variable("v", kSpec);
  Node& large = graph->placeholder("large", {DType::Float32, true, Shape{50000}});
  Ref<Session> session = Ref<Session>::make(graph);
  Ref<Callable> step, chain;

  Model() {
    const Tensor y = ops::matmul(ops::relu(ops::matmul(symbol(fed), symbol(w))), symbol(v));
    const Tensor loss = ops::mean(ops::mul(y, y));
    Node& grads = graph->gradients("", {loss}, {Tensor()}, {symbol(w), symbol(v)});
    const auto descend = [&](Node& variable, uint32_t i) {
      const Tensor change = ops::mul(graph->symbol({&grads, i}), Tensor(0.01));
      return &graph->assign("", variable, ops::sub(symbol(variable), change));
    };
    step = session->make_callable({{&fed, 0}}, {edge_of(loss)},
                                  {descend(w, 0), descend(v, 1)});
    Tensor z = symbol(large);
    for (int i = 0; i < 4; ++i) z = ops::sigmoid(ops::mul(z, Tensor(1.5)));
    chain = session->make_callable({{&large, 0}}, {edge_of(z)}, {});
    session->set_variables({{&w, filled(Shape{64, 64})}, {&v, filled(Shape{64, 64})}});
  }
  ~Model() { graph->close(); }
  Tensor symbol(Node& node) { return graph->symbol({&node, 0}); }
};

// Of 100 runs.  Threads that come to help for the first time need memory; on a busy machine
// that may be late.
int64_t calls_of_steady_runs() {
  Model model;
  const TensorList feeds{filled(Shape{64, 64})}, large{filled(Shape{50000})};
  const auto run = [&] {
    const float loss = item(model.step->run(feeds)[0]).to<float>();
    model.chain->run(large);
    return loss;
  };
  const float first = run();
  int64_t fewest = INT64_MAX;
  for (int round = 0; round < 20 && fewest > 0; ++round) {
    float last = first;
    const int64_t before = allocator_stats().system_allocations;
    g_calls = 0;
    g_counting = true;
    for (int i = 0; i < 100; ++i) last = run();
    g_counting = false;
    CHECK(last < first);
    fewest = std::min(fewest, g_calls + allocator_stats().system_allocations - before);
  }
  return fewest;
}

}  // namespace

TEST(steady_runs_on_one_thread_ask_the_system_for_nothing) {
  set_num_threads(1);
  CHECK(calls_of_steady_runs() == 0);
}

TEST(nor_do_those_on_all_threads) {
  set_num_threads(available_cpus());
  CHECK(calls_of_steady_runs() == 0);
}

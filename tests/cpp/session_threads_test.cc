// SPDX-License-Identifier: Apache-2.0
// tests/cpp/session_threads_test.cc: threads that run, assign, swap and close one session,
// and add to its graph meanwhile.  tests/sanitizers.py thread sees what is not ordered.
#include "check.h"

#include <atomic>
#include <thread>
#include <vector>

#include "graph/session.h"
#include "ops/functions.h"

using namespace pkg;
using namespace pkg::graph;

namespace {

constexpr int kRuns = 200;

Tensor filled(float value) {
  const Tensor made = empty(Shape{16}, DType::Float32);
  for (int64_t i = 0; i < made.numel(); ++i) made.data<float>()[i] = value;
  return made;
}

// sum(a - b) + sum(x), where a and b always have the same value; and a step that adds 1.
struct Model {
  Ref<Graph> graph = Ref<Graph>::make();
  OutputSpec spec{DType::Float32, true, Shape{16}};
  Node& fed = graph->placeholder("x", {DType::Float32, true, Shape{-1}});
  Node& a = graph->variable("a", spec);
  Node& b = graph->variable("b", spec);
  Tensor sum = ops::add(ops::sum(ops::sub(symbol(a), symbol(b))), ops::sum(symbol(fed)));
  Node& step_a = graph->assign("", a, ops::add(symbol(a), Tensor(1.0)));
  Node& step_b = graph->assign("", b, ops::add(symbol(b), Tensor(1.0)));
  Ref<Session> session = Ref<Session>::make(graph);
  Ref<Callable> read = session->make_callable({{&fed, 0}}, {edge_of(sum)}, {});
  Ref<Callable> step = session->make_callable({}, {}, {&step_a, &step_b});

  Model() { session->set_variables({{&a, filled(0)}, {&b, filled(0)}}); }
  ~Model() { graph->close(); }
  Tensor symbol(Node& node) { return graph->symbol({&node, 0}); }
};

template <class... F>
void together(F... run) {
  std::vector<std::thread> threads;
  (threads.emplace_back(run), ...);
  for (std::thread& thread : threads) thread.join();
}

TEST(each_run_sees_one_version) {
  Model model;
  std::atomic<int> wrong{0};
  const auto reads = [&](float size) {
    return [&, size] {
      const Tensor x = filled(size);
      for (int i = 0; i < kRuns; ++i) {
        const Tensor found = model.read->run({x})[0];
        if (item(found).to<double>() != 16 * size) ++wrong;
      }
    };
  };
  const auto steps = [&] {
    for (int i = 0; i < kRuns; ++i) model.step->run({});
  };
  const auto swaps = [&] {
    for (int i = 0; i < kRuns; ++i) {
      model.session->set_variables({{&model.a, filled(7)}, {&model.b, filled(7)}});
    }
  };
  const auto builds = [&] {
    for (int i = 0; i < kRuns; ++i) model.graph->constant("", filled(1));
  };
  together(reads(1), reads(2), steps, swaps, builds);
  CHECK(wrong == 0);
}

TEST(no_step_is_lost) {
  Model model;
  const auto steps = [&] {
    for (int i = 0; i < kRuns; ++i) model.step->run({});
  };
  together(steps, steps, steps);
  const Tensor found = model.session->variable(model.a);
  CHECK(found.data<float>()[0] == 3 * kRuns);
}

TEST(closing_ends_every_run) {
  for (int round = 0; round < 10; ++round) {
    Model model;
    std::atomic<int> ended{0};
    const auto runs = [&](Callable& callable, const TensorList& feeds) {
      return [&ended, &callable, feeds] {
        try {
          for (;;) callable.run(feeds);
        } catch (const Error&) { ++ended; }
      };
    };
    together(runs(*model.read, {filled(1)}), runs(*model.step, {}),
             [&] { model.session->close(); });
    CHECK(ended == 2);
  }
}

}  // namespace

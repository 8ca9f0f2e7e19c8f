// SPDX-License-Identifier: Apache-2.0
// tests/cpp/plan_test.cc: what a plan leaves out and puts together.
#include <numeric>

#include "check.h"
#include "dispatcher/library.h"
#include "graph/evaluate.h"
#include "graph/fusion.h"
#include "ops/functions.h"

using namespace pkg;
using namespace pkg::graph;

namespace {

PKG_LIBRARY(plan_test, m) {
  m.def("exp_and_twice(Tensor self) -> Tensor").composite([](const Tensor& self) {
    const Tensor made = ops::exp(self);
    ops::add_(made, self);
    return ops::add_(made, self);
  });
}

struct Planned {
  Ref<Graph> graph = Ref<Graph>::make();
  Shape shape;
  Node& fed;
  explicit Planned(Shape sizes)
      : shape(sizes), fed(graph->placeholder("x", {DType::Float32, true, sizes})) {}
  ~Planned() { graph->close(); }
  Tensor x() { return graph->symbol({&fed, 0}); }
  Plan plan(const TensorList& fetched) {
    std::vector<Edge> fetches;
    for (const Tensor& tensor : fetched) fetches.push_back(edge_of(tensor));
    const std::vector<Edge> feeds{{&fed, 0}};
    const std::vector<Spec> specs{{shape, DType::Float32, {}}};
    const std::vector<Node*> nodes = needed(feeds, fetches, {});
    return make_plan(nodes, fetches, {feeds, specs, {}, {}, {}});
  }
};

size_t count(const Plan& plan, Buffer::Kind kind) {
  return size_t(std::count_if(plan.buffers.begin(), plan.buffers.end(),
                              [&](const Buffer& buffer) { return buffer.kind == kind; }));
}

constexpr int64_t kLarge = 100000;

}  // namespace

TEST(a_chain_of_pointwise_calls_is_one_step_without_memory) {
  Planned model(Shape{kLarge});
  Tensor y = model.x();
  for (int i = 0; i < 5; ++i) y = ops::sigmoid(ops::mul(y, Tensor(0.5 + i)));
  const Plan plan = model.plan({y});
  CHECK(plan.steps.size() == 1);
  CHECK(plan.steps[0].fusion && plan.steps[0].fusion->steps.size() == 10);
  CHECK(plan.slab_bytes == 0);
  CHECK(count(plan, Buffer::Kind::Local) == 9);
  // Two places for a chunk of each are enough, whatever the length of the chain.
  const Fusion& fusion = *plan.steps[0].fusion;
  CHECK(fusion.nbytes < 3 * fusion.rows * fusion.inner * 4);
}

TEST(calls_within_a_call_that_writes_are_not_left_out) {
  Planned model(Shape{7});
  const Op<Tensor(const Tensor&)> twice{"exp_and_twice", "plan_test"};
  const Tensor alone = ops::exp(model.x()), both = twice(model.x());
  const Plan plan = model.plan({alone, both});
  size_t exps = 0, adds = 0;
  for (const Step& step : plan.steps) {
    exps += step.op->schema.name == "exp";
    adds += step.op->schema.name == "add_";
  }
  CHECK(exps == 2 && adds == 2);
}

TEST(few_elements_are_not_worth_it) {
  Planned model(Shape{100});
  const Plan plan = model.plan({ops::exp(ops::mul(model.x(), model.x()))});
  CHECK(plan.steps.size() == 2 && !plan.steps[0].fusion);
}

TEST(rows_and_columns_that_repeat_are_fused) {
  Planned model(Shape{200, 300});
  const Tensor x = model.x();
  const Tensor mean = ops::mean(x, Shape{1}, true);
  const Tensor apart = ops::mul(ops::sub(x, mean), Tensor(2.0));
  const Plan plan = model.plan({ops::mul(apart, apart)});
  CHECK(plan.steps.size() == 3);  // a sum, a division by the count, and the rest
  CHECK(plan.steps[2].fusion && plan.steps[2].fusion->inner == 300);
}

TEST(what_others_use_gets_memory) {
  Planned model(Shape{kLarge});
  const Tensor a = ops::mul(model.x(), Tensor(2.0)), b = ops::exp(a);
  const Plan plan = model.plan({b, ops::sum(a)});
  CHECK(plan.steps.size() == 2);
  CHECK(count(plan, Buffer::Kind::Local) == 0);
  CHECK(plan.slab_bytes >= kLarge * 4);
}

TEST(calls_that_are_equal_are_one_step) {
  Planned model(Shape{7, 5});
  const Tensor x = model.x();
  const auto made = [&](double factor) {
    return ops::sum(ops::mul(ops::transpose(x, 0, 1), Tensor(factor)), Shape{0});
  };
  const Plan same = model.plan({ops::add(made(3), made(3))});
  CHECK(same.steps.size() == 3);
  const Plan other = model.plan({ops::add(made(3), made(4))});
  CHECK(other.steps.size() == 5);
  const Plan signs = model.plan({ops::add(made(0.0), made(-0.0))});
  CHECK(signs.steps.size() == 5);
}

TEST(what_nobody_uses_is_left_out) {
  Planned model(Shape{7});
  const Tensor y = ops::exp(ops::sin(model.x()));
  Node& grads = model.graph->gradients("", {ops::sum(y)}, {Tensor()}, {model.x()});
  const Plan plan = model.plan({model.graph->symbol({&grads, 0})});
  for (const Step& step : plan.steps) CHECK(step.op->schema.name != "sum");
  CHECK(!plan.steps.empty());
}

TEST(none_is_left_out_where_calls_write) {
  Planned model(Shape{7});
  const Tensor kept = empty(Shape{7}, DType::Float32);
  const Tensor before = ops::exp(model.x());
  const Tensor written = ops::mul_(kept, before);
  const Tensor after = ops::exp(model.x());
  const Plan plan = model.plan({written, ops::add(before, after)});
  size_t exps = 0;
  for (const Step& step : plan.steps) exps += step.op->schema.name == "exp";
  CHECK(exps == 2);
}

TEST(a_pointwise_step_writes_where_its_argument_lay) {
  Planned model(Shape{100});
  Tensor y = model.x();
  for (int i = 0; i < 6; ++i) y = ops::sin(y);
  const Plan plan = model.plan({ops::sum(y)});
  CHECK(plan.steps.size() == 7);
  CHECK(plan.slab_bytes == 448);  // 400 bytes, in lines of 64
}

TEST(nor_where_another_view_of_the_argument_is_read) {
  Planned model(Shape{10, 10});
  const Tensor t = ops::sin(model.x());
  const Plan plan = model.plan({ops::sum(ops::add(t, ops::transpose(t, 0, 1)))});
  CHECK(plan.slab_bytes >= 2 * 448);
}

TEST(but_not_where_one_lies_that_is_used_later) {
  Planned model(Shape{100});
  const Tensor a = ops::sin(model.x()), b = ops::cos(a);
  const Plan plan = model.plan({ops::sum(ops::mul(a, b)), ops::sum(b)});
  CHECK(plan.slab_bytes >= 2 * 448);
}

// SPDX-License-Identifier: Apache-2.0
// tests/cpp/autograd_test.cc: a C++ program that links libpkg_core.so and nothing else.
#include "autograd/engine.h"
#include "autograd/node.h"
#include "base/thread_local.h"
#include "check.h"
#include "ops/functions.h"

using namespace pkg;

namespace {

Tensor leaf(std::initializer_list<float> values, Shape sizes) {
  Tensor t = empty(sizes, DType::Float32);
  std::copy(values.begin(), values.end(), t.data<float>());
  set_requires_grad(t, true);
  return t;
}

}  // namespace

TEST(two_matrices_are_multiplied_and_differentiated) {
  const Tensor a = leaf({1, 2, 3, 4}, Shape{2, 2}), b = leaf({5, 6, 7, 8}, Shape{2, 2});
  const Tensor c = ops::matmul(a, b);
  CHECK(c.data<float>()[0] == 19 && c.data<float>()[3] == 50);
  backward({ops::sum(c)}, {});
  CHECK(a.grad().data<float>()[0] == 11 && a.grad().data<float>()[1] == 15);
  CHECK(b.grad().data<float>()[0] == 4 && b.grad().data<float>()[3] == 6);
}

TEST(graphs_are_freed_with_their_last_tensor) {
  const int64_t before = live_count(Live::Nodes);
  {
    const Tensor x = leaf({1}, Shape{1});
    Tensor y = x;
    for (int i = 0; i < 200000; ++i) y = ops::add(y, Tensor(1));
    CHECK(live_count(Live::Nodes) >= before + 200000);
  }
  CHECK(live_count(Live::Nodes) == before);
}

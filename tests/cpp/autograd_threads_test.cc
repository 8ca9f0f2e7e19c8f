// SPDX-License-Identifier: Apache-2.0
// tests/cpp/autograd_threads_test.cc: passes of several threads over one graph.  The
// losses that this finds are rare; tests/sanitizers.py thread sees their cause each time.
#include "check.h"

#include <atomic>
#include <thread>
#include <vector>

#include "autograd/engine.h"
#include "ops/functions.h"

using namespace pkg;

namespace {

constexpr int kThreads = 4, kPasses = 50;

template <class F>
void on_threads(F run) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run);
  for (std::thread& thread : threads) thread.join();
}

// A leaf and a result of it, on which nothing has been asked for yet.
std::pair<Tensor, Tensor> leaf_and_result() {
  const Tensor x = empty(Shape{1}, DType::Float64);
  *x.data<double>() = 2;
  set_requires_grad(x, true);
  return {x, ops::mul(x, Tensor(3.0))};
}

double value(const Tensor& tensor) { return item(tensor).to<double>(); }

}  // namespace

TEST(a_retained_gradient_counts_every_pass) {
  for (int trial = 0; trial < 20; ++trial) {
    const auto [x, y] = leaf_and_result();
    const Tensor z = ops::mul(y, Tensor(1.0));
    on_threads([&, y = y] {
      for (int i = 0; i < kPasses; ++i) backward({z}, {}, true, false, {y});
    });
    CHECK(value(y.grad()) == kThreads * kPasses);
    CHECK(!x.grad().defined());
  }
}

TEST(gradients_can_be_read_while_passes_add_to_them) {
  const auto [x, y] = leaf_and_result();
  const Tensor z = ops::mul(y, Tensor(1.0));
  std::atomic<bool> done{false};
  std::thread reader([&, x = x, y = y] {
    while (!done) {
      for (const Tensor& tensor : {x, y}) {
        const Tensor grad = tensor.grad();
        if (grad.defined()) CHECK(grad.numel() == 1);
      }
    }
  });
  on_threads([&, x = x, y = y] {
    for (int i = 0; i < kPasses; ++i) backward({z}, {}, true, false, {x, y});
  });
  done = true;
  reader.join();
  CHECK(value(x.grad()) == 3 * kThreads * kPasses);
  CHECK(value(y.grad()) == kThreads * kPasses);
}

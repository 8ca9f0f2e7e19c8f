// SPDX-License-Identifier: Apache-2.0
// tests/cpp/function_test.cc: functions with a backward in C++ (autograd/function.h); the
// first is the example of docs/autograd.md, which test_docs.py compares.
#include "autograd/function.h"
#include "autograd/engine.h"
#include "base/thread_local.h"
#include "check.h"
#include "dispatcher/dispatcher.h"
#include "ops/functions.h"

using namespace pkg;

namespace {

Tensor cube(const Tensor& x) {
  const bool before = set_grad_enabled(false);
  const Tensor y = ops::mul(x, ops::mul(x, x));
  set_grad_enabled(before);
  FunctionOptions options;
  options.saved = {x};
  record_function(
      "Cube", {x}, {y},
      [](const TensorList& grads, FunctionNode& self) {
        const Tensor x = self.saved_tensors()[0];
        return TensorList{ops::mul(grads[0], ops::mul(ops::mul(x, x), Tensor(3)))};
      },
      std::move(options));
  return y;
}

Tensor leaf(float value) {
  Tensor t = empty(Shape{1}, DType::Float32);
  t.data<float>()[0] = value;
  set_requires_grad(t, true);
  return t;
}

// exp with its result saved, and a constant second result.
TensorList exp_and_constant(const Tensor& x, int* wanted) {
  const bool before = set_grad_enabled(false);
  const Tensor y = ops::exp(x), constant = ops::exp(x);
  set_grad_enabled(before);
  FunctionOptions options;
  options.saved = {y, Tensor()};
  options.non_differentiable = {1};
  record_function(
      "Exp", {x, constant}, {y, constant},
      [wanted](const TensorList& grads, FunctionNode& self) {
        *wanted = self.needs_input_grad(0) + 2 * self.needs_input_grad(1);
        CHECK(grads[1].sizes() == Shape{1} && grads[1].data<float>()[0] == 0);
        return TensorList{ops::mul(grads[0], self.saved_tensors()[0]), Tensor()};
      },
      std::move(options));
  return {y, constant};
}

}  // namespace

TEST(a_function_is_differentiated_twice) {
  const Tensor x = leaf(2);
  const TensorList first = grad({cube(x)}, {x}, {}, true, true, false);
  CHECK(first[0].data<float>()[0] == 12);
  CHECK(grad({first[0]}, {x}, {}, false, false, false)[0].data<float>()[0] == 12);
}

TEST(a_saved_result_is_no_cycle_and_has_its_history) {
  const int64_t before = live_count(Live::Nodes);
  {
    const Tensor x = leaf(0);
    int wanted = 0;
    const TensorList made = exp_and_constant(x, &wanted);
    CHECK(made[0].requires_grad() && !made[1].requires_grad());
    const TensorList first = grad({made[0]}, {x}, {}, true, true, false);
    CHECK(wanted == 1);
    CHECK(grad({first[0]}, {x}, {}, true, false, false)[0].data<float>()[0] == 1);
    const TensorList again = exp_and_constant(x, &wanted);  // never run
  }
  CHECK(live_count(Live::Nodes) == before);
}

TEST(a_saved_tensor_that_changed_is_refused) {
  const Tensor x = ops::mul(leaf(2), Tensor(1));
  const Tensor y = cube(x);
  ops::add_(x, Tensor(1));
  bool refused = false;
  try {
    backward({y}, {});
  } catch (const RuntimeError& error) {
    refused = error.message().find("modified by an inplace") != std::string::npos;
  }
  CHECK(refused);
}

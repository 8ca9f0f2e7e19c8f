// SPDX-License-Identifier: Apache-2.0
// tests/benchmarks/custom_ops.cc: for custom_ops.py: an op that does nothing, in PyTorch's
// style and as the core's are registered, and what calls of it cost in C++.
#include <torch/library.h>

#include <array>
#include <chrono>

namespace {

at::Tensor keep(const at::Tensor& x, const at::Tensor&, double) { return x; }

using Clock = std::chrono::steady_clock;

// Of one call of each, the best of many short rounds, which alternate: a processor whose
// other half is busy is slow for milliseconds at a time.
template <class... F>
std::array<double, sizeof...(F)> best_of(F... calls) {
  constexpr int kCalls = 1000, kRounds = 2000;
  std::array<double, sizeof...(F)> best;
  best.fill(1e9);
  for (int round = 0; round < kRounds; ++round) {
    size_t which = 0;
    const auto time = [&](auto& call) {
      const auto begin = Clock::now();
      for (int i = 0; i < kCalls; ++i) call();
      const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
      best[which] = std::min(best[which], took.count() / kCalls);
      ++which;
    };
    (time(calls), ...);
  }
  return best;
}

template <class T>
void used(T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

at::Tensor nanoseconds(const at::Tensor& x, const at::Tensor& y) {
  const auto op = c10::Dispatcher::singleton()
                      .findSchemaOrThrow("custom_ops_benchmark::keep", "")
                      .typed<decltype(keep)>();
  const pkg::Dispatcher& dispatcher = pkg::Dispatcher::get();
  const pkg::Operator& record = dispatcher.find("custom_ops_benchmark::keep");
  decltype(&keep) volatile direct = keep;
  const auto times = best_of(
      [&] {
        at::Tensor result = direct(x, y, 0.5);
        used(result);
      },
      [&] {
        at::Tensor result = op.call(x, y, 0.5);
        used(result);
      },
      [&] {
        pkg::Value values[] = {x.unwrap(), y.unwrap(), pkg::Scalar(0.5)};
        pkg::Stack stack(values);
        dispatcher.call_boxed(record, stack);
        used(stack);
      });
  return at::tensor(at::ArrayRef<double>(times), at::kDouble);
}

TORCH_LIBRARY(custom_ops_benchmark, m) {
  m.def("keep(Tensor x, Tensor y, float c) -> Tensor");
  m.def("nanoseconds(Tensor x, Tensor y) -> Tensor");
}
TORCH_LIBRARY_IMPL(custom_ops_benchmark, CPU, m) {
  m.impl("keep", &keep);
  m.impl("nanoseconds", &nanoseconds);
}
PKG_LIBRARY_FRAGMENT(custom_ops_benchmark, m) {
  m.def("native(Tensor x, Tensor y, float c) -> Tensor")
      .cpu([](const pkg::Tensor& x, const pkg::Tensor&, double) { return x; },
           pkg::kStrided);
  m.def("make(Tensor x, Tensor y, float c) -> Tensor")
      .cpu([](const pkg::Tensor& x, const pkg::Tensor&,
              double) { return pkg::empty(x.spec()); },
           pkg::kStrided);
}

}  // namespace

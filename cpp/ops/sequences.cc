// SPDX-License-Identifier: Apache-2.0
// ops/sequences.cc: evenly spaced numbers.
#include <cmath>

#include "ops/elementwise.h"
#include "scheduler/stop_point.h"

namespace pkg::ops {
namespace {

// Element i is f(i).
template <class F>
Tensor sequence(int64_t count, DType dtype, std::optional<Device> device,
                bool requires_grad, F f) {
  Tensor tensor = empty(Shape{count}, dtype, device.value_or(Device{}));
  if (!tensor.is_meta()) {
    visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
      T* out = tensor.data<T>();
      StopCounter stop;
      for (int64_t i = 0; i < count; ++i) {
        out[i] = Scalar(f(i)).template to<T>();
        stop(1);
      }
    });
  }
  return with_requires_grad(tensor, requires_grad);
}

void check_countable(const char* op, std::optional<DType> dtype) {
  PKG_CHECK(dtype != DType::Bool, NotImplementedError, "[", op,
            "] is not implemented for bool (dtype=pkg.bool).");
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              std::optional<DType> dtype, std::optional<Device> device,
              bool requires_grad) {
  const double s = step.to<double>(), from = start.to<double>();
  const double span = end.to<double>() - from;
  check_countable("arange", dtype);
  PKG_CHECK(s != 0, RuntimeError, "[arange] step must be nonzero.");
  PKG_CHECK(std::isfinite(span), RuntimeError, "[arange] unsupported range: ", start,
            " -> ", end);
  PKG_CHECK(span == 0 || (span > 0) == (s > 0), RuntimeError,
            "[arange] upper bound and lower bound inconsistent with step sign (start=",
            start, ", end=", end, ", step=", step, ").");
  if (start.is_float() || end.is_float() || step.is_float()) {
    const double count = std::ceil(span / s);
    PKG_CHECK(count < 0x1p63, RuntimeError, "[arange] expected fewer than 2**63 numbers, got "
              "start=", start, ", end=", end, ", step=", step, ".");
    // Products, not running sums, so that no error accumulates.
    return sequence(int64_t(count), dtype.value_or(default_dtype()), device,
                    requires_grad, [=](int64_t i) { return from + double(i) * s; });
  }
  const int64_t first = start.to<int64_t>(), by = step.to<int64_t>();
  const Checked distance = Checked(end.to<int64_t>()) - first;
  const int64_t count = distance / by + int64_t(distance % by != 0);
  return sequence(count, dtype.value_or(DType::Int64), device, requires_grad,
                  [=](int64_t i) { return first + i * by; });
}

// From both ends, so that the last value is exactly `end`.
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                std::optional<DType> dtype, std::optional<Device> device,
                bool requires_grad) {
  check_countable("linspace", dtype);
  PKG_CHECK(steps >= 0, RuntimeError, "[linspace] number of steps must be non-negative, "
            "got ", steps, ".");
  const double a = start.to<double>(), b = end.to<double>();
  const double step = steps > 1 ? (b - a) / double(steps - 1) : 0.0;
  return sequence(steps, dtype.value_or(default_dtype()), device, requires_grad,
                  [=](int64_t i) {
                    return i < steps - steps / 2 ? a + double(i) * step
                                               : b - double(steps - 1 - i) * step;
                  });
}

constexpr const char* kOptions =
    "*, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor";

PKG_LIBRARY_FRAGMENT(pkg, m) {
  const auto def = [&](const std::string& head) { return m.def(head + kOptions); };
  def("arange(Scalar end, ")
      .doc("0, 1, ... below end.")
      .composite([](const Scalar& end, std::optional<DType> dtype,
                    std::optional<Device> device, bool requires_grad) {
        return arange(0, end, 1, dtype, device, requires_grad);
      });
  def("arange.start(Scalar start, Scalar end, Scalar step=1, ")
      .doc("start, start + step, ... below end.")
      .composite(arange);
  def("linspace(Scalar start, Scalar end, int steps, ")
      .doc("Evenly spaced values from start to end, both included.")
      .composite(linspace);
  def("logspace(Scalar start, Scalar end, int steps, float base=10.0, ")
      .doc("base raised to evenly spaced powers from start to end.")
      .composite([](const Scalar& start, const Scalar& end, int64_t steps, double base,
                    std::optional<DType> dtype, std::optional<Device> device,
                    bool requires_grad) {
        check_countable("logspace", dtype);
        const Tensor powers = linspace(start, end, steps, DType::Float64, device, false);
        const Tensor values = pow(Tensor(base), powers);
        return with_requires_grad(to_dtype(values, dtype.value_or(default_dtype())),
                                  requires_grad);
      });
}

}  // namespace
}  // namespace pkg::ops

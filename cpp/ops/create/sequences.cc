// SPDX-License-Identifier: Apache-2.0
// ops/create/sequences.cc: evenly spaced numbers.
//
// PyTorch's rules of dtypes: start, end and step are converted to the dtype first, so that
// integers lose their fractions before anything is computed.
#include <cmath>

#include "base/isa.h"
#include "base/number_fits.h"
#include "base/vecmath.h"
#include "ops/op.h"
#include "scheduler/parallel.h"
#include "tensor/convert.h"

namespace pkg::ops {
namespace {

// `count` numbers, made as T by blocks: make(numbers, first, n) fills one with those from
// number `first` on.
template <class T, class Make>
Tensor sequence(int64_t count, DType dtype, std::optional<Device> device,
                bool requires_grad, const Make& make) {
  constexpr int64_t kBlock = 1024;
  const Tensor tensor = empty(Shape{count}, dtype, device.value_or(Device{}));
  if (tensor.is_meta()) return with_requires_grad(tensor, requires_grad);
  const Conversion path(dtype_of<T>, dtype, dtype);
  auto* out = static_cast<char*>(tensor.data());
  parallel_for(0, count, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) char room[2][8 * kBlock];
    char* const scratch[] = {room[0], room[1]};
    for (int64_t from = begin; from < end; from += kBlock) {
      const int64_t n = std::min(kBlock, end - from);
      char* to = out + from * itemsize(dtype);
      T* made = reinterpret_cast<T*>(path.count ? room[0] : to);
      with_isa([&make, made, from, n] { make(made, from, n); });
      if (path.count) path.run(to, room[0], n, scratch);
    }
  });
  return with_requires_grad(tensor, requires_grad);
}

// Element i is f(i) for whole numbers i; that of a block's element is a sum, as few
// processors convert integers of 64 bits in vectors.
template <class T, class F>
Tensor sequence_of(int64_t count, DType dtype, std::optional<Device> device,
                   bool requires_grad, F f) {
  return sequence<T>(count, dtype, device, requires_grad,
                     [f](T* made, int64_t from, int64_t n) {
                       const F number = f;  // copies, which what is written cannot change
                       const double first = double(from);
                       const auto past = int32_t(n);
                       for (int32_t i = 0; i < past; ++i) {
                         made[i] = T(number(first + double(i)));
                       }
                     });
}

// first, first + by, ...; sums wrap, those of 32 bits as the lower half of others.
template <class T>
Tensor integers(int64_t count, DType dtype, std::optional<Device> device,
                bool requires_grad, int64_t first, int64_t by) {
  using Unsigned = std::make_unsigned_t<T>;
  return sequence<T>(count, dtype, device, requires_grad,
                     [=](T* made, int64_t from, int64_t n) {
                       const auto step = Unsigned(by);
                       auto number = Unsigned(wraps(first) + wraps(from) * wraps(by));
                       for (int64_t i = 0; i < n; ++i, number += step) made[i] = T(number);
                     });
}

Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              std::optional<DType> dtype, std::optional<Device> device,
              bool requires_grad) {
  const double s = step.to<double>(), from = start.to<double>();
  const double span = end.to<double>() - from;
  PKG_CHECK(dtype != DType::Bool, NotImplementedError,
            "[arange] is not implemented for bool (dtype=pkg.bool).");
  PKG_CHECK(s != 0, RuntimeError, "[arange] step must be nonzero.");
  PKG_CHECK(std::isfinite(span), RuntimeError, "[arange] unsupported range: ", start,
            " -> ", end);
  PKG_CHECK(span == 0 || (span > 0) == (s > 0), RuntimeError,
            "[arange] upper bound and lower bound inconsistent with step sign (start=",
            start, ", end=", end, ", step=", step, ").");
  const bool whole = !start.is_float() && !end.is_float() && !step.is_float();
  const DType type = dtype.value_or(whole ? DType::Int64 : default_dtype());
  const auto integer = [&](const Scalar& number, const char* name) {
    check_fits("arange", number, DType::Int64, name);
    return number.to<int64_t>();
  };
  // Integers are counted in int64; fractions before they are rounded to the dtype's.
  int64_t count;
  if (whole) {
    const int64_t first = integer(start, "start"), by = integer(step, "step");
    const Checked distance = Checked(integer(end, "end")) - first;
    count = std::max<int64_t>(distance / by + int64_t(distance % by != 0), 0);
  } else {
    const double numbers = std::ceil(span / s);
    PKG_CHECK(numbers < 0x1p63, RuntimeError,
              "[arange] expected fewer than 2**63 numbers, "
              "got start=",
              start, ", end=", end, ", step=", step, ".");
    count = int64_t(numbers);
  }
  if (is_integral(type)) {
    const int64_t first = integer(start, "start"), by = integer(step, "step");
    if (type != DType::Int64) {
      return integers<int32_t>(count, type, device, requires_grad, first, by);
    }
    return integers<int64_t>(count, type, device, requires_grad, first, by);
  }
  // Products, not running sums, so that no error accumulates.
  const auto number = [=](double i) { return from + i * s; };
  if (type != DType::Float64) {
    return sequence_of<float>(count, type, device, requires_grad, number);
  }
  return sequence_of<double>(count, type, device, requires_grad, number);
}

// `steps` numbers f(start), ..., f(end), evenly spaced between; from both ends, so that
// the last is exactly `end`.  A single number is `first`.
template <class F>
Tensor spaced(const char* op, const Scalar& start, const Scalar& end, int64_t steps,
              std::optional<DType> dtype, std::optional<Device> device, bool requires_grad,
              const Scalar& first, F f) {
  const DType type = dtype.value_or(default_dtype());
  PKG_CHECK(type != DType::Bool, NotImplementedError, "[", op,
            "] is not implemented for bool (dtype=pkg.bool).");
  PKG_CHECK(steps >= 0, RuntimeError, "[", op,
            "] number of steps must be non-negative, got ", steps, ".");
  // An end that is not among the numbers may be any; one number is f(start) itself.
  const auto converted = [&](const Scalar& number, const char* name) {
    check_fits(op, number, type, name);
    return visit_dtype(type, [&]<class T>(TypeTag<T>) { return double(number.to<T>()); });
  };
  const double a = steps > 1 ? converted(start, "start") : start.to<double>();
  if (steps == 1) check_written(op, first, type, "first");
  const double b = steps > 1 ? converted(end, "end") : a;
  const double step = steps > 1 ? (b - a) / double(steps - 1) : 0.0;
  const double half = double(steps > 1 ? steps / 2 : 1), last = double(steps - 1);
  return sequence_of<double>(steps, type, device, requires_grad, [=](double i) {
    return f(i < half ? a + i * step : b - (last - i) * step);
  });
}

constexpr const char* kNumbersOptions =
    "*, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor";

PKG_LIBRARY_FRAGMENT(pkg, m) {
  const auto def = [&](const std::string& head) { return m.def(head + kNumbersOptions); };
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
      .composite([](const Scalar& start, const Scalar& end, int64_t steps,
                    std::optional<DType> dtype, std::optional<Device> device,
                    bool requires_grad) {
        return spaced("linspace", start, end, steps, dtype, device, requires_grad, start,
                      [](double x) { return x; });
      });
  def("logspace(Scalar start, Scalar end, int steps, float base=10.0, ")
      .doc("base raised to evenly spaced powers from start to end.")
      .composite([](const Scalar& start, const Scalar& end, int64_t steps, double base,
                    std::optional<DType> dtype, std::optional<Device> device,
                    bool requires_grad) {
        return spaced("logspace", start, end, steps, dtype, device, requires_grad,
                      std::pow(base, start.to<double>()),
                      [=](double x) { return vec::pow(base, x); });
      });
}

}  // namespace
}  // namespace pkg::ops

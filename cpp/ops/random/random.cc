// SPDX-License-Identifier: Apache-2.0
// ops/random/random.cc: random fills, permutations and dropout, from the default generator.
#include <cmath>

#include "base/number_fits.h"
#include "ops/op.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/generator.h"

namespace pkg::ops {
namespace {

// out[i] = f(words of element i); two 32-bit words make one number.
template <class F>
void fill_random(Tensor& out, F f) {
  const DType type = compute_type(out.dtype());
  Tensor to = out.dtype() == type && out.is_contiguous() ? out : empty(out.sizes(), type);
  const RandomStream stream = reserve_random(uint64_t(out.numel()));
  visit_floating("random", type, [&]<class T>(TypeTag<T>) {
    T* values = to.data<T>();
    parallel_for(0, out.numel(), kGrain / 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        values[i] = T(f(philox(stream.seed, stream.first + uint64_t(i))));
      }
    });
  });
  if (!to.is_same(out)) copy_into(out, to);
}

// 53 bits: [0, 1).
double unit(uint32_t high, uint32_t low) {
  return double((uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
}

Spec uniform_rule(const Tensor& self, double from, double to) {
  const auto within = [&](const char* what, double limit) {
    PKG_CHECK(std::isfinite(limit) && fits(Scalar(limit), self.dtype()), RuntimeError,
              "[uniform_] ", what, " is out of bounds for ", self.dtype(), ", got from=", from,
              " and to=", to);
  };
  within("from", from);
  within("to", to);
  PKG_CHECK(from <= to, RuntimeError, "[uniform_] expected from <= to, got from=", from,
            " and to=", to);
  within("to - from", to - from);
  return self.spec();
}
void uniform_kernel(Tensor& out, const Tensor&, double from, double to) {
  const bool narrow = out.dtype() != DType::Float64;
  fill_random(out, [=](const auto& w) {
    // A float would round the largest of 53 bits up to 1: it gets 24.
    const double u = narrow ? double(w[0] >> 8) * 0x1p-24 : unit(w[0], w[1]);
    return from + (to - from) * u;
  });
}

Spec normal_rule(const Tensor& self, double, double std) {
  PKG_CHECK(std >= 0, RuntimeError, "[normal_] expected std >= 0.0, but found std ", std);
  return self.spec();
}
void normal_kernel(Tensor& out, const Tensor&, double mean, double std) {
  fill_random(out, [=](const auto& w) {  // Box & Muller 1958
    const double radius = std::sqrt(-2 * std::log1p(-unit(w[0], w[1])));
    return mean + std * radius * std::cos(6.283185307179586477 * unit(w[2], w[3]));
  });
}

template <auto& fill>
Tensor random_tensor(const Shape& size, std::optional<DType> dtype,
                     std::optional<Device> device, bool requires_grad) {
  const Tensor made =
      empty(size, dtype.value_or(default_dtype()), device.value_or(Device{}));
  return with_requires_grad(fill(made, 0.0, 1.0), requires_grad);
}
template <auto& fill>
Tensor random_like(const Tensor& self, std::optional<DType> dtype,
                   std::optional<Device> device, bool requires_grad) {
  const Tensor made =
      empty_as(self, dtype.value_or(self.dtype()), device.value_or(self.device()));
  return with_requires_grad(fill(made, 0.0, 1.0), requires_grad);
}

// Whether an integer is a number of the dtype, neither wrapped nor infinite.
bool holds(DType dtype, int64_t number) {
  if (dtype == DType::Bool) return number == 0 || number == 1;
  return (dtype != DType::UInt8 || number >= 0) && fits(Scalar(number), dtype);
}
// `integers`, an int64 tensor, as what was asked for.
Tensor finish(const Tensor& integers, std::optional<DType> dtype, bool requires_grad) {
  const DType wanted = dtype.value_or(DType::Int64);
  const Tensor made = wanted == DType::Int64 ? integers : to_dtype(integers, wanted);
  return with_requires_grad(made, requires_grad);
}

Tensor randint(int64_t low, int64_t high, const Shape& size, std::optional<DType> dtype,
               std::optional<Device> device, bool requires_grad) {
  PKG_CHECK(low < high, RuntimeError, "[randint] expects 'low' to be less than 'high', but "
            "got ", low, " >= ", high);
  const DType type = dtype.value_or(DType::Int64);
  PKG_CHECK(holds(type, low), RuntimeError, "[randint] from is out of bounds for ", type,
            ", got ", low);
  PKG_CHECK(holds(type, high - 1), RuntimeError, "[randint] to - 1 is out of bounds for ", type,
            ", got ", high - 1);
  Tensor tensor = empty(size, DType::Int64, device.value_or(Device{}));
  if (tensor.is_meta()) return finish(tensor, dtype, requires_grad);
  const RandomStream stream = reserve_random(uint64_t(tensor.numel()));
  int64_t* out = tensor.data<int64_t>();
  const uint64_t range = uint64_t(high) - uint64_t(low);  // up to 2**64 - 1
  StopCounter stop;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    stop(1);
    const auto w = philox(stream.seed, stream.first + uint64_t(i));
    const uint64_t word = uint64_t(w[0]) << 32 | w[1];
    // Multiply-shift maps 64 random bits to the range with a bias below 2^-32.
    const auto above = uint64_t((unsigned __int128)(word) * range >> 64);
    out[i] = int64_t(uint64_t(low) + above);
  }
  return finish(tensor, dtype, requires_grad);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                    std::optional<DType> dtype, std::optional<Device> device,
                    bool requires_grad) {
  const DType wanted = dtype.value_or(self.dtype());
  const Tensor made = randint(low, high, self.sizes(), wanted,
                              device.value_or(self.device()), false);
  if (self.is_contiguous()) return with_requires_grad(made, requires_grad);
  return with_requires_grad(copy_(empty_as(self, wanted, made.device()), made), requires_grad);
}

// How many of 0, 1, 2, ... are different numbers of the dtype.
int64_t most_apart(DType dtype) {
  switch (dtype) {
    case DType::Bool: return 2;
    case DType::UInt8: return 256;
    case DType::Int8: return 128;
    case DType::BFloat16: return (1 << 8) + 1;
    case DType::Float16: return (1 << 11) + 1;
    case DType::Float32: return (1 << 24) + 1;
    case DType::Int32: return int64_t{1} << 31;
    case DType::Float64: return (int64_t{1} << 53) + 1;
    case DType::Int64: return std::numeric_limits<int64_t>::max();
  }
  __builtin_unreachable();
}
Tensor randperm(int64_t n, std::optional<DType> dtype, std::optional<Device> device,
                bool requires_grad) {
  PKG_CHECK(n >= 0, RuntimeError, "[randperm] n must be non-negative, got ", n);
  const DType type = dtype.value_or(DType::Int64);
  PKG_CHECK(n <= most_apart(type), RuntimeError, "[randperm] expected at most ",
            most_apart(type), " different numbers of ", type, ", got n=", n);
  Tensor tensor = empty(Shape{n}, DType::Int64, device.value_or(Device{}));
  if (tensor.is_meta()) return finish(tensor, dtype, requires_grad);
  int64_t* out = tensor.data<int64_t>();
  StopCounter stop;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = i;
    stop(1);
  }
  const RandomStream stream = reserve_random(uint64_t(n));
  for (int64_t i = n - 1; i > 0; --i) {  // Fisher & Yates
    stop(16);                            // far from cheap: the other place is anywhere
    const auto w = philox(stream.seed, stream.first + uint64_t(i));
    const uint64_t word = uint64_t(w[0]) << 32 | w[1];
    std::swap(out[i], out[int64_t((unsigned __int128)(word) * uint64_t(i + 1) >> 64)]);
  }
  return finish(tensor, dtype, requires_grad);
}

constexpr const char* kOptions =
    "*, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor";

PKG_LIBRARY_FRAGMENT(pkg, m) {
  const auto no_gradient = [](const GradContext& g) -> TensorList {
    return {full_like(g.grad(), 0)};
  };
  m.def("uniform(Tensor self, float from=0.0, float to=1.0) -> Tensor")
      .doc("Values spread evenly over [from, to), in self's shape and dtype.")
      .dtypes(kFloatDTypes)
      .shape(uniform_rule)
      .cpu(uniform_kernel)
      .in_program_order()
      .grad("", no_gradient)
      .in_place();
  m.def("normal(Tensor self, float mean=0.0, float std=1.0) -> Tensor")
      .doc("Normally distributed values, in self's shape and dtype.")
      .dtypes(kFloatDTypes)
      .shape(normal_rule)
      .cpu(normal_kernel)
      .in_program_order()
      .grad("", no_gradient)
      .in_place();
  m.def(str("rand(int[] size, ", kOptions))
      .doc("Uniform values in [0, 1).")
      .composite(random_tensor<uniform_>);
  m.def(str("randn(int[] size, ", kOptions))
      .doc("Standard normal values.")
      .composite(random_tensor<normal_>);
  m.def(str("rand_like(Tensor self, ", kOptions))
      .doc("Uniform values in [0, 1), in self's shape and dtype.")
      .composite(random_like<uniform_>);
  m.def(str("randn_like(Tensor self, ", kOptions))
      .doc("Standard normal values, in self's shape and dtype.")
      .composite(random_like<normal_>);
  m.def(str("randint(int low, int high, int[] size, ", kOptions))
      .doc("Integers from low to high - 1; int64 unless dtype says another.")
      .composite(randint);
  m.def(str("randint.high(int high, int[] size, ", kOptions))
      .doc("Integers from 0 to high - 1.")
      .composite([](int64_t high, const Shape& size, std::optional<DType> dtype,
                    std::optional<Device> device, bool requires_grad) {
        return randint(0, high, size, dtype, device, requires_grad);
      });
  m.def(str("randint_like(Tensor self, int low, int high, ", kOptions))
      .doc("Integers from low to high - 1, in self's shape and dtype.")
      .composite(randint_like);
  m.def(str("randint_like.high(Tensor self, int high, ", kOptions))
      .doc("Integers from 0 to high - 1, in self's shape and dtype.")
      .composite([](const Tensor& self, int64_t high, std::optional<DType> dtype,
                    std::optional<Device> device, bool requires_grad) {
        return randint_like(self, 0, high, dtype, device, requires_grad);
      });
  m.def(str("randperm(int n, ", kOptions))
      .doc("0 to n - 1 in random order; int64 unless dtype says another.")
      .composite(randperm);
  m.def("dropout(Tensor input, float p=0.5, bool train=True) -> Tensor")
      .doc("Zero with probability p, the rest scaled by 1 / (1 - p); itself unless train.")
      .composite([](const Tensor& input, double p, bool train) {
        PKG_CHECK(p >= 0 && p <= 1, ValueError, "dropout probability has to be between 0 "
                  "and 1, but got ", p);
        if (!train || p == 0) return input;
        if (p == 1) return mul(input, Tensor(0.0));
        const Tensor noise =
            uniform_(empty_as(input, DType::Float32, input.device()), 0.0, 1.0);
        return mul(input, mul(to_dtype(ge(noise, Tensor(p)), input.dtype()),
                              Tensor(1 / (1 - p))));
      });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/random/random.cc: random fills, permutations and dropout, from the default generator.
// The loops are in kernels/cpu/random/.
#include <cmath>

#include "base/number_fits.h"
#include "ops/op.h"
#include "tensor/generator.h"

namespace pkg::ops {
namespace {

Spec uniform_rule(const Tensor& self, double from, double to) {
  const auto within = [&](const char* what, double limit) {
    PKG_CHECK(std::isfinite(limit) && fits(Scalar(limit), self.dtype()), RuntimeError,
              "[uniform_] ", what, " is out of bounds for ", self.dtype(),
              ", got from=", from, " and to=", to);
  };
  within("from", from);
  within("to", to);
  PKG_CHECK(from <= to, RuntimeError, "[uniform_] expected from <= to, got from=", from,
            " and to=", to);
  within("to - from", to - from);
  return self.spec();
}

Spec normal_rule(const Tensor& self, double, double std) {
  PKG_CHECK(std >= 0, RuntimeError, "[normal_] expected std >= 0.0, but found std ", std);
  return self.spec();
}

template <auto& fill>
Tensor random_tensor(const Shape& size, std::optional<DType> dtype,
                     std::optional<Device> device, bool requires_grad) {
  const Tensor made = empty(size, dtype.value_or(default_dtype()),
                            device.value_or(Device{}));
  return with_requires_grad(fill(made, 0.0, 1.0), requires_grad);
}
template <auto& fill>
Tensor random_like(const Tensor& self, std::optional<DType> dtype,
                   std::optional<Device> device, bool requires_grad) {
  const Tensor made = empty_as(self, dtype.value_or(self.dtype()),
                               device.value_or(self.device()));
  return with_requires_grad(fill(made, 0.0, 1.0), requires_grad);
}

// Whether an integer is a number of the dtype, neither wrapped nor infinite.
bool holds(DType dtype, int64_t number) {
  if (dtype == DType::Bool) return number == 0 || number == 1;
  return (dtype != DType::UInt8 || number >= 0) && fits(Scalar(number), dtype);
}
Spec integers_rule(const Tensor& self, int64_t low, int64_t high) {
  const DType type = self.dtype();
  PKG_CHECK(low < high, RuntimeError,
            "[randint] expects 'low' to be less than 'high', but "
            "got ",
            low, " >= ", high);
  PKG_CHECK(holds(type, low), RuntimeError, "[randint] from is out of bounds for ", type,
            ", got ", low);
  PKG_CHECK(holds(type, high - 1), RuntimeError, "[randint] to - 1 is out of bounds for ",
            type, ", got ", high - 1);
  return self.spec();
}

Tensor randint(int64_t low, int64_t high, const Shape& size, std::optional<DType> dtype,
               std::optional<Device> device, bool requires_grad) {
  const Tensor made = empty(size, dtype.value_or(DType::Int64), device.value_or(Device{}));
  return with_requires_grad(integers_(made, low, high), requires_grad);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                    std::optional<DType> dtype, std::optional<Device> device,
                    bool requires_grad) {
  const Tensor made = empty_as(self, dtype.value_or(self.dtype()),
                               device.value_or(self.device()));
  return with_requires_grad(integers_(made, low, high), requires_grad);
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
  const Tensor made = permutation_(
      empty(Shape{n}, DType::Int64, device.value_or(Device{})));
  return with_requires_grad(type == DType::Int64 ? made : to_dtype(made, type),
                            requires_grad);
}

Tensor dropout(const Tensor& input, double p, bool train) {
  PKG_CHECK(p >= 0 && p <= 1, ValueError,
            "dropout probability has to be between 0 "
            "and 1, but got ",
            p);
  if (!train || p == 0) return input;
  if (p == 1) return mul(input, Tensor(0.0));
  const Tensor given = is_floating(input.dtype()) ? input
                                                  : to_dtype(input, default_dtype());
  // Of a plan each run takes numbers of its own.
  if (given.storage().is_symbolic()) return dropout_from(given, reserve_numbers(given), p);
  const RandomStream stream = input.is_meta() ? RandomStream{}
                                              : reserve_random(uint64_t(input.numel()));
  return dropout_at(given, p, int64_t(stream.seed), int64_t(stream.first));
}

constexpr const char* kOptions =
    "*, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor";

PKG_LIBRARY_FRAGMENT(pkg, m) {
  const auto no_gradient = [](const Tensor& g) { return full_like(g, 0); };
  m.def("uniform(Tensor self, float from=0.0, float to=1.0) -> Tensor")
      .doc("Values spread evenly over [from, to), in self's shape and dtype.")
      .dtypes(kFloatDTypes)
      .shape(uniform_rule)
      .in_program_order()
      .derivative("self", "", no_gradient)
      .in_place();
  m.def("normal(Tensor self, float mean=0.0, float std=1.0) -> Tensor")
      .doc("Normally distributed values, in self's shape and dtype.")
      .dtypes(kFloatDTypes)
      .shape(normal_rule)
      .in_program_order()
      .derivative("self", "", no_gradient)
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
  m.def("_integers(Tensor self, int low, int high) -> Tensor")
      .doc("Integers from low to high - 1, in self's shape and dtype.")
      .shape(integers_rule)
      .non_differentiable()
      .in_program_order()
      .in_place();
  m.def("_permutation(Tensor self) -> Tensor")
      .doc("As many int64 as self has, from 0 on, in random order.")
      .dtypes(DTypeSet{DType::Int64})
      .shape([](const Tensor& self) { return self.spec(); })
      .non_differentiable()
      .in_program_order()
      .in_place();
  m.def("bernoulli(Tensor self) -> Tensor")
      .doc("1 with the probability that each element is, else 0; without gradient.")
      .keeps_order()
      .shape([](const Tensor& self) {
        PKG_CHECK(is_floating(self.dtype()), RuntimeError,
                  "[bernoulli] expected probabilities, got dtype ", self.dtype(), ".");
        return self.spec();
      })
      .non_differentiable()
      .in_program_order();
  m.def("_choices(Tensor self, int count) -> Tensor")
      .doc("`count` indices of each row, drawn again and again with the chances it gives.")
      .dtypes(kFloatDTypes)
      .shape([](const Tensor& self, int64_t count) {
        PKG_CHECK(
            self.ndim() > 0 && self.sizes().back() > 0 && count >= 0, RuntimeError,
            "[multinomial] expected finite weights of 0 or more, not all 0 in a row.");
        Shape sizes = self.sizes();
        sizes.back() = count;
        return Spec{sizes, DType::Int64, self.device()};
      })
      .non_differentiable()
      .in_program_order();
  m.def("dropout(Tensor input, float p=0.5, bool train=True) -> Tensor")
      .doc("Zero with probability p, the rest scaled by 1 / (1 - p); itself unless train.")
      .composite(dropout);
  // Where it stands in the stream is said by the call, so that it may be run later, and
  // again for the gradient, which is as linear.
  m.def("_dropout(Tensor self, float p, int seed, int position) -> Tensor")
      .doc("dropout() by the numbers that the stream of the seed has from a position on.")
      .keeps_order()
      .dtypes(kFloatDTypes)
      .element_cost(1)
      .shape([](const Tensor& self, double p, int64_t, int64_t) {
        PKG_CHECK(p >= 0 && p < 1, ValueError, "[_dropout] expected p in [0, 1), got ", p,
                  ".");
        return self.spec();
      })
      .derivative("self", "p seed position",
                  [](const Tensor& grad, double p, int64_t seed, int64_t position) {
                    return dropout_at(grad, p, seed, position);
                  });
  m.def("_reserve_numbers(Tensor self) -> Tensor")
      .doc("The seed of the stream and its position, in int64; takes one number for each "
           "element of self.")
      .shape([](const Tensor& self) { return Spec{Shape{2}, DType::Int64, self.device()}; })
      .non_differentiable()
      .in_program_order();
  m.def("_dropout_from(Tensor self, Tensor place, float p) -> Tensor")
      .doc("dropout() by the numbers that _reserve_numbers() took.")
      .keeps_order()
      .dtypes(kFloatDTypes)
      .dtypes("place", DTypeSet{DType::Int64})
      .element_cost(1)
      .shape([](const Tensor& self, const Tensor& place, double p) {
        PKG_CHECK(place.sizes() == Shape{2}, ValueError,
                  "[_dropout_from] expected a seed and a position, got shape ",
                  place.sizes(), ".");
        PKG_CHECK(p >= 0 && p < 1, ValueError, "[_dropout_from] expected p in [0, 1), got ",
                  p, ".");
        return self.spec();
      })
      .derivative("self", "place p", [](const Tensor& grad, const Tensor& place, double p) {
        return dropout_from(grad, place, p);
      });
}

}  // namespace
}  // namespace pkg::ops

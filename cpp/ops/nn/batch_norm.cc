// SPDX-License-Identifier: Apache-2.0
// ops/nn/batch_norm.cc: normalisation of channels over a batch.
#include "ops/op.h"
#include "ops/reduce/mean.h"
#include "ops/reduce/reduced_dims.h"

namespace pkg::ops {
namespace {

// All dimensions but the channels'.
Dims over(const Shape& sizes) {
  Shape dims{0};
  for (size_t d = 2; d < sizes.size(); ++d) dims.push_back(int64_t(d));
  return dims;
}
void check_channels(const char* name, const Tensor& v, const Tensor& x) {
  PKG_CHECK(x.ndim() >= 2, RuntimeError,
            "[batch_norm] expected input (N, C, ...), got shape ", x.sizes());
  PKG_CHECK(!v.defined() || v.sizes() == Shape{x.size(1)}, RuntimeError,
            "[batch_norm] "
            "expected one value for each of the ",
            x.size(1), " channels of ", x.sizes(), ", got shape ", v.sizes(), " (", name,
            ").");
}
Tensor per_channel(const Tensor& v, const Tensor& x) {
  Shape sizes(size_t(x.ndim()), 1);
  sizes[1] = x.size(1);
  return reshape(v, sizes);
}
// One number a channel, more precise than 16 bits.
Spec channel_spec(const Tensor& x) {
  return {Shape{x.size(1)}, compute_type(x.dtype()), x.device()};
}

// y = (x - centre) * scale + shift.
TensorList affine_gradient(const GradContext& g) {
  const Tensor &x = g.input(0), &scale = g.input(1), &centre = g.input(3), &grad = g.grad();
  TensorList grads(4);
  if (g.needs(0)) grads[0] = channel_affine(grad, scale, Tensor(), Tensor());
  if (!g.needs(1) && !g.needs(2) && !g.needs(3)) return grads;
  Tensor dots, sums;
  if (grad_enabled()) {
    const Tensor from = centre.defined() ? x - per_channel(centre, x) : x;
    if (g.needs(1)) dots = sum(grad * from, over(x.sizes()), false);
    sums = sum(grad, over(grad.sizes()), false);
  } else {
    std::tie(dots, sums) = channel_sums(grad, x.defined() ? x : grad, centre);
  }
  if (g.needs(1)) grads[1] = in_dtype(dots, g.specs[1].dtype);
  if (g.needs(2)) grads[2] = in_dtype(sums, g.specs[2].dtype);
  if (g.needs(3)) {
    const Tensor slope = -(scale.defined() ? sums * scale : sums);
    grads[3] = in_dtype(slope, g.specs[3].dtype);
  }
  return grads;
}

// The gradient in ordinary ops, for when it is differentiated itself.
TensorList plain_gradient(const GradContext& g) {
  const Tensor &self = g.input(0), &weight = g.input(1);
  const auto eps = g.arg<double>(3);
  const DType type = compute_type(self.dtype());
  const Tensor x = in_dtype(self, type), grad = in_dtype(g.grad(), type);
  const Dims dims = over(x.sizes());
  const auto n = double(reduced_count("batch_norm", x.sizes(), dims));
  const auto average = [&](const Tensor& t) { return sum_over(n, t, dims, true); };
  const Tensor centred = x - average(x);
  const Tensor scale = rsqrt(average(centred * centred) + eps);
  const Tensor h = centred * scale;
  const Tensor d = weight.defined() ? grad * per_channel(in_dtype(weight, type), x) : grad;
  TensorList grads(3);
  grads[0] = in_dtype(scale * (d - h * average(d * h) - average(d)), self.dtype());
  if (g.needs(1)) grads[1] = in_dtype(sum(grad * h, dims, false), g.specs[1].dtype);
  if (g.needs(2)) grads[2] = in_dtype(sum(grad, dims, false), g.specs[2].dtype);
  return grads;
}

TensorList gradient(const GradContext& g) {
  PKG_CHECK(!g.grad(1).defined() && !g.grad(2).defined(), NotImplementedError,
            "[_batch_norm] mean and variance have no gradient of their own.");
  if (!g.grad().defined()) return {};
  if (grad_enabled()) return plain_gradient(g);
  const Tensor &self = g.input(0), &weight = g.input(1);
  const Tensor &mean = g.result(1), &variance = g.result(2);
  const auto eps = g.arg<double>(3);
  const auto [x, w, b] = normalise_channels_backward(g.grad(), self, mean, variance, weight,
                                                     eps);
  return {g.needs(0) ? x : Tensor(), g.needs(1) ? in_dtype(w, g.specs[1].dtype) : Tensor(),
          g.needs(2) ? in_dtype(b, g.specs[2].dtype) : Tensor()};
}

// A mean of one value has no variance; one of no channels is refused alike.
void check_batch(const Tensor& x, bool training) {
  if (!training || x.ndim() < 2) return;
  Shape values = x.sizes();
  values[1] = 1;
  PKG_CHECK(values.numel() != 1, ValueError,
            "Expected more than 1 value per channel when "
            "training, got input size ",
            x.sizes());
}

// What 16-bit inputs meet is computed in float32; of others the dtypes promote.
Tensor promoted(const Tensor& x, std::initializer_list<const Tensor*> others) {
  if (is_reduced(x.dtype())) return x;
  DType common = to_floating(x.dtype());
  for (const Tensor* t : others) {
    if (t->defined()) common = promote(common, t->dtype());
  }
  return common == x.dtype() ? x : in_dtype(x, common);
}

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum,
                  double eps) {
  PKG_CHECK(!(training ? eps <= 0 : eps < 0), ValueError, "[batch_norm] eps must be ",
            training ? "positive during training" : "non-negative", ", but got ", eps);
  PKG_CHECK(!training || x.numel() == 0 || running_mean.defined() == running_var.defined(),
            ValueError,
            "[batch_norm] running_mean and running_var must either both be "
            "None or neither be None");
  check_batch(x, training);
  // Of no elements the channels are not asked for.
  if (x.numel() == 0 && (x.ndim() < 2 || x.size(1) == 0)) return clone(x);
  check_channels("weight", weight, x);
  check_channels("bias", bias, x);
  if (!training) {
    PKG_CHECK(running_mean.defined() && running_var.defined(), RuntimeError,
              "[batch_norm] Expected running_mean and running_var to be defined when "
              "training=False");
    check_channels("running_mean", running_mean, x);
    check_channels("running_var", running_var, x);
    const Tensor input = promoted(x, {&weight, &bias, &running_mean, &running_var});
    const DType type = compute_type(input.dtype());
    Tensor scale = rsqrt(add(in_dtype(running_var, type), Tensor(eps)));
    if (weight.defined()) scale = mul(scale, weight);
    return channel_affine(input, scale, bias.defined() ? second_is_zero(bias) : bias,
                          running_mean);
  }
  const int64_t n = reduced_count("batch_norm", x.sizes(), over(x.sizes()));
  if (n > 0) {
    check_channels("running_mean", running_mean, x);
    check_channels("running_var", running_var, x);
  }
  const auto [y, mean, variance] = normalise_channels(promoted(x, {&weight, &bias}), weight,
                                                      bias, eps);
  if (n > 0) {
    ExcludeKeys off(DispatchKey::Autograd);
    if (running_mean.defined()) lerp_(running_mean, mean, Tensor(momentum));
    if (running_var.defined()) {  // of the population, from the sample
      const Tensor unbiased = mul(variance, Tensor(double(n) / double(n - 1)));
      lerp_(running_var, unbiased, Tensor(momentum));
    }
  }
  return y;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_channel_affine(Tensor self, Tensor? scale, Tensor? shift, Tensor? centre) "
        "-> Tensor")
      .doc("(self - centre) * scale + shift, with one number a channel of (N, C, ...).")
      .dtypes("self", kFloatDTypes)
      .shape([](const Tensor& self, const Tensor& scale, const Tensor& shift,
                const Tensor& centre) {
        check_channels("scale", scale, self);
        check_channels("shift", shift, self);
        check_channels("centre", centre, self);
        return self.spec();
      })
      .grad("self scale centre", affine_gradient);
  m.def("_channel_sums(Tensor grad, Tensor self, Tensor? centre) -> (Tensor, Tensor)")
      .doc("Sums over all but the channels of grad * (self - centre) and of grad.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("self", kFloatDTypes)
      .non_differentiable()
      .shape([](const Tensor& grad, const Tensor& self,
                const Tensor& centre) -> std::array<Spec, 2> {
        check_gradient(grad, self.sizes());
        check_channels("centre", centre, self);
        return {channel_spec(self), channel_spec(self)};
      });
  m.def("_batch_norm(Tensor self, Tensor? weight, Tensor? bias, float eps) "
        "-> (Tensor, Tensor, Tensor)")
      .doc("Channels of (N, C, ...) normalised; also their means and variances.")
      .dtypes("self", kFloatDTypes)
      .element_cost(1)
      .shape([](const Tensor& self, const Tensor& weight, const Tensor& bias,
                double) -> std::array<Spec, 3> {
        check_channels("weight", weight, self);
        check_channels("bias", bias, self);
        return {self.spec(), channel_spec(self), channel_spec(self)};
      })
      .grad("self weight result1 result2", gradient)
      .second_is_zero();
  m.def("_batch_norm_backward(Tensor grad, Tensor self, Tensor mean, Tensor variance, "
        "Tensor? weight, float eps) -> (Tensor, Tensor, Tensor)")
      .doc("Gradients of _batch_norm for self, weight and bias.")
      .dtypes("grad", kFloatDTypes)
      .dtypes("self", kFloatDTypes)
      .non_differentiable()
      .element_cost(1.5)
      .shape([](const Tensor& grad, const Tensor& self, const Tensor& mean,
                const Tensor& variance, const Tensor& weight,
                double) -> std::array<Spec, 3> {
        check_gradient(grad, self.sizes());
        check_channels("mean", mean, self);
        check_channels("variance", variance, self);
        check_channels("weight", weight, self);
        return {self.spec(), channel_spec(self), channel_spec(self)};
      });
  m.def("batch_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, "
        "Tensor? weight=None, Tensor? bias=None, bool training=False, "
        "float momentum=0.1, float eps=1e-05) -> Tensor")
      .doc("Zero mean and unit variance for each channel of (N, C, ...) (Ioffe & Szegedy "
           "2015); training uses the batch and moves the running values towards it.")
      .composite(batch_norm);
}

}  // namespace
}  // namespace pkg::ops

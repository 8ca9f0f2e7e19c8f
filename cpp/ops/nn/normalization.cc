// SPDX-License-Identifier: Apache-2.0
// ops/nn/normalization.cc: normalisation over batches, instances and groups, from other
// ops.  layer_norm and rms_norm are in layers.cc.
#include "ops/op.h"
#include "ops/reduce/mean.h"
#include "ops/reduce/reduced_dims.h"

namespace pkg::ops {
namespace {

struct Moments {
  Tensor mean, variance;  // of the dims given, which keep size 1
};
Moments moments(const Tensor& x, const Shape& dims) {
  const auto n = double(reduced_count("moments", x.sizes(), Dims(dims)));
  const Tensor mean = sum_over(n, x, Dims(dims), true);
  const Tensor centred = sub(x, mean);
  return {mean, sum_over(n, mul(centred, centred), Dims(dims), true)};
}
// A vector over the channels, dimension 1 of x.
Tensor per_channel(const char* op, const Tensor& v, const Tensor& x) {
  PKG_CHECK(v.sizes() == Shape{x.size(1)}, RuntimeError, "[", op, "] expected one value "
            "for each of the ", x.size(1), " channels of ", x.sizes(), ", got shape ",
            v.sizes());
  Shape sizes(size_t(x.ndim()), 1);
  sizes[1] = x.size(1);
  return reshape(v, sizes);
}
Tensor normalised(const char* op, const Tensor& x, const Moments& of, double eps,
                  const Tensor& weight, const Tensor& bias) {
  Tensor y = mul(sub(x, of.mean), rsqrt(add(of.variance, Tensor(eps))));
  if (weight.defined()) y = mul(y, per_channel(op, weight, x));
  return bias.defined() ? add(y, per_channel(op, second_is_zero(bias), x)) : y;
}

// A mean of one value has no variance; one of no channels is refused alike.
void check_batch(const Tensor& x, bool training) {
  if (!training || x.ndim() < 2) return;
  Shape values = x.sizes();
  values[1] = 1;
  PKG_CHECK(values.numel() != 1, ValueError, "Expected more than 1 value per channel when "
            "training, got input size ", x.sizes());
}
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum,
                  double eps) {
  PKG_CHECK(!(training ? eps <= 0 : eps < 0), ValueError, "[batch_norm] eps must be ",
            training ? "positive during training" : "non-negative", ", but got ", eps);
  PKG_CHECK(!training || x.numel() == 0 || running_mean.defined() == running_var.defined(),
            ValueError, "[batch_norm] running_mean and running_var must either both be None or "
            "neither be None");
  check_batch(x, training);
  // Of no elements the channels are not asked for.
  if (x.numel() == 0 && (x.ndim() < 2 || x.size(1) == 0)) return clone(x);
  PKG_CHECK(x.ndim() >= 2, RuntimeError,
            "[batch_norm] expected input (N, C, ...), got shape ", x.sizes());
  if (!training) {
    PKG_CHECK(running_mean.defined() && running_var.defined(), RuntimeError,
              "[batch_norm] Expected running_mean and running_var to be defined when "
              "training=False");
    return normalised("batch_norm", x,
                      {per_channel("batch_norm", running_mean, x),
                       per_channel("batch_norm", running_var, x)},
                      eps, weight, bias);
  }
  Shape dims{0};
  for (int64_t d = 2; d < x.ndim(); ++d) dims.push_back(d);
  const int64_t n = reduced_count("batch_norm", x.sizes(), Dims(dims));
  if (n > 0 && running_mean.defined()) {
    per_channel("batch_norm", running_mean, x);
    per_channel("batch_norm", running_var, x);
  }
  const Moments own = moments(x, dims);
  if (n > 0) {
    ExcludeKeys off(DispatchKey::Autograd);
    const Shape channels{x.size(1)};
    if (running_mean.defined()) {
      lerp_(running_mean, reshape(own.mean, channels), Tensor(momentum));
    }
    if (running_var.defined()) {  // of the population, from the sample
      const Tensor unbiased = mul(own.variance, Tensor(double(n) / double(n - 1)));
      lerp_(running_var, reshape(unbiased, channels), Tensor(momentum));
    }
  }
  return normalised("batch_norm", x, own, eps, weight, bias);
}

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight,
                  const Tensor& bias, double eps) {
  PKG_CHECK(x.ndim() >= 2 && groups > 0 && x.size(1) % groups == 0, RuntimeError,
            "[group_norm] Expected number of channels in input to be divisible by "
            "num_groups, but got input of shape ", x.sizes(), " and num_groups=", groups);
  PKG_CHECK(x.numel() != groups, ValueError, "[group_norm] Expected more than 1 value per "
            "group when training, got input size ", x.sizes(), " and num_groups=", groups);
  if (weight.defined()) per_channel("group_norm", weight, x);
  if (bias.defined()) per_channel("group_norm", bias, x);
  if (is_reduced(x.dtype())) {
    return in_full_precision(x, [&](const Tensor& wide) {
      return group_norm(wide, groups, weight, bias, eps);
    });
  }
  int64_t size = x.size(1) / groups;  // of a group; -1 has no meaning without samples
  for (int64_t d = 2; d < x.ndim(); ++d) size *= x.size(d);
  const Tensor grouped = reshape(x, Shape{x.size(0), groups, size});
  const Moments of = moments(grouped, Shape{2});
  const Tensor flat = normalised("group_norm", grouped, of, eps, Tensor(), Tensor());
  Tensor y = reshape(flat, x.sizes());
  if (weight.defined()) y = mul(y, per_channel("group_norm", weight, x));
  return bias.defined() ? add(y, per_channel("group_norm", bias, x)) : y;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("batch_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, "
        "Tensor? weight=None, Tensor? bias=None, bool training=False, "
        "float momentum=0.1, float eps=1e-05) -> Tensor")
      .doc("Zero mean and unit variance for each channel of (N, C, ...) (Ioffe & Szegedy "
           "2015); training uses the batch and moves the running values towards it.")
      .composite([](const Tensor& x, const Tensor& mean, const Tensor& var,
                    const Tensor& weight, const Tensor& bias, bool training,
                    double momentum, double eps) {
        return in_full_precision(x, [&](const Tensor& wide) {
          return batch_norm(wide, mean, var, weight, bias, training, momentum, eps);
        });
      });
  m.def("group_norm(Tensor input, int num_groups, Tensor? weight=None, "
        "Tensor? bias=None, float eps=1e-05) -> Tensor")
      .doc("Zero mean and unit variance within groups of channels (Wu & He 2018).")
      .composite(group_norm);
  m.def("instance_norm(Tensor input, Tensor? weight=None, Tensor? bias=None, "
        "float eps=1e-05) -> Tensor")
      .doc("Zero mean and unit variance of each channel of each sample.")
      .composite([](const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
        PKG_CHECK(x.ndim() >= 3, RuntimeError,
                  "[instance_norm] expected input (N, C, ...), got shape ", x.sizes());
        int64_t places = 1;
        for (int64_t d = 2; d < x.ndim(); ++d) places *= x.size(d);
        PKG_CHECK(places != 1, ValueError, "[instance_norm] Expected more than 1 spatial "
                  "element, got input size ", x.sizes());
        if (x.size(1) == 0) return clone(x);
        return group_norm(x, x.size(1), weight, bias, eps);
      });
}

}  // namespace
}  // namespace pkg::ops

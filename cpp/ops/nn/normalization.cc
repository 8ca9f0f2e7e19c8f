// SPDX-License-Identifier: Apache-2.0
// ops/nn/normalization.cc: normalisation of instances and groups, which are rows of memory;
// then each channel has its own scale and shift.
#include "ops/op.h"
#include "ops/reduce/mean.h"
#include "ops/reduce/reduced_dims.h"

namespace pkg::ops {
namespace {

void check_group_channels(const char* name, const Tensor& v, const Tensor& x) {
  PKG_CHECK(!v.defined() || v.sizes() == Shape{x.size(1)}, RuntimeError,
            "[group_norm] "
            "expected one value for each of the ",
            x.size(1), " channels of ", x.sizes(), ", got shape ", v.sizes(), " (", name,
            ").");
}
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  PKG_CHECK(x.ndim() >= 2 && groups > 0 && x.size(1) % groups == 0, RuntimeError,
            "[group_norm] Expected number of channels in input to be divisible by "
            "num_groups, but got input of shape ",
            x.sizes(), " and num_groups=", groups);
  PKG_CHECK(x.numel() != groups, ValueError,
            "[group_norm] Expected more than 1 value per "
            "group when training, got input size ",
            x.sizes(), " and num_groups=", groups);
  check_group_channels("weight", weight, x);
  check_group_channels("bias", bias, x);
  DType common = to_floating(x.dtype());
  for (const Tensor* t : {&weight, &bias}) {
    if (t->defined() && !is_reduced(common)) common = promote(common, t->dtype());
  }
  if (common != x.dtype()) {
    return group_norm(in_dtype(x, common), groups, weight, bias, eps);
  }
  int64_t size = x.size(1) / groups;  // of a group; -1 has no meaning without samples
  for (int64_t d = 2; d < x.ndim(); ++d) size *= x.size(d);
  // The bias alone needs weights beside it: those say that they are the channels'.
  const Shape each{x.size(1), 1};
  Tensor w, b;
  if (weight.defined()) w = reshape(weight, each);
  else if (bias.defined()) w = add(zeros_of(each, bias), Tensor(1.0));
  if (bias.defined()) b = reshape(bias, each);
  return std::get<0>(normalise_rows(x, size, w, b, eps, true));
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
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
        PKG_CHECK(places != 1, ValueError,
                  "[instance_norm] Expected more than 1 spatial "
                  "element, got input size ",
                  x.sizes());
        if (x.size(1) == 0) return clone(x);
        return group_norm(x, x.size(1), weight, bias, eps);
      });
}

}  // namespace
}  // namespace pkg::ops

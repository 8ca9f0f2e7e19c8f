// SPDX-License-Identifier: Apache-2.0
// ops/nn/optim.cc: whole optimiser steps as ops, one call for all parameters.  Called by
// pkg/optim/ and pkg/nn/utils.py; the loops are in kernels/cpu/nn/optim.cc.
#include "dispatcher/library.h"

namespace pkg::ops {
namespace {

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_sgd_step_(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] momenta, float lr, "
        "float momentum, float dampening, float weight_decay, bool nesterov) -> Tensor[]")
      .doc("One step of SGD on every parameter, in place; returns them. momenta is empty "
           "when momentum is 0. Any floating dtype; no gradient.")
      .dtypes(kFloatDTypes)
      .non_differentiable();
  m.def("_adam_step_(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, "
        "Tensor(c!)[] exp_avg_sqs, float lr, float beta1, float beta2, float eps, "
        "float weight_decay, int step, bool decoupled) -> Tensor[]")
      .doc("One step of Adam on every parameter, in place; returns them. step counts "
           "from 1; decoupled weight decay is AdamW's. Any floating dtype; no gradient.")
      .dtypes(kFloatDTypes)
      .non_differentiable();
  m.def("_clip_grad_norm_(Tensor(a!)[] grads, float max_norm, float norm_type) -> Tensor")
      .doc("Scales all gradients in place so that their joint norm is at most max_norm; "
           "returns the norm they had. Any floating dtype; no gradient.")
      .dtypes(kFloatDTypes)
      .non_differentiable();
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/nn/optim.cc: optimiser steps, one pass over each parameter's memory.  The ops
// (ops/nn/optim.cc) are plain functions, so this file waits for the memory that it writes.
#include <cmath>
#include <vector>

#include "base/isa.h"
#include "dispatcher/checks.h"
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/norm.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"
#include "tensor/layout.h"

namespace pkg {
namespace {

void check_same(const char* op, const char* what, const TensorList& params,
                const TensorList& others) {
  PKG_CHECK(params.size() == others.size(), ValueError, "[", op,
            "] expected one tensor "
            "of ",
            what, " per parameter, got ", others.size(), " (parameters=", params.size(),
            ").");
  for (size_t i = 0; i < params.size(); ++i) {
    const Tensor &a = params[i], &b = others[i];
    PKG_CHECK(a.sizes() == b.sizes() && a.dtype() == b.dtype(), RuntimeError, "[", op,
              "] expected ", what, "[", i, "] of shape ", a.sizes(), " and dtype ",
              a.dtype(), ", got ", b.sizes(), " and ", b.dtype(), ".");
    if (a.numel() > 0) detail::check_no_overlap(op, a);
  }
}

// Whether the loops may take the memory of all of them as it lies: element by element it
// is that of the same places.
template <class... Others>
bool in_step(const Tensor& param, const Others&... others) {
  return !param.is_contiguous() && (lie_alike(param, others) && ...) && is_dense(param);
}

// Its values as the loops want them: row-major or as they lie, and those of float16 and
// bfloat16 in float32.
Tensor dense_of(const Tensor& tensor, bool as_it_lies) {
  const DType dtype = is_reduced(tensor.dtype()) ? DType::Float32 : tensor.dtype();
  const Tensor typed = as_dtype(tensor, dtype);
  return as_it_lies ? typed : as_contiguous(typed);
}

// A tensor that is written: settled, dense while in scope, its version counted.
class Written {
 public:
  Written(const Tensor& tensor, bool as_it_lies) : tensor_(tensor) {
    tensor.storage().wait_writable();
    tensor.bump_version();
    dense_ = dense_of(tensor, as_it_lies);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  template <class T>
  T* data() const {
    return dense_.data<T>();
  }
  DType dtype() const { return dense_.dtype(); }
  /// Copies back what another layout or dtype could not take directly.
  void store() const {
    if (!dense_.is_same(tensor_)) copy_into(tensor_, dense_);
  }

 private:
  const Tensor& tensor_;
  Tensor dense_;
};

// Runs f(begin, end) over chunks of n elements, compiled for the instruction set in use.
template <class F>
void chunks(int64_t n, F f) {
  parallel_for(0, n, kGrain,
               [&](int64_t begin, int64_t end) { with_isa([&] { f(begin, end); }); });
}

struct SgdOptions {
  double lr, momentum, dampening, weight_decay;
  bool nesterov;
};

template <class T>
void sgd_loop(T* __restrict param, const T* __restrict grad, T* __restrict momenta,
              int64_t n, const SgdOptions& o) {
  const T lr = T(o.lr), decay = T(o.weight_decay), momentum = T(o.momentum);
  const T fresh = T(1 - o.dampening);
  const bool decays = decay != 0;  // 0 * inf is not 0
  if (!momenta) {
    chunks(n, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        param[i] -= lr * (decays ? grad[i] + decay * param[i] : grad[i]);
      }
    });
    return;
  }
  // Nesterov looks one step ahead: grad + momentum * m instead of m.
  const T of_grad = o.nesterov ? T(1) : T(0), of_momenta = o.nesterov ? momentum : T(1);
  chunks(n, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T g = decays ? grad[i] + decay * param[i] : grad[i];
      const T m = momentum * momenta[i] + fresh * g;
      momenta[i] = m;
      param[i] -= lr * (of_grad * g + of_momenta * m);
    }
  });
}

TensorList sgd_step(const TensorList& params, const TensorList& grads,
                    const TensorList& momenta, double lr, double momentum, double dampening,
                    double weight_decay, bool nesterov) {
  check_same("_sgd_step_", "grads", params, grads);
  if (momentum != 0) check_same("_sgd_step_", "momenta", params, momenta);
  const SgdOptions options{lr, momentum, dampening, weight_decay, nesterov};
  for (size_t i = 0; i < params.size(); ++i) {
    const bool as_they_lie = in_step(params[i], grads[i]) &&
                             (momentum == 0 || lie_alike(params[i], momenta[i]));
    const Tensor grad = dense_of(grads[i].wait(), as_they_lie);
    const Written param(params[i], as_they_lie);
    std::optional<Written> state;
    if (momentum != 0) state.emplace(momenta[i], as_they_lie);
    visit_floating("_sgd_step_", grad.dtype(), [&]<class T>(TypeTag<T>) {
      sgd_loop(param.data<T>(), grad.data<T>(), state ? state->data<T>() : nullptr,
               grad.numel(), options);
    });
    param.store();
    if (state) state->store();
  }
  return params;
}

struct AdamOptions {
  double lr, beta1, beta2, eps, weight_decay;
  int64_t step;
  bool decoupled;
};

template <class T>
void adam_loop(T* __restrict param, const T* __restrict grad, T* __restrict mean,
               T* __restrict square, int64_t n, const AdamOptions& o) {
  const double correction1 = 1 - std::pow(o.beta1, double(o.step));
  const double correction2 = 1 - std::pow(o.beta2, double(o.step));
  const T step_size = T(o.lr / correction1);
  const T to_root = T(1 / std::sqrt(correction2)), eps = T(o.eps);
  const T old1 = T(o.beta1), new1 = T(1 - o.beta1);
  const T old2 = T(o.beta2), new2 = T(1 - o.beta2);
  const T into_grad = o.decoupled ? T(0) : T(o.weight_decay);
  const bool decays = into_grad != 0;  // 0 * inf is not 0
  const T keep = o.decoupled ? T(1 - o.lr * o.weight_decay) : T(1);
  chunks(n, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T g = decays ? grad[i] + into_grad * param[i] : grad[i];
      const T m = old1 * mean[i] + new1 * g;
      const T v = old2 * square[i] + new2 * g * g;
      mean[i] = m;
      square[i] = v;
      param[i] = keep * param[i] - step_size * m / (std::sqrt(v) * to_root + eps);
    }
  });
}

TensorList adam_step(const TensorList& params, const TensorList& grads,
                     const TensorList& exp_avgs, const TensorList& exp_avg_sqs, double lr,
                     double beta1, double beta2, double eps, double weight_decay,
                     int64_t step, bool decoupled) {
  check_same("_adam_step_", "grads", params, grads);
  check_same("_adam_step_", "exp_avgs", params, exp_avgs);
  check_same("_adam_step_", "exp_avg_sqs", params, exp_avg_sqs);
  PKG_CHECK(step >= 1, ValueError, "[_adam_step_] expected step >= 1, got ", step, ".");
  const AdamOptions options{lr, beta1, beta2, eps, weight_decay, step, decoupled};
  for (size_t i = 0; i < params.size(); ++i) {
    const bool lie = in_step(params[i], grads[i], exp_avgs[i], exp_avg_sqs[i]);
    const Tensor grad = dense_of(grads[i].wait(), lie);
    const Written param(params[i], lie), mean(exp_avgs[i], lie),
        square(exp_avg_sqs[i], lie);
    visit_floating("_adam_step_", grad.dtype(), [&]<class T>(TypeTag<T>) {
      adam_loop(param.data<T>(), grad.data<T>(), mean.data<T>(), square.data<T>(),
                grad.numel(), options);
    });
    param.store();
    mean.store();
    square.store();
  }
  return params;
}

// Of the parts of a vector.
double norm_of_norms(const std::vector<double>& norms, double p) {
  double largest = 0;
  for (double norm : norms) largest = norm > largest || std::isnan(norm) ? norm : largest;
  if (!(largest > 0) || std::isinf(largest) || std::isinf(p)) return largest;
  const auto root_of_sum = [&](double unit) {
    double sum = 0;
    for (double norm : norms) sum += std::pow(norm / unit, p);
    return std::pow(sum, 1 / p) * unit;
  };
  // Only where powers leave the range of double: a unit costs a rounding.
  const double total = root_of_sum(1);
  return std::isnormal(total) && std::isnormal(std::pow(largest, p)) ? total
                                                                     : root_of_sum(largest);
}

Tensor clip_grad_norm(const TensorList& grads, double max_norm, double norm_type) {
  PKG_CHECK(norm_type > 0, ValueError, "[_clip_grad_norm_] expected norm_type > 0, got ",
            norm_type, ".");
  std::vector<double> norms;
  for (const Tensor& grad : grads) norms.push_back(norm_of(grad.wait(), norm_type));
  const double total = norm_of_norms(norms, norm_type);
  const double scale = max_norm / (total + 1e-6);
  // Not `scale < 1`, so that a NaN norm shows in the gradients as in PyTorch.
  for (size_t i = 0; !(scale >= 1) && i < grads.size(); ++i) {
    const Written grad(grads[i], is_dense(grads[i]));
    visit_floating("_clip_grad_norm_", grad.dtype(), [&]<class T>(TypeTag<T>) {
      T* x = grad.data<T>();
      chunks(grads[i].numel(), [x, by = T(scale)](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) x[j] *= by;
      });
    });
    grad.store();
  }
  DType dtype = grads.empty() ? default_dtype() : grads[0].dtype();
  for (const Tensor& grad : grads) dtype = promote(dtype, grad.dtype());
  const Tensor result = share(as_dtype(Tensor(total), dtype));
  result.impl()->wrapped_number = false;  // its dtype is the gradients', and decides
  return result;
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("_sgd_step_", sgd_step);
  m.impl("_adam_step_", adam_step);
  m.impl("_clip_grad_norm_", clip_grad_norm);
}

}  // namespace
}  // namespace pkg

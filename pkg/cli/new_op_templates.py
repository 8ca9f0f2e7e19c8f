# SPDX-License-Identifier: Apache-2.0
"""What ``python -m pkg new-op`` writes: file names and texts, with @NAME@ for the name
of the op, @CAMEL@ for TensorFlow's way to spell it."""

from __future__ import annotations

__all__ = ["TEMPLATES"]

_TF_SOURCE = '''\
// @NAME@.cc: the op @CAMEL@: what it takes and gives, and how it is computed.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("@CAMEL@")
    .Attr("T: {float, double}")
    .Attr("factor: float = 2.0")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      return Status::OK();
    })
    .Doc(R"doc(
factor * x for each element.

factor: must not be negative.
)doc");

template <class T>
class @CAMEL@Op : public OpKernel {
 public:
  explicit @CAMEL@Op(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("factor", &factor_));
    OP_REQUIRES(context, factor_ >= 0,
                errors::InvalidArgument("Need factor >= 0, got ", factor_));
  }
  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) out(i) = T(factor_) * in(i);
  }

 private:
  float factor_;
};

REGISTER_KERNEL_BUILDER(Name("@CAMEL@").Device(DEVICE_CPU).TypeConstraint<float>("T"),
                        @CAMEL@Op<float>);
REGISTER_KERNEL_BUILDER(Name("@CAMEL@").Device(DEVICE_CPU).TypeConstraint<double>("T"),
                        @CAMEL@Op<double>);
'''

_TF_PYTHON = '''\
"""The op @CAMEL@: its library, compiled when it has to be, and its gradient."""

from pathlib import Path

import pkg

_HERE = Path(__file__).parent
_library = pkg.load_op_library(
    pkg.build.custom_op_library(
        "@NAME@", [_HERE / "@NAME@.cc"], _HERE, style="tf1"
    )
)
@NAME@ = _library.@NAME@


@pkg.RegisterGradient("@CAMEL@")
def _gradient(op, grad):
    return grad * op.get_attr("factor")
'''

_TORCH_SOURCE = '''\
// @NAME@.cc: the op @NAME@::@NAME@: its schema, and how it is computed.
#include <torch/extension.h>

namespace {

at::Tensor @NAME@_cpu(const at::Tensor& x, double factor) {
  TORCH_CHECK(factor >= 0, "expected factor >= 0, got ", factor);
  TORCH_CHECK(x.dtype() == at::kFloat || x.dtype() == at::kDouble);
  const at::Tensor in = x.contiguous();
  at::Tensor y = torch::empty(in.sizes(), in.options());
  const int64_t n = in.numel();
  if (x.dtype() == at::kFloat) {
    const float* from = in.data_ptr<float>();
    float* to = y.data_ptr<float>();
    for (int64_t i = 0; i < n; ++i) to[i] = float(factor) * from[i];
  } else {
    const double* from = in.data_ptr<double>();
    double* to = y.data_ptr<double>();
    for (int64_t i = 0; i < n; ++i) to[i] = factor * from[i];
  }
  return y;
}

}  // namespace

TORCH_LIBRARY(@NAME@, m) { m.def("@NAME@(Tensor x, float factor=2.0) -> Tensor"); }
TORCH_LIBRARY_IMPL(@NAME@, CPU, m) { m.impl("@NAME@", &@NAME@_cpu); }
'''

_TORCH_PYTHON = '''\
"""The op @NAME@: its library, its shape without values, and its gradient."""

from pathlib import Path

import pkg

_HERE = Path(__file__).parent
pkg.ops.load_library(
    pkg.build.custom_op_library(
        "@NAME@", [_HERE / "@NAME@.cc"], _HERE, style="torch"
    )
)
@NAME@ = pkg.ops.@NAME@.@NAME@


@pkg.library.register_fake("@NAME@::@NAME@")
def _shape(x, factor=2.0):
    return pkg.empty_like(x)


def _setup(ctx, inputs, output):
    ctx.factor = inputs[1]


def _backward(ctx, grad):
    return grad * ctx.factor, None


pkg.library.register_autograd(
    "@NAME@::@NAME@", _backward, setup_context=_setup
)
'''

_PKG_SOURCE = '''\
// @NAME@.cc: the op @NAME@::@NAME@: schema, shape, kernel and gradient in one record.
#include "ops/op.h"

using pkg::Tensor;

PKG_LIBRARY(@NAME@, m) {
  m.def("@NAME@(Tensor x, *, float factor=2.0) -> Tensor")
      .doc("factor * x for each element; factor must not be negative.")
      .dtypes(pkg::DTypeSet{pkg::DType::Float32, pkg::DType::Float64})
      .shape([](const Tensor& x, double factor) {
        PKG_CHECK(factor >= 0, ValueError,
                  "[@NAME@] expected factor >= 0, got ", factor, ".");
        return x.spec();
      })
      .cpu([](Tensor& y, const Tensor& x, double factor) {
        visit_floating("@NAME@", x.dtype(), [&]<class T>(pkg::TypeTag<T>) {
          const T* in = x.data<T>();
          T* out = y.data<T>();
          for (int64_t i = 0; i < y.numel(); ++i) out[i] = T(factor) * in[i];
        });
      })
      .derivative("x", "factor",
                  [](const Tensor& grad, double factor) { return grad * factor; });
}
'''

_PKG_PYTHON = '''\
"""The op @NAME@: its library, which is compiled when it has to be."""

from pathlib import Path

import pkg

_HERE = Path(__file__).parent
_library = pkg.load_op_library(
    pkg.build.custom_op_library("@NAME@", [_HERE / "@NAME@.cc"], _HERE)
)
@NAME@ = _library.@NAME@
'''

_TEST = '''\
"""@NAME@: values, shapes, what is refused, and the gradient."""

import numpy as np
import pytest

import pkg
from @NAME@_ops import @NAME@
from pkg.framework import check_gradient


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
@pytest.mark.parametrize("dtype", [pkg.float32, pkg.float64])
def test_values(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape)
    found = @NAME@(pkg.tensor(x, dtype=dtype), factor=3.0)
    assert found.dtype == dtype and tuple(found.shape) == shape
    np.testing.assert_allclose(found.numpy(), 3 * x, rtol=1e-6)


def test_what_is_refused():
    wrong = (NotImplementedError, RuntimeError, TypeError, ValueError)
    with pytest.raises(wrong, match="factor >= 0"):
        @NAME@(pkg.ones(2), factor=-1.0)
    with pytest.raises(wrong):
        @NAME@(pkg.ones(2).to(pkg.int64))


def test_the_gradient():
    error = check_gradient(lambda x: @NAME@(x, factor=3.0), np.linspace(-1, 1, 6))
    assert error < 1e-4, error.report


def test_in_a_graph():
    with pkg.graph.Graph().as_default(), pkg.graph.Session() as session:
        x = pkg.graph.placeholder(pkg.float32, [None])
        y = @NAME@(x, factor=3.0)
        (slope,) = pkg.graph.gradients(y, [x])
        value, grad = session.run([y, slope], {x: [1.0, 2.0]})
    assert value.tolist() == [3, 6] and grad.tolist() == [3, 3]
'''

_README = '''\
# @NAME@

An op for pkg: `@NAME@.cc` is the op, `@NAME@_ops.py` compiles and loads it@WITH@,
`test_@NAME@.py` tests it:

    python -m pytest -q

The same library by hand:

    g++ -O2 -fPIC -shared @NAME@.cc -o @NAME@.so @FLAGS@
'''


def _files(source: str, python: str, style: str, extra: str) -> dict[str, str]:
    flags = "$(python -m pkg --cflags --ldflags)"
    if style:
        flags += f" \\\n        -I$(python -m pkg --compat-include {style})"
    readme = _README.replace("@WITH@", extra).replace("@FLAGS@", flags)
    return {
        "@NAME@.cc": source,
        "@NAME@_ops.py": python,
        "test_@NAME@.py": _TEST,
        "README.md": readme,
    }


TEMPLATES = {
    "tf": _files(_TF_SOURCE, _TF_PYTHON, "tf1", " and has its gradient"),
    "torch": _files(_TORCH_SOURCE, _TORCH_PYTHON, "torch", " and has its gradient"),
    "pkg": _files(_PKG_SOURCE, _PKG_PYTHON, "", ""),
}

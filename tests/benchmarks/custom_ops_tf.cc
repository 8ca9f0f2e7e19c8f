// SPDX-License-Identifier: Apache-2.0
// tests/benchmarks/custom_ops_tf.cc: for custom_ops.py: an op that makes its result and leaves
// it as it is, as a kernel without state in TensorFlow's style.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("BenchmarkMake")
    .Input("x: float")
    .Input("y: float")
    .Output("z: float")
    .Attr("c: float = 0.5")
    .SetShapeFn(shape_inference::UnchangedShape);

class MakeOp : public OpKernel {
 public:
  explicit MakeOp(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    Tensor* z = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &z));
  }
};

REGISTER_KERNEL_BUILDER(Name("BenchmarkMake").Device(DEVICE_CPU), MakeOp);

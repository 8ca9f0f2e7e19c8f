// SPDX-License-Identifier: Apache-2.0
// counting.cc: kernels that count their calls.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

namespace {

// Of a plan; of one whose call cannot be planned; of one that does not say that it counts.
REGISTER_OP("CountPlanned")
    .Input("x: float")
    .Output("calls: float")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
REGISTER_OP("CountCalled").Input("x: float").Output("calls: float").SetIsStateful();
REGISTER_OP("CountSilently")
    .Input("x: float")
    .Output("calls: float")
    .SetShapeFn(shape_inference::UnchangedShape);
REGISTER_OP("CountName").Input("x: float").Output("length: float").SetIsStateful();

// Each element is the number of calls.
class CountOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    Tensor* calls = nullptr;
    const TensorShape& shape = context->input(0).shape();
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &calls));
    mutex_lock lock(mutex_);
    calls->flat<float>().setConstant(float(++calls_));
  }

 private:
  mutex mutex_;
  int calls_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("CountPlanned").Device(DEVICE_CPU), CountOp);
REGISTER_KERNEL_BUILDER(Name("CountCalled").Device(DEVICE_CPU), CountOp);
REGISTER_KERNEL_BUILDER(Name("CountSilently").Device(DEVICE_CPU), CountOp);

class NameOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    OP_REQUIRES(context, context->input(0).NumElements() == 1,
                errors::InvalidArgument("called as ", name()));
    context->set_output(0, Tensor(float(name().size())));
  }
};
REGISTER_KERNEL_BUILDER(Name("CountName").Device(DEVICE_CPU), NameOp);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// docs/examples/ops/later.cc: an asynchronous kernel: another thread has the answer and
// reports it, well or not.
#include <thread>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("NegateLater")
    .Input("x: float")
    .Output("y: float")
    .Attr("fails: bool = false")
    .SetShapeFn(shape_inference::UnchangedShape);

class NegateLaterOp : public AsyncOpKernel {
 public:
  explicit NegateLaterOp(OpKernelConstruction* context) : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("fails", &fails_));
  }

  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK_ASYNC(context,
                         context->allocate_output(0, context->input(0).shape(), &y), done);
    // The copy keeps the memory, whoever else lets go of it.
    std::thread([this, context, x = context->input(0), y, done]() mutable {
      if (fails_) context->SetStatus(errors::Aborted("the other side hung up"));
      const auto from = x.flat<float>();
      auto to = y->flat<float>();
      for (int64 i = 0; i < from.size(); ++i) to(i) = -from(i);
      x = Tensor();  // before the caller goes on
      done();
    }).detach();
  }

 private:
  bool fails_ = false;
};

REGISTER_KERNEL_BUILDER(Name("NegateLater").Device(DEVICE_CPU), NegateLaterOp);

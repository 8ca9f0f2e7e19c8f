// SPDX-License-Identifier: Apache-2.0
// docs/examples/ops/keep_one.cc: an op with an attribute and errors, its shape function and
// a kernel of several types.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("KeepOne")
    .Attr("preserve_index: int = 0")
    .Attr("T: realnumbertype")
    .Input("values: T")
    .Output("kept: T")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      return Status::OK();
    })
    .Doc("The element at preserve_index of the flattened tensor, zeros elsewhere.");

template <typename T>
class KeepOneOp : public OpKernel {
 public:
  explicit KeepOneOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("preserve_index", &index_));
    OP_REQUIRES(context, index_ >= 0,
                errors::InvalidArgument("Need preserve_index >= 0, got ", index_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    const auto from = values.flat<T>();
    OP_REQUIRES(context, index_ < from.size(),
                errors::InvalidArgument("preserve_index out of range: ", index_, " of ",
                                        from.size()));
    Tensor* kept = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, values.shape(), &kept));
    auto to = kept->template flat<T>();
    to.setZero();
    to(index_) = from(index_);
  }

 private:
  int64 index_ = 0;
};

#define REGISTER_KERNEL(T)                                                           \
  REGISTER_KERNEL_BUILDER(Name("KeepOne").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          KeepOneOp<T>);
TF_CALL_REAL_NUMBER_TYPES(REGISTER_KERNEL)
#undef REGISTER_KERNEL

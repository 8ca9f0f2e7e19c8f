// SPDX-License-Identifier: Apache-2.0
// docs/examples/ops/twice.cc: a kernel that is a template of the device and the type, with
// what it computes as a functor, in a namespace that is opened again.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

REGISTER_OP("Twice")
    .Attr("T: {int32, float}")
    .Input("in: T")
    .Output("out: T")
    .SetShapeFn(shape_inference::UnchangedShape);

using CPUDevice = Eigen::ThreadPoolDevice;

namespace functor {

template <typename Device, typename T>
struct Twice;

template <typename T>
struct Twice<CPUDevice, T> {
  void operator()(const CPUDevice& device, int size, const T* in, T* out) {
    device.parallelFor(size, 0.5, [&](int64 first, int64 last) {
      for (int64 i = first; i < last; ++i) out[i] = 2 * in[i];
    });
  }
};

template <typename Device, typename T>
class TwiceOp : public OpKernel {
 public:
  explicit TwiceOp(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& in = context->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, in.shape(), &out));
    OP_REQUIRES(context, in.NumElements() <= kint32max,
                errors::InvalidArgument("Too many elements in tensor"));
    Twice<Device, T>()(context->eigen_device<Device>(), int(in.NumElements()),
                       in.flat<T>().data(), out->flat<T>().data());
  }
};

#define REGISTER_CPU(T)                                                            \
  REGISTER_KERNEL_BUILDER(Name("Twice").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          TwiceOp<CPUDevice, T>);
REGISTER_CPU(float)
REGISTER_CPU(int32)
#undef REGISTER_CPU

}  // namespace functor
}  // namespace tensorflow

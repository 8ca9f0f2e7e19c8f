// SPDX-License-Identifier: Apache-2.0
// variables.cc: makes and reads a Var, with resource_mgr.h.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"

using namespace tensorflow;

namespace {

REGISTER_OP("VarOf").Input("value: float").Output("handle: resource").SetIsStateful();
REGISTER_OP("VarValue").Input("handle: resource").Output("value: float").SetIsStateful();
REGISTER_OP("VarText").Input("handle: resource").Output("length: int64").SetIsStateful();

class VarOfOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    auto* made = new Var(DT_FLOAT);
    *made->tensor() = Tensor(DT_FLOAT, c->input(0).shape());
    made->tensor()->flat<float>().assign(c->input(0).flat<float>());
    made->is_initialized = true;
    Tensor* handle = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, {}, &handle));
    handle->scalar<ResourceHandle>()() = MakeRefCountingHandle(c, "var", made);
  }
};
REGISTER_KERNEL_BUILDER(Name("VarOf").Device(DEVICE_CPU), VarOfOp);

class VarValueOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<Var> found;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &found));
    mutex_lock lock(*found->mu());
    Tensor* value = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, found->tensor()->shape(), &value));
    value->flat<float>().assign(found->tensor()->flat<float>());
  }
};
REGISTER_KERNEL_BUILDER(Name("VarValue").Device(DEVICE_CPU), VarValueOp);

// The length of its text.
class VarTextOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    Var* found = nullptr;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &found));
    const int64 length = int64(found->DebugString().size());
    const bool last = found->Unref();
    OP_REQUIRES(c, !last, errors::Internal("the handle had no reference"));
    c->set_output(0, Tensor(length));
  }
};
REGISTER_KERNEL_BUILDER(Name("VarText").Device(DEVICE_CPU), VarTextOp);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// locking.cc: kernels that use the framework's locks.
#include <chrono>
#include <thread>

#include "scheduler/hooks.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

using namespace tensorflow;

namespace {

REGISTER_OP("LockingMade").Attr("form: int").Output("kernels: int64");
REGISTER_OP("LockingShared").Attr("name: string").Output("made: int64").SetIsStateful();
REGISTER_OP("LockingHandle").Output("handle: resource").SetIsStateful();
REGISTER_OP("LockingRead").Input("handle: resource").Output("number: int64");

// While it gives up the interpreter lock, others may run; then it needs that lock.
void without_the_interpreter_lock() {
  const pkg::BlockingRegion others_may_run;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

struct Number : ResourceBase {
  explicit Number(int64 n) : number(n) {}
  const int64 number;
};

class MadeOp : public OpKernel {
 public:
  explicit MadeOp(OpKernelConstruction* context) : OpKernel(context) {
    without_the_interpreter_lock();
    number_ = ++kernels_;
  }
  void Compute(OpKernelContext* context) override {
    context->set_output(0, Tensor(number_));
  }

 private:
  inline static std::atomic<int64> kernels_{0};
  int64 number_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("LockingMade").Device(DEVICE_CPU), MadeOp);

class SharedOp : public OpKernel {
 public:
  explicit SharedOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("name", &name_));
  }
  void Compute(OpKernelContext* context) override {
    static std::atomic<int64> made{0};
    ResourceMgr* manager = context->resource_manager();
    Number* number = nullptr;
    const auto make = [&](Number** out) {
      without_the_interpreter_lock();
      *out = new Number(++made);
      return Status::OK();
    };
    OP_REQUIRES_OK(context, manager->LookupOrCreate<Number>(manager->default_container(),
                                                            name_, &number, make));
    const core::ScopedUnref unref(number);
    context->set_output(0, Tensor(number->number));
  }

 private:
  string name_;
};
REGISTER_KERNEL_BUILDER(Name("LockingShared").Device(DEVICE_CPU), SharedOp);

class HandleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    Tensor* handle = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &handle));
    handle->scalar<ResourceHandle>()() = MakeRefCountingHandle(context, "number",
                                                               new Number(7));
  }
};
REGISTER_KERNEL_BUILDER(Name("LockingHandle").Device(DEVICE_CPU), HandleOp);

class ReadOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    core::RefCountPtr<Number> number;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &number));
    context->set_output(0, Tensor(number->number));
  }
};
REGISTER_KERNEL_BUILDER(Name("LockingRead").Device(DEVICE_CPU), ReadOp);

}  // namespace

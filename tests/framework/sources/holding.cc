// SPDX-License-Identifier: Apache-2.0
// holding.cc: asynchronous kernels that go on when nobody waits for them any more.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

namespace {

// Never destroyed: a thread may wait when the process ends.
mutex& g_lock = *new mutex;
condition_variable& g_changed = *new condition_variable;
bool g_released = false, g_told = false;
int g_running = 0;
int64 g_cancelled = 0;

// Gives x, at once; where it is negative, -1 when it is released, on another thread.
REGISTER_OP("Hold")
    .Input("x: float")
    .Output("y: float")
    .Attr("listens: bool = false")
    .Attr("waits: bool = false")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
// Gives x as it is when what was held has ended.
REGISTER_OP("AfterHeld")
    .Input("x: float")
    .Output("y: float")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
REGISTER_OP("HeldCancelled").Output("n: int64").SetIsStateful();
// What the callback of a call that waits waits for.
REGISTER_OP("TellHeld").Output("n: int64").SetIsStateful();

class HoldOp : public AsyncOpKernel {
 public:
  explicit HoldOp(OpKernelConstruction* context) : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("listens", &listens_));
    OP_REQUIRES_OK(context, context->GetAttr("waits", &waits_));
  }
  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    const auto x = context->input(0).flat<float>();
    Tensor* y = nullptr;
    OP_REQUIRES_OK_ASYNC(context,
                         context->allocate_output(0, context->input(0).shape(), &y), done);
    if (x(0) >= 0) {
      std::copy_n(x.data(), x.size(), y->flat<float>().data());
      return done();
    }
    CancellationManager* manager = context->cancellation_manager();
    const CancellationToken token = manager->get_cancellation_token();
    if (listens_) {
      const bool listening = manager->RegisterCallback(token, [this] {
        mutex_lock lock(g_lock);
        for (int i = 0; waits_ && !g_told && i < 500; ++i) {
          g_changed.wait_for(lock, std::chrono::milliseconds(10));
        }
        ++g_cancelled;
        g_released = true;
        g_changed.notify_all();
      });
      OP_REQUIRES_ASYNC(context, listening, errors::Cancelled("before it began"), done);
    }
    mutex_lock lock(g_lock);
    ++g_running;
    std::thread([this, manager, token, y, done] {
      {
        mutex_lock held(g_lock);
        g_changed.wait(held, [] { return g_released; });
      }
      if (listens_) manager->DeregisterCallback(token);
      y->flat<float>().setConstant(-1);
      {
        mutex_lock held(g_lock);
        --g_running;
        g_changed.notify_all();
      }
      done();
    }).detach();
  }

 private:
  bool listens_ = false, waits_ = false;
};
REGISTER_KERNEL_BUILDER(Name("Hold").Device(DEVICE_CPU), HoldOp);

class AfterHeldOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    {
      mutex_lock lock(g_lock);
      g_released = true;
      g_changed.notify_all();
      g_changed.wait(lock, [] { return g_running == 0; });
      g_released = false;
    }
    const auto x = context->input(0).flat<float>();
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &y));
    std::copy_n(x.data(), x.size(), y->flat<float>().data());
  }
};
REGISTER_KERNEL_BUILDER(Name("AfterHeld").Device(DEVICE_CPU), AfterHeldOp);

class HeldCancelledOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    mutex_lock lock(g_lock);
    context->set_output(0, Tensor(g_cancelled));
  }
};
REGISTER_KERNEL_BUILDER(Name("HeldCancelled").Device(DEVICE_CPU), HeldCancelledOp);

class TellHeldOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    mutex_lock lock(g_lock);
    g_told = true;
    g_changed.notify_all();
    context->set_output(0, Tensor(g_cancelled));
  }
};
REGISTER_KERNEL_BUILDER(Name("TellHeld").Device(DEVICE_CPU), TellHeldOp);

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// helpers.cc: what kernels in TensorFlow's style use beside contexts and tensors: kernels of
// resources, loops over the pool, checks of indices, arithmetic on maps, 16-bit floats.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tensorflow/core/framework/bounds_check.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/resource_op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/gtl/array_slice.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;

class Tally : public ResourceBase {
 public:
  explicit Tally(int64 first) : start(first), n_(first) { ++alive; }
  ~Tally() override { --alive; }
  static std::atomic<int64> alive;
  string DebugString() const override { return "Tally"; }
  int64 Add(int64 by) {
    mutex_lock lock(mu_);
    return n_ += by;
  }
  const int64 start;

 private:
  mutex mu_;
  int64 n_ TF_GUARDED_BY(mu_);
};

std::atomic<int64> Tally::alive{0};

REGISTER_OP("HelperTally")
    .Output("tally: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("start: int = 0")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);
class HelperTallyOp : public ResourceOpKernel<Tally> {
 public:
  explicit HelperTallyOp(OpKernelConstruction* context) : ResourceOpKernel(context) {
    OP_REQUIRES_OK(context, GetNodeAttr(context->def(), "start", &start_));
  }

 private:
  Status CreateResource(Tally** tally) override {
    if (start_ < 0) return errors::InvalidArgument("start is ", start_);
    *tally = new Tally(start_);
    return Status::OK();
  }
  Status VerifyResource(Tally* tally) override {
    if (start_ == 13) return errors::InvalidArgument("start is 13");
    if (tally->start == start_) return Status::OK();
    return errors::InvalidArgument("began at ", tally->start, ", not at ", start_);
  }
  int64 start_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("HelperTally").Device(DEVICE_CPU), HelperTallyOp);

REGISTER_OP("HelperCount")
    .Input("tally: resource")
    .Input("by: int64")
    .Output("n: int64")
    .SetIsStateful();
class HelperCountOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    core::RefCountPtr<Tally> tally;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &tally));
    context->set_output(0, Tensor(tally->Add(context->input(1).scalar<int64>()())));
  }
};
REGISTER_KERNEL_BUILDER(Name("HelperCount").Device(DEVICE_CPU), HelperCountOp);

// How many there are.
REGISTER_OP("HelperTallies").Output("n: int64").SetIsStateful();
class HelperTalliesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    context->set_output(0, Tensor(Tally::alive.load()));
  }
};
REGISTER_KERNEL_BUILDER(Name("HelperTallies").Device(DEVICE_CPU), HelperTalliesOp);

// x[i] in y, for each of i, by all threads.
REGISTER_OP("HelperTake").Input("x: float").Input("i: int32").Output("y: float");
class HelperTakeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const auto x = context->input(0).vec<float>();
    const auto places = context->input(1).vec<int32>();
    for (int64 k = 0; k < places.size(); ++k) {
      const int32 at = internal::SubtleMustCopy(places(k));
      OP_REQUIRES(
          context, FastBoundsCheck(at, x.size()),
          errors::OutOfRange("i[", k, "] = ", at, " is not in [0, ", x.size(), ")"));
    }
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(1).shape(), &y));
    auto out = y->vec<float>();
    auto workers = *(context->device()->tensorflow_cpu_worker_threads());
    Shard(workers.num_threads, workers.workers, places.size(), 1000,
          [&](int64 begin, int64 end) {
            for (int64 k = begin; k < end; ++k) out(k) = x(places(k));
          });
  }
};
REGISTER_KERNEL_BUILDER(Name("HelperTake").Device(DEVICE_CPU), HelperTakeOp);

// The pool is busy for some seconds.
REGISTER_OP("HelperSlow").Input("x: float").Output("y: float");
class HelperSlowOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    context->set_output(0, context->input(0));
    if (context->input(0).flat<float>()(0) >= 0) return;
    auto workers = *(context->device()->tensorflow_cpu_worker_threads());
    Shard(workers.num_threads, workers.workers, 2000, 10'000'000,
          [](int64 begin, int64 end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(3) * (end - begin));
          });
  }
};
REGISTER_KERNEL_BUILDER(Name("HelperSlow").Device(DEVICE_CPU), HelperSlowOp);

// Ctrl-C, which comes while the kernel copies what it gives.
REGISTER_OP("HelperInterrupted").Input("x: float").Output("y: float");
class HelperInterruptedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    context->set_output(0, context->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("HelperInterrupted").Device(DEVICE_CPU), HelperInterruptedOp);

// Of an op with namespaces in front of its name.
REGISTER_OP("Helper>Inner>Twice")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(shape_inference::UnchangedShape);
class HelperInnerTwiceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    auto out = y->flat<float>();
    out = x.flat<float>();
    out += x.flat<float>();
  }
};
REGISTER_KERNEL_BUILDER(Name("Helper>Inner>Twice").Device(DEVICE_CPU), HelperInnerTwiceOp);

// a, then a + b, a - b, a * b and a / b, by arithmetic on maps and on elements.
REGISTER_OP("HelperArithmetic")
    .Attr("T: realnumbertype")
    .Input("a: T")
    .Input("b: T")
    .Output("y: T")
    .Output("sum: T");
template <class T>
class HelperArithmeticOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const int64 n = a.NumElements();
    Tensor *y = nullptr, *total = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({5, n}), &y));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({}), &total));
    const auto b = context->input(1).template flat<T>();
    for (int row = 0; row < 5; ++row) {
      Tensor part = y->SubSlice(row);
      auto out = part.template flat<T>();
      out = a.template flat<T>();
      if (row == 1) out += b;
      if (row == 2) out -= b;
      if (row == 3) out *= b;
      if (row == 4) out /= b;
    }
    T sum = 0;
    for (int64 i = 0; i < n; ++i) {
      const T square = b(i) * b(i);
      sum += static_cast<T>(square > T(0) ? square : 0.0f);
    }
    total->scalar<T>()() = sum;
  }
};
#define REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("HelperArithmetic").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      HelperArithmeticOp<T>)
TF_CALL_REAL_NUMBER_TYPES(REGISTER);
#undef REGISTER

// Puts another tensor in the place of the one that it was given.
REGISTER_OP("HelperRebound")
    .Attr("how: int = 0")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(shape_inference::UnchangedShape);
class HelperReboundOp : public OpKernel {
 public:
  explicit HelperReboundOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("how", &how_));
  }
  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    if (how_ == 0)
      OP_REQUIRES(context, y->CopyFrom(x, x.shape()), errors::Internal("size"));
    if (how_ == 1) *y = x;
    if (how_ == 2) *y = Tensor(DT_DOUBLE, x.shape());
    if (how_ == 3) *y = Tensor(DT_FLOAT, TensorShape({1, 1, 1}));
  }

 private:
  int how_;
};
REGISTER_KERNEL_BUILDER(Name("HelperRebound").Device(DEVICE_CPU), HelperReboundOp);

}  // namespace
}  // namespace tensorflow

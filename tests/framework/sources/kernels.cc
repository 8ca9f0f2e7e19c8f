// SPDX-License-Identifier: Apache-2.0
// Small ops with kernels, for what is done with wrappers and gradients.
#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using namespace tensorflow;
using shape_inference::InferenceContext;

Status Unchanged(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return Status::OK();
}

REGISTER_OP("TestZeroOut")
    .Attr("T: {float, double, int32}")
    .Attr("preserve_index: int = 0")
    .Input("to_zero: T")
    .Output("zeroed: T")
    .SetShapeFn(Unchanged);

template <class T>
class ZeroOutOp : public OpKernel {
 public:
  explicit ZeroOutOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("preserve_index", &kept_));
    OP_REQUIRES(context, kept_ >= 0,
                errors::InvalidArgument("Need preserve_index >= 0, got ", kept_));
  }
  void Compute(OpKernelContext* context) override {
    const auto in = context->input(0).flat<T>();
    OP_REQUIRES(context, kept_ < in.size(),
                errors::InvalidArgument("preserve_index out of range"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &out));
    auto to = out->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) to(i) = i == kept_ ? in(i) : T(0);
  }

 private:
  int kept_;
};
#define REGISTER(T)                                                                      \
  REGISTER_KERNEL_BUILDER(Name("TestZeroOut").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          ZeroOutOp<T>)
REGISTER(float);
REGISTER(double);
REGISTER(int32);
#undef REGISTER

// a * b and a + b, or the same of a list: one kernel for all four.
REGISTER_OP("TestPair")
    .Attr("T: {float, double}")
    .Input("a: T")
    .Input("b: T")
    .Output("product: T")
    .Output("total: T");
REGISTER_OP("TestSums")
    .Attr("T: {float, double}")
    .Attr("N: int >= 1")
    .Input("values: N * T")
    .Output("sums: N * T");
REGISTER_OP("TestSink").Attr("T: {float, double}").Input("x: T");

template <class T>
class PairOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const auto a = context->input(0).flat<T>(), b = context->input(1).flat<T>();
    OP_REQUIRES(context, a.size() == b.size(), errors::InvalidArgument("sizes differ"));
    Tensor* outs[2];
    for (int i = 0; i < 2; ++i) {
      const TensorShape& shape = context->input(0).shape();
      OP_REQUIRES_OK(context, context->allocate_output(i, shape, &outs[i]));
    }
    auto product = outs[0]->flat<T>(), total = outs[1]->flat<T>();
    for (int64_t i = 0; i < a.size(); ++i) {
      product(i) = a(i) * b(i);
      total(i) = a(i) + b(i);
    }
  }
};

// Each with what stands before it.
template <class T>
class SumsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    for (int k = 0; k < context->num_inputs(); ++k) {
      Tensor* out = nullptr;
      const Tensor& in = context->input(k);
      OP_REQUIRES_OK(context, context->allocate_output(k, in.shape(), &out));
      for (int64_t i = 0; i < in.NumElements(); ++i) {
        T sum = 0;
        for (int j = 0; j <= k; ++j) sum += context->input(j).flat<T>()(i);
        out->flat<T>()(i) = sum;
      }
    }
  }
};

// The largest of a vector and its place.
REGISTER_OP("TestTop").Input("x: float").Output("value: float").Output("place: int32");
class TopOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const auto x = context->input(0).flat<float>();
    Tensor *value = nullptr, *place = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({1}), &value));
    OP_REQUIRES_OK(context, context->allocate_output(1, TensorShape({1}), &place));
    int best = 0;
    for (int i = 1; i < x.size(); ++i) best = x(i) > x(best) ? i : best;
    value->flat<float>()(0) = x(best);
    place->flat<int32>()(0) = best;
  }
};

// Names that Python or the wrapper itself has: digits of a number, and their sum.
REGISTER_OP("TestNames")
    .Input("type: float")
    .Input("class: float")
    .Input("class_: float")
    .Input("name: float")
    .Input("name_: float")
    .Input("Exception: float")
    .Attr("print: int = 1")
    .Output("class: float")
    .Output("class_: float");
class NamesOp : public OpKernel {
 public:
  explicit NamesOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("print", &scale_));
  }
  void Compute(OpKernelContext* context) override {
    float number = 0, sum = 0;
    for (int i = 0; i < context->num_inputs(); ++i) {
      const float digit = context->input(i).flat<float>()(0);
      number = number * 10 + digit, sum += digit;
    }
    for (int i = 0; i < 2; ++i) {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(context, context->allocate_output(i, TensorShape({1}), &out));
      out->flat<float>()(0) = scale_ * (i ? sum : number);
    }
  }

 private:
  int scale_ = 1;
};

// Ops whose wrappers, or the classes of what these give, would have the same name.
REGISTER_OP("TestTwo_V2").Input("x: float").Output("a: float").Output("b: float");
REGISTER_OP("TestTwoV2").Input("x: float").Output("c: float").Output("d: float");
REGISTER_OP("TESTSAME").Input("x: float").Output("y: float");
REGISTER_OP("Testsame").Input("x: float").Output("y: float");
REGISTER_OP("testsame").Input("x: float").Output("y: float");

class SinkOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
};

#define REGISTER(NAME, T, CLASS) \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), CLASS)
REGISTER("TestPair", float, PairOp<float>);
REGISTER("TestPair", double, PairOp<double>);
REGISTER("TestSums", float, SumsOp<float>);
REGISTER("TestSums", double, SumsOp<double>);
REGISTER_KERNEL_BUILDER(Name("TestTop").Device(DEVICE_CPU), TopOp);
REGISTER_KERNEL_BUILDER(Name("TestNames").Device(DEVICE_CPU), NamesOp);
REGISTER("TestSink", float, SinkOp);
REGISTER("TestSink", double, SinkOp);

// What kernels keep.
REGISTER_OP("TestState").Output("a: float").Output("b: float").SetIsStateful();
REGISTER_OP("TestMade").Attr("by: float = 0.0").Output("made: int64").Output("sign: float");
REGISTER_OP("TestUnset").Output("y: float");
REGISTER_OP("TestLate")
    .Attr("form: int")
    .Attr("throws: bool = false")
    .Output("died: int64");
REGISTER_OP("TestSameHandle").Input("given: resource").Output("same: resource");
REGISTER_OP("TestRowTable").Input("given: resource");

// Both results are the kernel's own tensor.
class StateOp : public OpKernel {
 public:
  explicit StateOp(OpKernelConstruction* context)
      : OpKernel(context), state_(DT_FLOAT, {2}) {
    state_.flat<float>().setConstant(3);
  }
  void Compute(OpKernelContext* context) override {
    context->set_output(0, state_);
    context->set_output(1, state_);
  }

 private:
  Tensor state_;
};
REGISTER_KERNEL_BUILDER(Name("TestState").Device(DEVICE_CPU), StateOp);

// How many kernels there were when this one had been made, and the sign of its attribute.
class MadeOp : public OpKernel {
 public:
  explicit MadeOp(OpKernelConstruction* context) : OpKernel(context) {
    static std::atomic<int64_t> made{0};
    OP_REQUIRES_OK(context, context->GetAttr("by", &by_));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    number_ = ++made;
  }
  void Compute(OpKernelContext* context) override {
    context->set_output(0, Tensor(number_));
    context->set_output(1, Tensor(std::copysign(1.0f, by_)));
  }

 private:
  int64_t number_ = 0;
  float by_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("TestMade").Device(DEVICE_CPU), MadeOp);

class UnsetOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override { context->set_output(0, Tensor()); }
};
REGISTER_KERNEL_BUILDER(Name("TestUnset").Device(DEVICE_CPU), UnsetOp);

// Says how many kernels died while their threads ran; `throws` when its thread has begun.
class LateOp : public AsyncOpKernel {
 public:
  explicit LateOp(OpKernelConstruction* context) : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("throws", &throws_));
  }
  ~LateOp() override { died_ += running_; }
  void ComputeAsync(OpKernelContext* context, DoneCallback done) override {
    if (throws_) {
      running_ = true;
      std::thread([this, context, done] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        context->set_output(0, Tensor(int64_t{-1}));
        running_ = false;
        done();
      }).detach();
      throw std::runtime_error("begun, and thrown");
    }
    context->set_output(0, Tensor(died_.load()));
    done();
  }

 private:
  inline static std::atomic<int64_t> died_{0};
  std::atomic<bool> running_{false};
  bool throws_ = false;
};
REGISTER_KERNEL_BUILDER(Name("TestLate").Device(DEVICE_CPU), LateOp);

class SameHandleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    context->set_output(0, context->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("TestSameHandle").Device(DEVICE_CPU), SameHandleOp);

}  // namespace

// Has the name, and so the mangled name, of the class of docs/examples/ops/sparse_rows.cc.
namespace tensorflow {
namespace {

struct RowTable : ResourceBase {};

class RowTableOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    core::RefCountPtr<RowTable> table;
    OP_REQUIRES_OK(context, LookupResource(context, HandleFromInput(context, 0), &table));
  }
};
REGISTER_KERNEL_BUILDER(Name("TestRowTable").Device(DEVICE_CPU), RowTableOp);

}  // namespace
}  // namespace tensorflow

// SPDX-License-Identifier: Apache-2.0
// embedding.cc: rows of a table by number, and their gradient, each in one pass: what a Gather,
// a mask for missing numbers and a scaling are in three.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using namespace tensorflow;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("EmbeddingLookup")
    .Attr("T: {float, double}")
    .Attr("I: {int32, int64}")
    .Attr("scale: float = 1.0")
    .Input("table: T")
    .Input("ids: I")
    .Output("rows: T")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle table, rows;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &table));
      TF_RETURN_IF_ERROR(c->Concatenate(c->input(1), c->Vector(c->Dim(table, 1)), &rows));
      c->set_output(0, rows);
      return Status::OK();
    })
    .Doc(R"doc(
scale * table[id] for each id; zeros for the id -1.

table: a row for each id.
ids: of any shape.
rows: the shape of ids, and then the length of a row.
)doc");

REGISTER_OP("EmbeddingLookupGrad")
    .Attr("T: {float, double}")
    .Attr("I: {int32, int64}")
    .Attr("scale: float = 1.0")
    .Input("table: T")
    .Input("ids: I")
    .Input("grad: T")
    .Output("grad_table: T")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      return Status::OK();
    })
    .Doc(R"doc(
The gradient of EmbeddingLookup: what comes to a row several times is added.
)doc");

template <class I>
Status CheckIds(const Tensor& ids, int64_t rows) {
  const auto flat = ids.flat<I>();
  for (int64_t i = 0; i < flat.size(); ++i) {
    if (flat(i) < -1 || flat(i) >= rows) {
      return errors::InvalidArgument("ids[", i, "] = ", flat(i), " is not in [-1, ", rows,
                                     ")");
    }
  }
  return Status::OK();
}

template <class T, class I>
class EmbeddingLookupOp : public OpKernel {
 public:
  explicit EmbeddingLookupOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("scale", &scale_));
  }
  void Compute(OpKernelContext* context) override {
    const Tensor& table = context->input(0);
    const Tensor& ids = context->input(1);
    OP_REQUIRES(context, TensorShapeUtils::IsMatrix(table.shape()),
                errors::InvalidArgument("table must be a matrix, got shape ",
                                        table.shape().DebugString()));
    OP_REQUIRES_OK(context, CheckIds<I>(ids, table.dim_size(0)));
    TensorShape shape = ids.shape();
    const int64_t n = table.dim_size(1);
    shape.AddDim(n);
    Tensor* rows = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &rows));
    const T* from = table.flat<T>().data();
    T* to = rows->flat<T>().data();
    const auto flat = ids.flat<I>();
    for (int64_t i = 0; i < flat.size(); ++i, to += n) {
      const T* row = from + flat(i) * n;
      for (int64_t k = 0; k < n; ++k) to[k] = flat(i) < 0 ? T(0) : T(scale_) * row[k];
    }
  }

 private:
  float scale_;
};

template <class T, class I>
class EmbeddingLookupGradOp : public OpKernel {
 public:
  explicit EmbeddingLookupGradOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("scale", &scale_));
  }
  void Compute(OpKernelContext* context) override {
    const Tensor& table = context->input(0);
    const Tensor& ids = context->input(1);
    const Tensor& grad = context->input(2);
    OP_REQUIRES_OK(context, CheckIds<I>(ids, table.dim_size(0)));
    const int64_t n = table.dim_size(1);
    OP_REQUIRES(
        context, grad.NumElements() == ids.NumElements() * n,
        errors::InvalidArgument("expected a gradient of ", ids.NumElements(), " rows of ",
                                n, ", got shape ", grad.shape().DebugString()));
    Tensor* sums = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, table.shape(), &sums));
    T* to = sums->flat<T>().data();
    for (int64_t k = 0; k < sums->NumElements(); ++k) to[k] = T(0);
    const T* from = grad.flat<T>().data();
    const auto flat = ids.flat<I>();
    for (int64_t i = 0; i < flat.size(); ++i, from += n) {
      if (flat(i) < 0) continue;
      for (int64_t k = 0; k < n; ++k) to[flat(i) * n + k] += T(scale_) * from[k];
    }
  }

 private:
  float scale_;
};

#define REGISTER(T, I)                                 \
  REGISTER_KERNEL_BUILDER(Name("EmbeddingLookup")      \
                              .Device(DEVICE_CPU)      \
                              .TypeConstraint<T>("T")  \
                              .TypeConstraint<I>("I"), \
                          EmbeddingLookupOp<T, I>);    \
  REGISTER_KERNEL_BUILDER(Name("EmbeddingLookupGrad")  \
                              .Device(DEVICE_CPU)      \
                              .TypeConstraint<T>("T")  \
                              .TypeConstraint<I>("I"), \
                          EmbeddingLookupGradOp<T, I>)
REGISTER(float, int32);
REGISTER(float, int64);
REGISTER(double, int32);
REGISTER(double, int64);

}  // namespace

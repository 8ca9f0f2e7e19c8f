// SPDX-License-Identifier: Apache-2.0
// declared.cc: kernels that declare what they need of resource_mgr.h themselves, include
// none of it, and check with what ends the process elsewhere.
#include <algorithm>
#include <map>
#include <thread>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/core/refcount.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/tracing.h"
#include "tensorflow/core/public/version.h"

#if TF_MAJOR_VERSION < 2 || (TF_MAJOR_VERSION == 2 && TF_MINOR_VERSION < 8)
#error "these sources expect the names of 2.8"
#endif

namespace tensorflow {

template <typename T, bool use_dynamic_cast>
Status LookupResource(OpKernelContext* context, const ResourceHandle& handle, T** value);
const ResourceHandle& HandleFromInput(OpKernelContext* context, int input);

REGISTER_OP("DeclaredFill")
    .Input("tables: N * resource")
    .Input("signs: N * int64")
    .Output("places: N * int64")
    .Attr("N: int")
    .SetIsStateful();
REGISTER_OP("DeclaredScale").Input("table: resource").Input("by: float").SetIsStateful();

// Writes each different sign into a row of its table, on another thread, and gives where.
class DeclaredFillOp : public AsyncOpKernel {
 public:
  explicit DeclaredFillOp(OpKernelConstruction* c) : AsyncOpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("N", &n_));
  }
  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    OP_REQUIRES_ASYNC(c, c->num_inputs() == 2 * n_,
                      errors::InvalidArgument("inputs: ", c->num_inputs(), " of ", 2 * n_),
                      done);
    std::vector<std::pair<Var*, std::vector<uint64>>> rows;
    for (int i = 0; i < n_; ++i) {
      const ResourceHandle& handle = HandleFromInput(c, i);
      Var* variable = nullptr;
      const auto status = LookupResource<Var, false>(c, handle, &variable);
      OP_REQUIRES_OK_ASYNC(c, status, done);
      CHECK(variable);
      const core::ScopedUnref unref(variable);  // the handle keeps it until `done`
      const TensorShape& shape = variable->tensor()->shape();
      OP_REQUIRES_ASYNC(
          c, TensorShapeUtils::IsMatrix(shape),
          errors::InvalidArgument("expected a matrix, saw: ", shape.DebugString()), done);
      const Tensor& signs = c->input(n_ + i);
      Tensor* places = nullptr;
      OP_REQUIRES_OK_ASYNC(c, c->allocate_output(i, signs.shape(), &places), done);
      std::map<uint64, size_t> known;
      auto& mine = rows.emplace_back(variable, std::vector<uint64>()).second;
      for (int k = 0; k < signs.NumElements(); ++k) {
        const uint64 sign = uint64(signs.flat<int64>().data()[k]);
        const auto found = known.insert({sign, known.size()});
        if (found.second) mine.push_back(sign);
        places->flat<int64>().data()[k] = int64(found.first->second);
      }
      const uint64 capacity = uint64(shape.dim_size(0));
      CHECK_LE(mine.size(), capacity);
    }
    CHECK_GT(rows.size(), 0);
    CHECK_EQ(n_, rows.size());
    std::thread([rows, done] {
      for (const auto& [variable, signs] : rows) {
        mutex_lock lock(*variable->mu());
        Tensor* table = variable->tensor();
        const int64 width = table->shape().dim_size(1);
        float* data = table->matrix<float>().data();
        for (size_t k = 0; k < signs.size(); ++k) {
          std::fill_n(data + int64(k) * width, width, float(signs[k]));
        }
      }
      done();
    }).detach();
  }

 private:
  int n_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("DeclaredFill").Device(DEVICE_CPU), DeclaredFillOp);

class DeclaredScaleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    Var* variable = nullptr;
    OP_REQUIRES_OK(c, (LookupResource<Var, true>(c, HandleFromInput(c, 0), &variable)));
    const core::ScopedUnref unref(variable);
    const Tensor* by = nullptr;
    OP_REQUIRES_OK(c, c->input("by", &by));
    auto flat = variable->tensor()->flat<float>();
    for (int64 i = 0; i < flat.size(); ++i) flat(i) *= by->scalar<float>()();
  }
};
REGISTER_KERNEL_BUILDER(Name("DeclaredScale").Device(DEVICE_CPU), DeclaredScaleOp);

}  // namespace tensorflow

// SPDX-License-Identifier: Apache-2.0
// docs/examples/ops/sparse_rows.cc: an embedding whose rows a server keeps.  A pull brings
// the rows of a batch's signs into a small table, and says where each is; a push adds
// gradients to the server's rows, by sign.
#include <map>

#include "row_server.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace tensorflow {
namespace {

REGISTER_OP("RowTable")
    .Output("table: resource")
    .Attr("capacity: int >= 1")
    .Attr("width: int >= 1")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc("A table of capacity rows, which lives as long as the handle.");
REGISTER_OP("RowTableRead")
    .Input("table: resource")
    .Output("rows: float")
    .SetIsStateful()
    .Doc("A copy of the table's rows.");
REGISTER_OP("RowsPull")
    .Input("tables: N * resource")
    .Input("signs: N * int64")
    .Output("places: N * int64")
    .Attr("N: int")
    .SetIsStateful()
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      int n = 0;
      TF_RETURN_IF_ERROR(c->GetAttr("N", &n));
      for (int i = 0; i < n; ++i) {
        shape_inference::ShapeHandle shape;
        TF_RETURN_IF_ERROR(c->WithRank(c->input(n + i), 1, &shape));
        c->set_output(i, shape);
      }
      return Status::OK();
    })
    .Doc("Rows of the signs, each once, in the tables; in which row each sign is.");
REGISTER_OP("RowsPush")
    .Input("signs: N * int64")
    .Input("grads: N * float")
    .Attr("N: int")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .Doc("Adds row i of the gradients to the server's row of the i-th different sign.");

RowServer& server() {
  static RowServer instance;
  return instance;
}

struct RowTable : ResourceBase {
  RowTable(int64 capacity, int64 width) : rows(DT_FLOAT, {capacity, width}) {
    rows.flat<float>().setZero();
  }
  std::string DebugString() const override { return "rows " + rows.shape().DebugString(); }
  mutex lock;
  Tensor rows;
};

class RowTableOp : public OpKernel {
 public:
  explicit RowTableOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("capacity", &capacity_));
    OP_REQUIRES_OK(c, c->GetAttr("width", &width_));
  }
  void Compute(OpKernelContext* c) override {
    Tensor* table = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, {}, &table));
    table->scalar<ResourceHandle>()() = MakeRefCountingHandle(
        c, "rows", new RowTable(capacity_, width_));
  }

 private:
  int64 capacity_ = 0, width_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("RowTable").Device(DEVICE_CPU), RowTableOp);

class RowTableReadOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<RowTable> table;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &table));
    mutex_lock held(table->lock);
    Tensor* rows = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, table->rows.shape(), &rows));
    rows->flat<float>().assign(table->rows.flat<float>());
  }
};
REGISTER_KERNEL_BUILDER(Name("RowTableRead").Device(DEVICE_CPU), RowTableReadOp);

// InvalidArgument where the server has a row of one of these signs in another width.
Status check_width(const RowServer::Rows& rows, const std::vector<uint64>& signs,
                   int64 width) {
  for (uint64 sign : signs) {
    if (RowServer::fits(rows, sign, size_t(width))) continue;
    return errors::InvalidArgument("the row of sign ", sign, " has ", rows.at(sign).size(),
                                   " columns, expected ", width);
  }
  return Status::OK();
}

// The different signs of a vector, in the order in which they come, and the place of each.
struct Signs {
  explicit Signs(const Tensor& all) {
    const auto flat = all.flat<int64>();
    for (int64 i = 0; i < flat.size(); ++i) {
      const auto [found, fresh] = place_of.try_emplace(uint64(flat(i)),
                                                       int64(signs.size()));
      if (fresh) signs.push_back(found->first);
      places.push_back(found->second);
    }
  }
  std::map<uint64, int64> place_of;
  std::vector<uint64> signs;
  std::vector<int64> places;
};

class RowsPullOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    OpInputList handles, signs;
    OpOutputList places;
    OP_REQUIRES_OK_ASYNC(c, c->input_list("tables", &handles), done);
    OP_REQUIRES_OK_ASYNC(c, c->input_list("signs", &signs), done);
    OP_REQUIRES_OK_ASYNC(c, c->output_list("places", &places), done);
    auto parts = std::make_shared<std::vector<Part>>();
    for (int i = 0; i < signs.size(); ++i) {
      Part part{{}, Signs(signs[i])};
      OP_REQUIRES_OK_ASYNC(c, LookupResource(c, HandleFromInput(c, i), &part.table), done);
      const int64 capacity = part.table->rows.dim_size(0);
      const int64 width = part.table->rows.dim_size(1);
      const int64 first = i ? parts->front().table->rows.dim_size(1) : width;
      OP_REQUIRES_ASYNC(c, width == first,
                        errors::InvalidArgument("tables of ", first, " and of ", width,
                                                " columns in one pull"),
                        done);
      OP_REQUIRES_ASYNC(
          c, int64(part.signs.signs.size()) <= capacity,
          errors::ResourceExhausted("a batch with ", part.signs.signs.size(),
                                    " different signs for a table of ", capacity, " rows"),
          done);
      Tensor* out = nullptr;
      OP_REQUIRES_OK_ASYNC(c, places.allocate(i, signs[i].shape(), &out), done);
      std::copy(part.signs.places.begin(), part.signs.places.end(),
                out->flat<int64>().data());
      parts->push_back(std::move(part));
    }
    server().ask([c, parts, done](RowServer::Rows& rows) {
      for (Part& part : *parts) {
        const int64 width = part.table->rows.dim_size(1);
        OP_REQUIRES_OK_ASYNC(c, check_width(rows, part.signs.signs, width), done);
      }
      for (Part& part : *parts) {
        mutex_lock held(part.table->lock);
        auto table = part.table->rows.matrix<float>();
        for (size_t i = 0; i < part.signs.signs.size(); ++i) {
          const auto& row = RowServer::row(rows, part.signs.signs[i], size_t(table.cols()));
          for (int64 k = 0; k < table.cols(); ++k) table(int64(i), k) = row[size_t(k)];
        }
      }
      parts->clear();  // before the caller goes on
      done();
    });
  }

 private:
  struct Part {
    core::RefCountPtr<RowTable> table;
    Signs signs;
  };
};
REGISTER_KERNEL_BUILDER(Name("RowsPull").Device(DEVICE_CPU), RowsPullOp);

class RowsPushOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    OpInputList values, grads;
    OP_REQUIRES_OK_ASYNC(c, c->input_list("signs", &values), done);
    OP_REQUIRES_OK_ASYNC(c, c->input_list("grads", &grads), done);
    auto parts = std::make_shared<std::vector<Part>>();
    for (int i = 0; i < values.size(); ++i) {
      OP_REQUIRES_ASYNC(c, TensorShapeUtils::IsMatrix(grads[i].shape()),
                        errors::InvalidArgument("gradients must be a matrix, got ",
                                                grads[i].shape().DebugString()),
                        done);
      OP_REQUIRES_ASYNC(
          c, grads[i].dim_size(1) == grads[0].dim_size(1),
          errors::InvalidArgument("gradients of ", grads[0].dim_size(1), " and of ",
                                  grads[i].dim_size(1), " columns in one push"),
          done);
      Signs signs(values[i]);
      OP_REQUIRES_ASYNC(
          c, grads[i].dim_size(0) >= int64(signs.signs.size()),
          errors::InvalidArgument("gradients of ", grads[i].dim_size(0), " rows for ",
                                  signs.signs.size(), " different signs"),
          done);
      parts->push_back({std::move(signs.signs), grads[i]});
    }
    server().ask([c, parts, done](RowServer::Rows& rows) {
      for (const Part& part : *parts) {
        const int64 width = part.grad.dim_size(1);
        OP_REQUIRES_OK_ASYNC(c, check_width(rows, part.signs, width), done);
      }
      for (const Part& part : *parts) add(rows, part);
      parts->clear();  // before the caller goes on
      done();
    });
  }

 private:
  struct Part {
    std::vector<uint64> signs;
    Tensor grad;
  };
  static void add(RowServer::Rows& rows, const Part& part) {
    const auto change = part.grad.matrix<float>();
    for (size_t k = 0; k < part.signs.size(); ++k) {
      auto& row = RowServer::row(rows, part.signs[k], size_t(change.cols()));
      for (int64 d = 0; d < change.cols(); ++d) row[size_t(d)] += change(int64(k), d);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("RowsPush").Device(DEVICE_CPU), RowsPushOp);

}  // namespace
}  // namespace tensorflow

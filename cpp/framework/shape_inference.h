// SPDX-License-Identifier: Apache-2.0
// framework/shape_inference.h: what a shape function works with: shapes whose sizes, or
// number of dimensions, may be unknown.
#pragma once

#include <deque>
#include <functional>

#include "framework/node_attrs.h"
#include "framework/tensor.h"

namespace pkg::framework::shape_inference {

class InferenceContext;

namespace detail {
struct DimensionData {
  int64_t value;
};
}  // namespace detail

/// A size of a context, known or not; copying it shares it.
class DimensionHandle {
 public:
  DimensionHandle() = default;
  bool IsSet() const { return data_ != nullptr; }
  bool SameHandle(DimensionHandle other) const { return data_ == other.data_; }

 private:
  friend class InferenceContext;
  explicit DimensionHandle(const detail::DimensionData* data) : data_(data) {}
  const detail::DimensionData* data_ = nullptr;
};

namespace detail {
struct ShapeData {
  bool known_rank;
  std::vector<DimensionHandle> dims;
};
}  // namespace detail

/// A shape of a context.
class ShapeHandle {
 public:
  ShapeHandle() = default;
  bool IsSet() const { return data_ != nullptr; }
  bool SameHandle(ShapeHandle other) const { return data_ == other.data_; }

 private:
  friend class InferenceContext;
  explicit ShapeHandle(const detail::ShapeData* data) : data_(data) {}
  const detail::ShapeData* data_ = nullptr;
};

struct DimensionOrConstant {
  DimensionOrConstant(DimensionHandle handle) : dim(handle) {}
  DimensionOrConstant(int64_t size) : value(size) {}
  DimensionHandle dim;
  int64_t value = -1;
};

/// One call of a shape function.  Handles belong to it.
class InferenceContext {
 public:
  static constexpr int64_t kUnknownDim = -1;
  static constexpr int32_t kUnknownRank = -1;

  /// `values`: what is known of the inputs' values, null where nothing is.
  InferenceContext(NodeAttrs attrs, const std::vector<PartialShape>& inputs,
                   std::vector<const Tensor*> values = {});
  InferenceContext(const InferenceContext&) = delete;
  InferenceContext& operator=(const InferenceContext&) = delete;

  int num_inputs() const { return int(inputs_.size()); }
  int num_outputs() const { return int(outputs_.size()); }
  /// IndexError where there is none.
  ShapeHandle input(int64_t i) const { return inputs_[place("input", i, inputs_.size())]; }
  Status input(std::string_view name, std::vector<ShapeHandle>* list) const;
  ShapeHandle output(int64_t i) const {
    return outputs_[place("output", i, outputs_.size())];
  }
  void set_output(int i, ShapeHandle shape) {
    outputs_[place("output", i, outputs_.size())] = shape;
  }
  Status set_output(std::string_view name, const std::vector<ShapeHandle>& list);
  /// The values of an input; null when they are not known.
  const Tensor* input_tensor(int i) const {
    const size_t at = place("input", i, inputs_.size());
    return at < values_.size() ? values_[at] : nullptr;
  }

  template <class T>
  Status GetAttr(std::string_view name, T* value) const {
    return attrs_.get(name, value);
  }

  int32_t Rank(ShapeHandle s) const {
    return RankKnown(s) ? int32_t(s.data_->dims.size()) : kUnknownRank;
  }
  bool RankKnown(ShapeHandle s) const { return s.data_ && s.data_->known_rank; }
  int64_t Value(DimensionOrConstant d) const {
    return d.dim.data_ ? d.dim.data_->value : d.value;
  }
  bool ValueKnown(DimensionOrConstant d) const { return Value(d) != kUnknownDim; }
  bool FullyDefined(ShapeHandle s) const;
  /// Counts from the end where negative; unknown where the number of dimensions is.
  DimensionHandle Dim(ShapeHandle s, int64_t i);
  DimensionHandle NumElements(ShapeHandle s);

  ShapeHandle UnknownShape() { return make({false, {}}); }
  ShapeHandle UnknownShapeOfRank(int64_t rank);
  DimensionHandle UnknownDim() { return MakeDim(kUnknownDim); }
  DimensionHandle MakeDim(DimensionOrConstant d);
  ShapeHandle MakeShape(const std::vector<DimensionHandle>& dims) {
    return make({true, dims});
  }
  ShapeHandle MakeShape(std::initializer_list<DimensionOrConstant> dims);
  ShapeHandle Scalar() { return make({true, {}}); }
  ShapeHandle Vector(DimensionOrConstant d) { return MakeShape({d}); }
  ShapeHandle Matrix(DimensionOrConstant a, DimensionOrConstant b) {
    return MakeShape({a, b});
  }
  Status MakeShapeFromPartialTensorShape(const PartialTensorShape& shape, ShapeHandle* out);
  Status MakeShapeFromTensorShape(const TensorShape& shape, ShapeHandle* out) {
    return MakeShapeFromPartialTensorShape(shape, out);
  }
  /// Of the values of an input, where they are known.
  Status MakeShapeFromShapeTensor(int input, ShapeHandle* out);

  // Each makes `out` what is known afterwards, or says in which way it cannot be.
  Status WithRank(ShapeHandle s, int64_t rank, ShapeHandle* out);
  Status WithRankAtLeast(ShapeHandle s, int64_t rank, ShapeHandle* out);
  Status WithRankAtMost(ShapeHandle s, int64_t rank, ShapeHandle* out);
  Status WithValue(DimensionHandle d, int64_t value, DimensionHandle* out);
  Status Merge(DimensionHandle a, DimensionHandle b, DimensionHandle* out);
  Status Merge(ShapeHandle a, ShapeHandle b, ShapeHandle* out);
  Status MergePrefix(ShapeHandle s, ShapeHandle prefix, ShapeHandle* s_out,
                     ShapeHandle* prefix_out);
  Status Subshape(ShapeHandle s, int64_t start, ShapeHandle* out) {
    return Subshape(s, start, std::numeric_limits<int64_t>::max(), out);
  }
  Status Subshape(ShapeHandle s, int64_t start, int64_t end, ShapeHandle* out);
  Status Concatenate(ShapeHandle a, ShapeHandle b, ShapeHandle* out);
  Status ReplaceDim(ShapeHandle s, int64_t i, DimensionHandle d, ShapeHandle* out);
  Status Add(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
  Status Subtract(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
  Status Multiply(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
  Status Divide(DimensionHandle a, DimensionOrConstant b, bool evenly,
                DimensionHandle* out);
  Status Min(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);
  Status Max(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out);

  /// "[2,?]", "?" of a shape of unknown rank.
  std::string DebugString(ShapeHandle s) const;
  std::string DebugString(DimensionHandle d) const;
  PartialShape partial(ShapeHandle s) const;

 private:
  size_t place(const char* what, int64_t i, size_t n) const;
  ShapeHandle make(pkg::framework::shape_inference::detail::ShapeData data);
  Status arithmetic(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out,
                    const char* sign, bool (*f)(int64_t, int64_t, int64_t*));

  NodeAttrs attrs_;
  std::deque<detail::DimensionData> dims_;
  std::deque<detail::ShapeData> shapes_;
  std::vector<ShapeHandle> inputs_, outputs_;
  std::vector<const Tensor*> values_;
};

using ShapeFn = std::function<Status(InferenceContext*)>;

// Shape functions that many ops have.
Status UnchangedShape(InferenceContext* c);
Status UnchangedShapeWithRank(InferenceContext* c, int32_t rank);
Status UnchangedShapeWithRankAtLeast(InferenceContext* c, int32_t rank);
Status MergeBothInputsShapeFn(InferenceContext* c);
Status NoOutputs(InferenceContext* c);
Status ScalarShape(InferenceContext* c);
Status UnknownShape(InferenceContext* c);
Status MatMulShape(InferenceContext* c);
Status BiasAddShape(InferenceContext* c);
Status BroadcastBinaryOpShapeFn(InferenceContext* c);
Status ExplicitShape(InferenceContext* c);

}  // namespace pkg::framework::shape_inference

namespace pkg::framework {
using OpShapeInferenceFn = shape_inference::ShapeFn;
}

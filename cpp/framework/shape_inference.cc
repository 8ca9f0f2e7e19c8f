// SPDX-License-Identifier: Apache-2.0
// framework/shape_inference.cc: arithmetic with shapes that are known in part.
#include "framework/shape_inference.h"

#include <numeric>

namespace pkg::framework::shape_inference {

InferenceContext::InferenceContext(NodeAttrs attrs, const std::vector<PartialShape>& inputs,
                                   std::vector<const Tensor*> values)
    : attrs_(attrs), values_(std::move(values)) {
  for (const PartialShape& shape : inputs) {
    inputs_.emplace_back();
    PKG_ASSERT(MakeShapeFromPartialTensorShape(shape, &inputs_.back()).ok());
  }
  DataTypeVector types;
  for (const ArgDef& output : attrs_.def().outputs) {
    append_types(attrs_.def(), output, attrs_.values(), &types);
  }
  outputs_.resize(types.size());
}

size_t InferenceContext::place(const char* what, int64_t i, size_t n) const {
  PKG_CHECK(i >= 0 && size_t(i) < n, IndexError, "[", attrs_.def().name,
            "] the shape function asked for ", what, " ", i, " of ", n, ".");
  return size_t(i);
}

ShapeHandle InferenceContext::make(detail::ShapeData data) {
  shapes_.push_back(std::move(data));
  return ShapeHandle(&shapes_.back());
}

namespace {
// Where the tensors of an argument are among all.
bool find_range(const NodeAttrs& attrs, const std::vector<ArgDef>& args,
                std::string_view name, size_t* begin, size_t* end) {
  size_t at = 0;
  for (const ArgDef& arg : args) {
    const auto n = size_t(count_of(attrs.def(), arg, attrs.values()));
    if (arg.name == name) return *begin = at, *end = at + n, true;
    at += n;
  }
  return false;
}
}  // namespace

Status InferenceContext::input(std::string_view name,
                               std::vector<ShapeHandle>* list) const {
  size_t begin, end;
  if (!find_range(attrs_, attrs_.def().inputs, name, &begin, &end)) {
    return errors::InvalidArgument("Unknown input name: ", name);
  }
  list->assign(inputs_.begin() + int64_t(begin), inputs_.begin() + int64_t(end));
  return Status();
}

Status InferenceContext::set_output(std::string_view name,
                                    const std::vector<ShapeHandle>& list) {
  size_t begin, end;
  if (!find_range(attrs_, attrs_.def().outputs, name, &begin, &end)) {
    return errors::InvalidArgument("Unknown output name: ", name);
  }
  if (list.size() != end - begin) {
    return errors::InvalidArgument("Must have exactly ", end - begin, " shapes for '", name,
                                   "', got ", list.size());
  }
  std::copy(list.begin(), list.end(), outputs_.begin() + int64_t(begin));
  return Status();
}

bool InferenceContext::FullyDefined(ShapeHandle s) const {
  return RankKnown(s) && std::all_of(s.data_->dims.begin(), s.data_->dims.end(),
                                     [this](DimensionHandle d) { return ValueKnown(d); });
}

DimensionHandle InferenceContext::Dim(ShapeHandle s, int64_t i) {
  if (!RankKnown(s)) return UnknownDim();
  const auto rank = int64_t(s.data_->dims.size());
  PKG_CHECK(i >= -rank && i < rank, IndexError, "[", attrs_.def().name,
            "] the shape function asked for dimension ", i, " of a shape ", DebugString(s),
            ".");
  return s.data_->dims[size_t(i < 0 ? i + rank : i)];
}

DimensionHandle InferenceContext::NumElements(ShapeHandle s) {
  if (!RankKnown(s)) return UnknownDim();
  const PartialShape shape = partial(s);
  const bool zero = std::find(shape.sizes.begin(), shape.sizes.end(), 0) !=
                    shape.sizes.end();
  if (zero) return MakeDim(0);
  return FullyDefined(s) ? MakeDim(Shape(shape.sizes).numel()) : UnknownDim();
}

ShapeHandle InferenceContext::UnknownShapeOfRank(int64_t rank) {
  std::vector<DimensionHandle> dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(UnknownDim());
  return MakeShape(dims);
}

DimensionHandle InferenceContext::MakeDim(DimensionOrConstant d) {
  if (d.dim.IsSet()) return d.dim;
  PKG_CHECK(d.value >= -1, ValueError, "[", attrs_.def().name,
            "] the shape function made a size of ", d.value, ".");
  dims_.push_back({d.value});
  return DimensionHandle(&dims_.back());
}

ShapeHandle InferenceContext::MakeShape(std::initializer_list<DimensionOrConstant> dims) {
  std::vector<DimensionHandle> made;
  for (const DimensionOrConstant& d : dims) made.push_back(MakeDim(d));
  return MakeShape(made);
}

Status InferenceContext::MakeShapeFromPartialTensorShape(const PartialTensorShape& shape,
                                                         ShapeHandle* out) {
  if (!shape.known_rank) return *out = UnknownShape(), Status();
  std::vector<DimensionHandle> dims;
  for (int64_t size : shape.sizes) dims.push_back(MakeDim(size));
  *out = MakeShape(dims);
  return Status();
}

Status InferenceContext::MakeShapeFromShapeTensor(int i, ShapeHandle* out) {
  ShapeHandle vector;
  PKG_RETURN_IF_ERROR(WithRank(input(i), 1, &vector));
  const Tensor* tensor = input_tensor(i);
  if (!tensor) {
    const int64_t rank = Value(Dim(vector, 0));
    *out = rank < 0 ? UnknownShape() : UnknownShapeOfRank(rank);
    return Status();
  }
  std::vector<DimensionHandle> dims;
  for (int64_t k = 0; k < tensor->NumElements(); ++k) {
    const int64_t size = tensor->dtype() == DT_INT32 ? tensor->flat<int32>()(k)
                                                     : tensor->flat<int64>()(k);
    if (size < -1) {
      return errors::InvalidArgument("Invalid value in tensor used for shape: ", size);
    }
    dims.push_back(MakeDim(size));
  }
  *out = MakeShape(dims);
  return Status();
}

Status InferenceContext::WithRank(ShapeHandle s, int64_t rank, ShapeHandle* out) {
  if (!RankKnown(s)) return *out = UnknownShapeOfRank(rank), Status();
  if (Rank(s) == rank) return *out = s, Status();
  return errors::InvalidArgument("Shape must be rank ", rank, " but is rank ", Rank(s));
}
Status InferenceContext::WithRankAtLeast(ShapeHandle s, int64_t rank, ShapeHandle* out) {
  if (!RankKnown(s) || Rank(s) >= rank) return *out = s, Status();
  return errors::InvalidArgument("Shape must be at least rank ", rank, " but is rank ",
                                 Rank(s));
}
Status InferenceContext::WithRankAtMost(ShapeHandle s, int64_t rank, ShapeHandle* out) {
  if (!RankKnown(s) || Rank(s) <= rank) return *out = s, Status();
  return errors::InvalidArgument("Shape must be at most rank ", rank, " but is rank ",
                                 Rank(s));
}
Status InferenceContext::WithValue(DimensionHandle d, int64_t value, DimensionHandle* out) {
  if (Value(d) == value) return *out = d, Status();
  if (!ValueKnown(d)) return *out = MakeDim(value), Status();
  return errors::InvalidArgument("Dimension must be ", value, " but is ", Value(d));
}

Status InferenceContext::Merge(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
  if (!ValueKnown(b) || Value(a) == Value(b)) return *out = a, Status();
  if (!ValueKnown(a)) return *out = b, Status();
  return errors::InvalidArgument("Dimensions must be equal, but are ", Value(a), " and ",
                                 Value(b));
}

Status InferenceContext::Merge(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
  if (!RankKnown(b)) return *out = a, Status();
  if (!RankKnown(a)) return *out = b, Status();
  if (Rank(a) != Rank(b)) {
    return errors::InvalidArgument("Shapes must be equal rank, but are ", Rank(a), " and ",
                                   Rank(b));
  }
  std::vector<DimensionHandle> dims;
  for (int64_t i = 0; i < Rank(a); ++i) {
    DimensionHandle merged;
    const Status one = Merge(Dim(a, i), Dim(b, i), &merged);
    if (!one.ok()) {
      return errors::InvalidArgument("Dimension ", i, " in both shapes must be equal, but ",
                                     "are ", Value(Dim(a, i)), " and ", Value(Dim(b, i)),
                                     ". Shapes are ", DebugString(a), " and ",
                                     DebugString(b), ".");
    }
    dims.push_back(merged);
  }
  *out = MakeShape(dims);
  return Status();
}

Status InferenceContext::MergePrefix(ShapeHandle s, ShapeHandle prefix, ShapeHandle* s_out,
                                     ShapeHandle* prefix_out) {
  if (!RankKnown(prefix) || !RankKnown(s)) {
    *s_out = s;
    *prefix_out = prefix;
    return Status();
  }
  PKG_RETURN_IF_ERROR(WithRankAtLeast(s, Rank(prefix), &s));
  ShapeHandle head, tail;
  PKG_RETURN_IF_ERROR(Subshape(s, 0, Rank(prefix), &head));
  PKG_RETURN_IF_ERROR(Subshape(s, Rank(prefix), &tail));
  PKG_RETURN_IF_ERROR(Merge(head, prefix, prefix_out));
  return Concatenate(*prefix_out, tail, s_out);
}

Status InferenceContext::Subshape(ShapeHandle s, int64_t start, int64_t end,
                                  ShapeHandle* out) {
  if (!RankKnown(s)) {
    if (start == 0 && end == std::numeric_limits<int64_t>::max()) return *out = s, Status();
    *out = start >= 0 && end >= start && end != std::numeric_limits<int64_t>::max()
               ? UnknownShapeOfRank(end - start)
               : UnknownShape();
    return Status();
  }
  const int64_t rank = Rank(s);
  const int64_t from = start < 0 ? start + rank : std::min(start, rank);
  const int64_t to = end < 0 ? end + rank : std::min(end, rank);
  if (from < 0 || to < 0 || from > to) {
    return errors::InvalidArgument("Subshape must have computed start <= end, but is ",
                                   from, " and ", to, " (computed from start ", start,
                                   " and end ", end, " over shape with rank ", rank, ")");
  }
  *out = MakeShape(std::vector<DimensionHandle>(s.data_->dims.begin() + from,
                                                s.data_->dims.begin() + to));
  return Status();
}

Status InferenceContext::Concatenate(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
  if (!RankKnown(a) || !RankKnown(b)) return *out = UnknownShape(), Status();
  std::vector<DimensionHandle> dims = a.data_->dims;
  dims.insert(dims.end(), b.data_->dims.begin(), b.data_->dims.end());
  *out = MakeShape(dims);
  return Status();
}

Status InferenceContext::ReplaceDim(ShapeHandle s, int64_t i, DimensionHandle d,
                                    ShapeHandle* out) {
  if (!RankKnown(s)) return *out = UnknownShape(), Status();
  const int64_t rank = Rank(s);
  if (i < -rank || i >= rank) {
    return errors::InvalidArgument("Out of range dim_index ", i, " for shape with ", rank,
                                   " dimensions");
  }
  std::vector<DimensionHandle> dims = s.data_->dims;
  dims[size_t(i < 0 ? i + rank : i)] = d;
  *out = MakeShape(dims);
  return Status();
}

Status InferenceContext::arithmetic(DimensionHandle a, DimensionOrConstant b,
                                    DimensionHandle* out, const char* sign,
                                    bool (*f)(int64_t, int64_t, int64_t*)) {
  int64_t result = kUnknownDim;
  if (ValueKnown(a) && ValueKnown(b)) {
    if (f(Value(a), Value(b), &result) || result < 0) {
      return errors::InvalidArgument("Dimension is no size: ", Value(a), " ", sign, " ",
                                     Value(b));
    }
  }
  *out = MakeDim(result);
  return Status();
}
Status InferenceContext::Add(DimensionHandle a, DimensionOrConstant b,
                             DimensionHandle* out) {
  return arithmetic(a, b, out, "+", [](int64_t x, int64_t y, int64_t* z) {
    return __builtin_add_overflow(x, y, z);
  });
}
Status InferenceContext::Subtract(DimensionHandle a, DimensionOrConstant b,
                                  DimensionHandle* out) {
  return arithmetic(a, b, out, "-", [](int64_t x, int64_t y, int64_t* z) {
    return __builtin_sub_overflow(x, y, z);
  });
}
Status InferenceContext::Multiply(DimensionHandle a, DimensionOrConstant b,
                                  DimensionHandle* out) {
  if (Value(a) == 0 || Value(b) == 0) return *out = MakeDim(0), Status();
  return arithmetic(a, b, out, "*", [](int64_t x, int64_t y, int64_t* z) {
    return __builtin_mul_overflow(x, y, z);
  });
}
Status InferenceContext::Divide(DimensionHandle a, DimensionOrConstant b, bool evenly,
                                DimensionHandle* out) {
  if (ValueKnown(b) && Value(b) <= 0) {
    return errors::InvalidArgument("Divisor must be positive but is ", Value(b));
  }
  if (evenly && ValueKnown(a) && ValueKnown(b) && Value(a) % Value(b) != 0) {
    return errors::InvalidArgument("Dimension size must be evenly divisible by ", Value(b),
                                   " but is ", Value(a));
  }
  return arithmetic(a, b, out, "/",
                    [](int64_t x, int64_t y, int64_t* z) { return *z = x / y, false; });
}
Status InferenceContext::Min(DimensionHandle a, DimensionOrConstant b,
                             DimensionHandle* out) {
  if (Value(a) == 0 || Value(b) == 0) return *out = MakeDim(0), Status();
  return arithmetic(a, b, out, "min", [](int64_t x, int64_t y, int64_t* z) {
    return *z = std::min(x, y), false;
  });
}
Status InferenceContext::Max(DimensionHandle a, DimensionOrConstant b,
                             DimensionHandle* out) {
  return arithmetic(a, b, out, "max", [](int64_t x, int64_t y, int64_t* z) {
    return *z = std::max(x, y), false;
  });
}

PartialShape InferenceContext::partial(ShapeHandle s) const {
  PartialShape shape;
  shape.known_rank = RankKnown(s);
  if (!shape.known_rank) return shape;
  for (DimensionHandle d : s.data_->dims) shape.sizes.push_back(Value(d));
  return shape;
}
std::string InferenceContext::DebugString(ShapeHandle s) const {
  return RankKnown(s) ? partial(s).str() : "?";
}
std::string InferenceContext::DebugString(DimensionHandle d) const {
  return ValueKnown(d) ? str(Value(d)) : "?";
}

Status UnchangedShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return Status();
}
Status UnchangedShapeWithRank(InferenceContext* c, int32_t rank) {
  ShapeHandle shape;
  PKG_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &shape));
  c->set_output(0, shape);
  return Status();
}
Status UnchangedShapeWithRankAtLeast(InferenceContext* c, int32_t rank) {
  ShapeHandle shape;
  PKG_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), rank, &shape));
  c->set_output(0, shape);
  return Status();
}
Status MergeBothInputsShapeFn(InferenceContext* c) {
  ShapeHandle shape;
  PKG_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &shape));
  c->set_output(0, shape);
  return Status();
}
Status NoOutputs(InferenceContext*) { return Status(); }
Status ScalarShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return Status();
}
Status UnknownShape(InferenceContext* c) {
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->UnknownShape());
  return Status();
}
Status MatMulShape(InferenceContext* c) {
  ShapeHandle a, b;
  bool transpose_a = false, transpose_b = false;
  PKG_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &a));
  PKG_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &b));
  PKG_RETURN_IF_ERROR(c->GetAttr("transpose_a", &transpose_a));
  PKG_RETURN_IF_ERROR(c->GetAttr("transpose_b", &transpose_b));
  DimensionHandle inner;
  PKG_RETURN_IF_ERROR(
      c->Merge(c->Dim(a, transpose_a ? 0 : 1), c->Dim(b, transpose_b ? 1 : 0), &inner));
  c->set_output(0,
                c->Matrix(c->Dim(a, transpose_a ? 1 : 0), c->Dim(b, transpose_b ? 0 : 1)));
  return Status();
}
Status BiasAddShape(InferenceContext* c) {
  ShapeHandle x, bias;
  DimensionHandle last;
  PKG_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
  PKG_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &bias));
  if (!c->RankKnown(x)) return c->set_output(0, x), Status();
  PKG_RETURN_IF_ERROR(c->Merge(c->Dim(x, -1), c->Dim(bias, 0), &last));
  PKG_RETURN_IF_ERROR(c->ReplaceDim(x, -1, last, &x));
  c->set_output(0, x);
  return Status();
}
Status BroadcastBinaryOpShapeFn(InferenceContext* c) {
  const ShapeHandle a = c->input(0), b = c->input(1);
  if (!c->RankKnown(a) || !c->RankKnown(b)) {
    c->set_output(0, c->UnknownShape());
    return Status();
  }
  const int64_t rank_a = c->Rank(a), rank_b = c->Rank(b), rank = std::max(rank_a, rank_b);
  std::vector<DimensionHandle> dims;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t at_a = i - (rank - rank_a), at_b = i - (rank - rank_b);
    const DimensionHandle x = at_a < 0 ? c->MakeDim(1) : c->Dim(a, at_a);
    const DimensionHandle y = at_b < 0 ? c->MakeDim(1) : c->Dim(b, at_b);
    DimensionHandle found;
    if (c->Value(x) == 1) found = y;
    else if (c->Value(y) == 1) found = x;
    else if (!c->ValueKnown(x)) found = c->ValueKnown(y) ? y : c->UnknownDim();
    else if (!c->ValueKnown(y)) found = x;
    else PKG_RETURN_IF_ERROR(c->Merge(x, y, &found));
    dims.push_back(found);
  }
  c->set_output(0, c->MakeShape(dims));
  return Status();
}
Status ExplicitShape(InferenceContext* c) {
  PartialTensorShape shape;
  PKG_RETURN_IF_ERROR(c->GetAttr("shape", &shape));
  ShapeHandle made;
  PKG_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shape, &made));
  c->set_output(0, made);
  return Status();
}

}  // namespace pkg::framework::shape_inference

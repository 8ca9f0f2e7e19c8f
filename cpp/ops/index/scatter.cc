// SPDX-License-Identifier: Apache-2.0
// ops/index/scatter.cc: elements chosen one by one along a dimension (gather), written there
// (scatter), or chosen by a mask.
#include "base/number_fits.h"
#include "ops/index/slices.h"
#include "ops/op.h"
#include "ops/pointwise/choice.h"

namespace pkg::ops {
namespace {

constexpr DTypeSet kIndexDTypes{DType::Int32, DType::Int64};

// Here a tensor of no dimension is like a vector of its element.
int64_t dims_of(const Tensor& t) { return std::max<int64_t>(t.ndim(), 1); }
int64_t size_of(const Tensor& t, int64_t d) { return t.ndim() == 0 ? 1 : t.size(d); }

// Sizes of index fit self, except along dim where it may be shorter or longer; an index
// without elements fits everything.
void check_index(const char* op, const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t at = wrap_dim(op, dim, self.ndim());
  if (index.numel() == 0) return;
  PKG_CHECK(dims_of(index) == dims_of(self), RuntimeError, "[", op,
            "] Index tensor must have "
            "the same number of dimensions as input tensor (",
            index.ndim(), " and ", self.ndim(), ")");
  for (int64_t d = 0; d < self.ndim(); ++d) {
    PKG_CHECK(d == at || size_of(index, d) <= self.size(d), RuntimeError, "[", op,
              "] Size does not match at dimension ", d, " expected index ", index.sizes(),
              " to be no larger than self ", self.sizes(), " apart from dimension ", at);
  }
}

Spec scatter_rule(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_index("scatter", self, dim, index);
  const bool number = src.impl()->wrapped_number;
  PKG_CHECK(number || src.dtype() == self.dtype(), RuntimeError,
            "[scatter] expected "
            "self.dtype to be equal to src.dtype, got ",
            self.dtype(), " and ", src.dtype());
  if (number) check_fits("scatter", item(src), self.dtype());
  const bool any = number || index.numel() == 0;
  bool smaller = any || dims_of(src) == dims_of(index);
  for (int64_t d = 0; smaller && !any && d < dims_of(index); ++d) {
    smaller = size_of(index, d) <= size_of(src, d);
  }
  PKG_CHECK(smaller, RuntimeError, "[scatter] expected index ", index.sizes(),
            " to be no larger than src ", src.sizes());
  return self.spec();
}

// Gradient of src: gathered, with zeros for elements that index does not reach.
Tensor src_gradient(const Tensor& g, int64_t dim, const Tensor& index, const Shape& want) {
  Tensor part = gather(g, dim, index);
  if (part.sizes() == want) return part;
  if (part.numel() == 0) return zeros_of(want, g);
  if (want.empty()) return reshape(part, want);
  if (part.ndim() == 0) part = reshape(part, Shape{1});
  Shape padding;
  for (size_t d = want.size(); d-- > 0;) {
    padding.push_back(0);
    padding.push_back(want[d] - part.sizes()[d]);
  }
  return constant_pad_nd(part, padding, 0);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("gather(Tensor self, int dim, Tensor index) -> Tensor")
      .doc("out[i][j] = self[index[i][j]][j] for dim 0, and so on.")
      .reads_part()
      .dtypes("index", kIndexDTypes)
      .shape([](const Tensor& self, int64_t dim, const Tensor& index) {
        check_index("gather", self, dim, index);
        return Spec{index.sizes(), self.dtype(), self.device()};
      })
      .derivative(
          "self", "self.shape dim index",
          [](const Tensor& g, const Shape& sizes, int64_t dim, const Tensor& index) {
            return scatter_add(zeros_to_add_to(sizes, g), dim, index, g);
          });
  m.def("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor")
      .doc("gather with broadcasting apart from dim; without dim from the flattened "
           "tensor.")
      .composite([](const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
        const auto counted = [&](int64_t size) {  // negative ones from the end
          return where(lt(indices, Tensor(0)), add(indices, Tensor(size)), indices);
        };
        if (!dim) {
          return gather(reshape(self, Shape{self.numel()}), 0,
                        reshape(counted(self.numel()), Shape{indices.numel()}));
        }
        PKG_CHECK(self.ndim() == indices.ndim(), RuntimeError,
                  "[take_along_dim] input and "
                  "indices should have the same number of dimensions, but got ",
                  self.ndim(), " and ", indices.ndim());
        PKG_CHECK(self.ndim() > 0, IndexError, "[take_along_dim] Dimension specified as ",
                  *dim, " but tensor has no dimensions");
        const auto d = size_t(wrap_dim("take_along_dim", *dim, self.ndim()));
        Shape from = self.sizes(), at = indices.sizes();
        from[d] = at[d] = 1;
        Shape common = broadcast_shapes("take_along_dim", from, at), wide = common;
        common[d] = self.sizes()[d];
        wide[d] = indices.sizes()[d];
        return gather(expand(self, common), int64_t(d),
                      expand(counted(self.size(int64_t(d))), wide));
      });
  m.def("_scatter(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")
      .doc("self with out[index[i][j]][j] = src[i][j] for dim 0; the last of equals wins.")
      .dtypes("index", kIndexDTypes)
      .shape(scatter_rule)
      .derivative("self", "dim index",
                  [](const Tensor& g, int64_t dim, const Tensor& index) {
                    return scatter(g, dim, index, Tensor(0));
                  })
      .derivative("src", "dim index src.shape", src_gradient)
      .in_place();
  m.def("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")
      .doc("self with out[index[i][j]][j] += src[i][j] for dim 0, and so on.")
      .dtypes("index", kIndexDTypes)
      .shape(scatter_rule)
      .derivative("self", "", [](auto& g) { return g; })
      .derivative("src", "dim index src.shape", src_gradient)
      .in_place();
  // PyTorch says src=tensor but value=number, so there are two overloads of one op.
  m.def("scatter(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")
      .doc("self with out[index[i][j]][j] = src[i][j] for dim 0; the last of equals wins.")
      .composite([](const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src) { return scatter(self, dim, index, src); });
  m.def("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")
      .doc("self with one value written along dim at index.")
      .composite([](const Tensor& self, int64_t dim, const Tensor& index,
                    const Scalar& value) { return scatter(self, dim, index, value); });
  m.def("scatter_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)")
      .doc("In-place form of scatter.")
      .composite([](const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& src) { return scatter_(self, dim, index, src); });
  m.def("scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) "
        "-> Tensor(a!)")
      .doc("In-place form of scatter.")
      .composite([](const Tensor& self, int64_t dim, const Tensor& index,
                    const Scalar& value) { return scatter_(self, dim, index, value); });
  m.def("masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor")
      .doc("value (a number or 0-d tensor) where mask is true, else self.")
      .pointwise()
      .keeps_order(false)  // as PyTorch's
      .dtypes("mask", DType::Bool)
      .shape([](const Tensor& self, const Tensor& mask, const Tensor& value) {
        PKG_CHECK(value.ndim() == 0, RuntimeError,
                  "[masked_fill] only supports a "
                  "0-dimensional value tensor, but got tensor with ",
                  value.ndim(), " dimension(s).");
        Spec spec = self.spec();
        spec.sizes = broadcast_shapes("masked_fill", self.sizes(), mask.sizes());
        if (value.impl()->wrapped_number) {
          check_fits("masked_fill", item(value), self.dtype());
        }
        return spec;
      })
      .cpu([](Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
        check_fits("masked_fill", item(value), out.dtype());
        choose(out, mask, value, self);
      })
      .derivative("self", "mask", [](auto& g, auto& mask) { return where(mask, 0, g); })
      .derivative("value", "mask", [](auto& g, auto& mask) { return where(mask, g, 0); })
      .in_place();
}

}  // namespace
}  // namespace pkg::ops

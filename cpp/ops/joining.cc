// SPDX-License-Identifier: Apache-2.0
// ops/joining.cc: concatenation and its inverse.
#include "ops/elementwise.h"

namespace pkg::ops {
namespace {

const Op<Tensor(const TensorList&, int64_t)> cat_op{"cat"};

DType common_type(const TensorList& tensors) {
  PKG_CHECK(!tensors.empty(), RuntimeError, "[cat] expected a non-empty list of Tensors");
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = promote(dtype, t.dtype());
  return dtype;
}

Spec cat_rule(const TensorList& tensors, int64_t dim) {
  Spec spec{{}, common_type(tensors), tensors[0].device()};
  spec.sizes = tensors[0].sizes();
  PKG_CHECK(!spec.sizes.empty(), RuntimeError,
            "[cat] zero-dimensional tensor (at position 0) cannot be concatenated");
  const auto d = size_t(wrap_dim("cat", dim, int64_t(spec.sizes.size())));
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Shape sizes = tensors[i].sizes();
    PKG_CHECK(sizes.size() == spec.sizes.size(), RuntimeError,
              "[cat] Tensors must have same number of dimensions: got ",
              spec.sizes.size(), " and ", sizes.size());
    total += sizes[d];
    sizes[d] = spec.sizes[d];
    PKG_CHECK(sizes == spec.sizes, RuntimeError, "[cat] Sizes of tensors must match "
              "except in dimension ", d, ". Expected ", spec.sizes, " but got ",
              tensors[i].sizes(), " for tensor number ", i, " in the list.");
  }
  spec.sizes[d] = total;
  return spec;
}

void cat_kernel(Tensor& out, const TensorList& tensors, int64_t dim) {
  const auto d = size_t(wrap_dim("cat", dim, out.ndim()));
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    const Tensor part =
        alias(out, t.sizes(), out.strides(), out.offset() + at * out.strides()[d]);
    copy_into(part, t);
    at += t.sizes()[d];
  }
}

TensorList cat_gradient(const GradContext& g) {
  // The list was not saved; its sizes along dim are those of the specs.
  const auto d = wrap_dim("cat", g.arg<int64_t>(1), g.grad().ndim());
  TensorList grads;
  int64_t at = 0;
  for (size_t i = 0; i + 1 < g.specs.size(); ++i) {
    const int64_t n = g.specs[i].sizes[size_t(d)];
    grads.push_back(slice(g.grad(), d, at, at + n, 1));
    at += n;
  }
  return grads;
}

TensorList split(const Tensor& self, int64_t size, int64_t dim) {
  PKG_CHECK(size > 0, RuntimeError, "[split] split_size must be positive, got ", size);
  TensorList parts;
  const int64_t total = self.size(dim);
  for (int64_t at = 0; at < std::max<int64_t>(total, 1); at += size) {
    parts.push_back(slice(self, dim, at, std::min(at + size, total), 1));
  }
  return parts;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("cat(Tensor[] tensors, int dim=0) -> Tensor")
      .doc("Tensors one after the other along an existing dimension.")
      .shape(cat_rule)
      .cpu(cat_kernel)
      .grad("", cat_gradient);
  m.def("stack(Tensor[] tensors, int dim=0) -> Tensor")
      .doc("Tensors side by side along a new dimension.")
      .composite([](const TensorList& tensors, int64_t dim) {
        PKG_CHECK(!tensors.empty(), RuntimeError,
                  "[stack] expected a non-empty list of Tensors");
        TensorList raised;
        for (const Tensor& t : tensors) {
          PKG_CHECK(t.sizes() == tensors[0].sizes(), RuntimeError, "[stack] expects each "
                    "tensor to be equal size, but got ", tensors[0].sizes(), " and ",
                    t.sizes());
          raised.push_back(unsqueeze(t, dim));
        }
        return cat_op(raised, wrap_dim("stack", dim, tensors[0].ndim() + 1));
      });
  m.def("split(Tensor self, int split_size, int dim=0) -> Tensor[]")
      .doc("Views of split_size along dim; the last may be smaller.")
      .composite(split);
  m.def("chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")
      .doc("At most `chunks` views of equal size along dim.")
      .composite([](const Tensor& self, int64_t chunks, int64_t dim) {
        PKG_CHECK(chunks > 0, RuntimeError, "[chunk] expects `chunks` to be greater than "
                  "0, got: ", chunks);
        return split(self, std::max<int64_t>(1, (self.size(dim) + chunks - 1) / chunks),
                     dim);
      });
  m.def("unbind(Tensor self, int dim=0) -> Tensor[]")
      .doc("The slices at every index of dim.")
      .composite([](const Tensor& self, int64_t dim) {
        TensorList parts;
        for (int64_t i = 0; i < self.size(dim); ++i) parts.push_back(select(self, dim, i));
        return parts;
      });
}

}  // namespace
}  // namespace pkg::ops

// SPDX-License-Identifier: Apache-2.0
// ops/shape/joining.cc: concatenation and its inverse.
#include "ops/op.h"
#include "ops/shape/move_cost.h"

namespace pkg::ops {
namespace {

// An empty vector joins anything, as it always could in PyTorch.
bool is_nothing(const Tensor& t) { return t.ndim() == 1 && t.size(0) == 0; }

Spec cat_rule(const TensorList& tensors, int64_t dim) {
  PKG_CHECK(!tensors.empty(), RuntimeError, "[cat] expected a non-empty list of Tensors");
  size_t first = 0;
  while (first + 1 < tensors.size() && is_nothing(tensors[first])) ++first;
  Spec spec = tensors[first].spec();
  PKG_CHECK(!spec.sizes.empty(), RuntimeError,
            "[cat] zero-dimensional tensor (at position ", first,
            ") cannot be concatenated");
  const auto d = size_t(wrap_dim("cat", dim, int64_t(spec.sizes.size())));
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    spec.dtype = promote(spec.dtype, tensors[i].dtype());
    if (is_nothing(tensors[i])) continue;
    Shape sizes = tensors[i].sizes();
    PKG_CHECK(sizes.size() == spec.sizes.size(), RuntimeError,
              "[cat] Tensors must have same number of dimensions: got ", spec.sizes.size(),
              " and ", sizes.size());
    total = Checked(total) + sizes[d];
    sizes[d] = spec.sizes[d];
    PKG_CHECK(sizes == spec.sizes, RuntimeError,
              "[cat] Sizes of tensors must match "
              "except in dimension ",
              d, ". Expected ", spec.sizes, " but got ", tensors[i].sizes(),
              " for tensor number ", i, " in the list.");
  }
  spec.sizes[d] = total;
  return spec;
}

TensorList cat_gradient(const GradContext& g) {
  const auto dim = g.arg<int64_t>(1);
  // The list was not saved; its sizes along dim are those of the specs.
  const auto d = wrap_dim("cat", dim, g.grad().ndim());
  TensorList grads;
  int64_t at = 0;
  for (size_t i = 0; i + 1 < g.specs.size(); ++i) {
    const Shape& sizes = g.specs[i].sizes;
    if (sizes == Shape{0}) {
      grads.push_back(zeros_of(sizes, g.grad()));
      continue;
    }
    const int64_t n = sizes[size_t(d)];
    grads.push_back(slice(g.grad(), d, at, at + n, 1));
    at += n;
  }
  return grads;
}

Spec stack_rule(const TensorList& tensors, int64_t dim) {
  PKG_CHECK(!tensors.empty(), RuntimeError, "[stack] expected a non-empty list of Tensors");
  Spec spec = tensors[0].spec();
  for (const Tensor& t : tensors) {
    PKG_CHECK(t.sizes() == tensors[0].sizes(), RuntimeError,
              "[stack] expects each tensor to be equal size, but got ", tensors[0].sizes(),
              " and ", t.sizes());
    spec.dtype = promote(spec.dtype, t.dtype());
  }
  const auto d = wrap_dim("stack", dim, tensors[0].ndim() + 1);
  spec.sizes.insert(size_t(d), int64_t(tensors.size()));
  return spec;
}

TensorList stack_gradient(const GradContext& g) {
  const auto dim = g.arg<int64_t>(1);
  TensorList grads;
  for (size_t i = 0; i + 1 < g.specs.size(); ++i) {
    grads.push_back(select(g.grad(), dim, int64_t(i)));
  }
  return grads;
}

TensorList split(const Tensor& self, int64_t size, int64_t dim) {
  PKG_CHECK(size > 0, RuntimeError, "[split] split_size must be positive, got ", size);
  const int64_t total = self.size(dim), count = total ? (total - 1) / size + 1 : 1;
  TensorList parts = list_of(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i * size;
    parts.push_back(slice(self, dim, at, at + std::min(size, total - at), 1));
  }
  return parts;
}

TensorList split_sizes(const Tensor& self, const Shape& sizes, int64_t dim) {
  const int64_t total = self.size(dim);
  TensorList parts;
  Checked at = 0;
  for (int64_t size : sizes) {
    PKG_CHECK(size >= 0, RuntimeError,
              "[split] expects split_sizes to have only "
              "non-negative entries, but got ",
              sizes);
    parts.push_back(slice(self, dim, int64_t(at), int64_t(at + size), 1));
    at += size;
  }
  PKG_CHECK(at == total, RuntimeError, "[split] expects split_sizes to sum exactly to ",
            total, " (input tensor's size at dimension ", dim, "), but got ", sizes);
  return parts;
}

// Sections of sizes that differ by at most one.
TensorList tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  PKG_CHECK(sections > 0, RuntimeError,
            "[tensor_split] number of sections must be larger than 0, got ", sections);
  const int64_t n = self.size(dim);
  TensorList parts = list_of(sections);
  int64_t at = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t size = n / sections + (i < n % sections ? 1 : 0);
    parts.push_back(slice(self, dim, at, at + size, 1));
    at += size;
  }
  return parts;
}

// At least 1 or 2 dimensions, new ones in front.
TensorList at_least(const TensorList& tensors, int64_t ndim) {
  TensorList raised;
  for (Tensor t : tensors) {
    while (t.ndim() < ndim) t = unsqueeze(t, 0);
    raised.push_back(t);
  }
  return raised;
}

TensorList split_between(const Tensor& self, const Shape& indices, int64_t dim) {
  TensorList parts;
  std::optional<int64_t> from = 0;
  for (int64_t to : indices) {
    parts.push_back(slice(self, dim, from, to, 1));
    from = to;
  }
  parts.push_back(slice(self, dim, from, std::optional<int64_t>(), 1));
  return parts;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("cat(Tensor[] tensors, int dim=0) -> Tensor")
      .doc("Tensors one after the other along an existing dimension.")
      .element_cost(kMoveNanoseconds)
      .shape(cat_rule)
      .grad("", cat_gradient);
  for (const char* name : {"concat", "concatenate"}) {
    m.def(str(name, "(Tensor[] tensors, int dim=0) -> Tensor"))
        .doc("cat by another name.")
        .composite(
            [](const TensorList& tensors, int64_t dim) { return cat(tensors, dim); });
  }
  m.def("hstack(Tensor[] tensors) -> Tensor")
      .doc("Joined along dimension 1; vectors along their only one.")
      .composite([](const TensorList& tensors) {
        const TensorList raised = at_least(tensors, 1);
        return cat(raised, raised.empty() || raised[0].ndim() == 1 ? 0 : 1);
      });
  m.def("vstack(Tensor[] tensors) -> Tensor")
      .doc("Joined along dimension 0; vectors become rows.")
      .composite([](const TensorList& tensors) { return cat(at_least(tensors, 2), 0); });
  m.def("stack(Tensor[] tensors, int dim=0) -> Tensor")
      .doc("Tensors side by side along a new dimension.")
      .element_cost(kMoveNanoseconds)
      .shape(stack_rule)
      .grad("", stack_gradient);
  m.def("split(Tensor self, int split_size, int dim=0) -> Tensor[]")
      .doc("Views of split_size along dim; the last may be smaller.")
      .composite(split);
  m.def("split.sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]")
      .doc("Views of these sizes along dim.")
      .composite(split_sizes);
  m.def("tensor_split(Tensor self, int sections, int dim=0) -> Tensor[]")
      .doc("Views along dim of sizes that differ by at most one.")
      .composite(tensor_split);
  m.def("tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]")
      .doc("Views between the indices along dim.")
      .composite(split_between);
  m.def("tensor_split.tensor(Tensor self, Tensor tensor_indices_or_sections, int dim=0) "
        "-> Tensor[]")
      .doc("The same with sections (0-d) or indices (1-d) in a tensor; waits for it.")
      .composite([](const Tensor& self, const Tensor& given, int64_t dim) {
        PKG_CHECK(
            given.ndim() <= 1 && is_integral(given.dtype()), RuntimeError,
            "[tensor_split] expected tensor_indices_or_sections to be integers, 0-d or "
            "1-d, got ",
            given.dtype(), " of shape ", given.sizes());
        if (given.ndim() == 0) return tensor_split(self, item(given).to<int64_t>(), dim);
        Shape indices;
        for (int64_t i = 0; i < given.size(0); ++i) {
          indices.push_back(item(select(given, 0, i)).to<int64_t>());
        }
        return split_between(self, indices, dim);
      });
  m.def("chunk(Tensor self, int chunks, int dim=0) -> Tensor[]")
      .doc("At most `chunks` views of equal size along dim.")
      .composite([](const Tensor& self, int64_t chunks, int64_t dim) {
        PKG_CHECK(chunks > 0, RuntimeError,
                  "[chunk] expects `chunks` to be greater than "
                  "0, got: ",
                  chunks);
        const int64_t n = self.size(dim);
        if (n == 0) return tensor_split(self, chunks, dim);  // nothing, in as many parts
        return split(self, (n - 1) / chunks + 1, dim);
      });
  m.def("unbind(Tensor self, int dim=0) -> Tensor[]")
      .doc("The slices at every index of dim.")
      .composite([](const Tensor& self, int64_t dim) {
        const int64_t n = self.size(dim);
        TensorList parts = list_of(n);
        for (int64_t i = 0; i < n; ++i) parts.push_back(select(self, dim, i));
        return parts;
      });
}

}  // namespace
}  // namespace pkg::ops

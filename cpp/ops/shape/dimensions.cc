// SPDX-License-Identifier: Apache-2.0
// ops/shape/dimensions.cc: moving, splitting and stretching dimensions, with the basic views.
#include "ops/op.h"

namespace pkg::ops {
namespace {

Tensor movedim_fn(const Tensor& self, const Shape& source, const Shape& destination) {
  PKG_CHECK(source.size() == destination.size(), RuntimeError,
            "[movedim] Invalid source or "
            "destination dims: source (",
            source,
            " dims) should contain the same number "
            "of dims as destination (",
            destination, " dims)");
  if (source.empty()) return self;
  const Shape from = wrap_dims("movedim", source, self.ndim());
  const Shape to = wrap_dims("movedim", destination, self.ndim());
  if (self.ndim() == 0) return self;
  Shape order(size_t(self.ndim()), -1);
  for (size_t i = 0; i < from.size(); ++i) order[size_t(to[i])] = from[i];
  int64_t next = 0;  // the others keep their order
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    d = next++;
  }
  return permute(self, order);
}

Tensor unflatten(const Tensor& self, int64_t dim, const Shape& sizes) {
  const auto d = size_t(wrap_dim("unflatten", dim, self.ndim()));
  PKG_CHECK(!sizes.empty() && self.ndim() > 0, RuntimeError,
            "[unflatten] expected a dimension and non-empty sizes, got shape ",
            self.sizes(), " and sizes ", sizes);
  const int64_t whole = self.sizes()[d];
  Shape part = sizes, given;
  int64_t unknown = -1;
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == -1 && unknown < 0) unknown = int64_t(i);
    else given.push_back(part[i]);
  }
  const int64_t known = given.numel();
  if (unknown >= 0 && known > 0 && whole % known == 0) {
    part[size_t(unknown)] = whole / known;
  }
  PKG_CHECK(part.numel() == whole, RuntimeError, "[unflatten] Provided sizes ", sizes,
            " don't multiply up to the size of dim ", dim, " (", whole, ")");
  Shape result(self.sizes().data(), d);
  for (int64_t size : part) result.push_back(size);
  for (size_t i = d + 1; i < self.sizes().size(); ++i) result.push_back(self.sizes()[i]);
  return reshape(self, result);
}

TensorList broadcast_tensors(const TensorList& tensors) {
  Shape sizes;
  for (const Tensor& t : tensors) {
    sizes = broadcast_shapes("broadcast_tensors", sizes, t.sizes());
  }
  TensorList wide;
  for (const Tensor& t : tensors) wide.push_back(expand(t, sizes));
  return wide;
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("_second_is_zero(Tensor self) -> Tensor")
      .doc("self, for composites: their second derivative is zero and not missing.")
      .view([](const Tensor& self) {
        return alias(self, self.sizes(), self.strides(), self.offset());
      })
      .derivative("self", "", [](auto& g) { return g; })
      .second_is_zero();
  for (const char* name : {"movedim", "moveaxis"}) {
    m.def(str(name, "(Tensor self, int[] source, int[] destination) -> Tensor"))
        .doc("Dimensions moved to other places, the others in their order.")
        .composite(movedim_fn);
  }
  for (const char* name : {"swapaxes", "swapdims"}) {
    m.def(str(name, "(Tensor self, int dim0, int dim1) -> Tensor"))
        .doc("transpose by another name.")
        .composite([](const Tensor& self, int64_t dim0, int64_t dim1) {
          return transpose(self, dim0, dim1);
        });
  }
  m.def("narrow(Tensor self, int dim, int start, int length) -> Tensor")
      .doc("self[start : start + length] along dim, all of it present.")
      .composite([](const Tensor& self, int64_t dim, int64_t start, int64_t length) {
        PKG_CHECK(self.ndim() > 0, RuntimeError,
                  "[narrow] cannot be applied to a 0-dim tensor.");
        const int64_t n = self.size(dim);
        PKG_CHECK(start >= -n && start <= n, IndexError, "[narrow] start (", start,
                  ") is out of range for dimension ", dim, " of size ", n);
        if (start < 0) start += n;
        PKG_CHECK(length >= 0 && length <= n - start, RuntimeError, "[narrow] start (",
                  start, ") + length (", length, ") exceeds dimension size (", n, ").");
        return slice(self, dim, start, start + length, 1);
      });
  m.def("unflatten(Tensor self, int dim, int[] sizes) -> Tensor")
      .doc("One dimension as several; -1 once stands for what is left over.")
      .composite(unflatten);
  m.def("expand_as(Tensor self, Tensor other) -> Tensor")
      .doc("expand to the shape of other.")
      .composite([](const Tensor& self, const Tensor& other) {
        return expand(self, other.sizes());
      });
  m.def("view_as(Tensor self, Tensor other) -> Tensor")
      .doc("view with the shape of other.")
      .composite([](const Tensor& self, const Tensor& other) {
        return view(self, other.sizes());
      });
  m.def("reshape_as(Tensor self, Tensor other) -> Tensor")
      .doc("reshape to the shape of other.")
      .composite([](const Tensor& self, const Tensor& other) {
        return reshape(self, other.sizes());
      });
  m.def("broadcast_to(Tensor self, int[] size) -> Tensor")
      .doc("expand by NumPy's name.")
      .composite([](const Tensor& self, const Shape& size) { return expand(self, size); });
  m.def("_shape_as_tensor(Tensor self) -> Tensor")
      .doc("The sizes as int64: in a graph they may not be known before it runs.")
      .composite([](const Tensor& self) {
        const Shape& sizes = self.sizes();
        Tensor made = empty(Shape{int64_t(sizes.size())}, DType::Int64, Device{});
        std::copy(sizes.begin(), sizes.end(), made.data<int64_t>());
        return made;
      });
  m.def("broadcast_tensors(Tensor[] tensors) -> Tensor[]")
      .doc("All expanded to their common shape.")
      .composite(broadcast_tensors);
  m.def("meshgrid(Tensor[] tensors, *, str indexing='ij') -> Tensor[]")
      .doc("Grids of the coordinates of vectors; 'xy' exchanges the first two dimensions.")
      .composite([](const TensorList& tensors, const std::string& indexing) {
        PKG_CHECK(indexing == "ij" || indexing == "xy", RuntimeError,
                  "[meshgrid] expected "
                  "indexing to be one of \"xy\" or \"ij\", but received: ",
                  indexing);
        PKG_CHECK(!tensors.empty(), RuntimeError,
                  "[meshgrid] expected a non-empty list of Tensors");
        TensorList raised;
        const size_t n = tensors.size();
        for (size_t i = 0; i < n; ++i) {
          PKG_CHECK(tensors[i].ndim() <= 1, RuntimeError,
                    "[meshgrid] Expected 0D or 1D "
                    "tensors, got shape ",
                    tensors[i].sizes());
          Shape sizes(n, 1);
          const size_t at = indexing == "xy" && i < 2 && n >= 2 ? 1 - i : i;
          sizes[at] = tensors[i].numel();
          raised.push_back(reshape(tensors[i], sizes));
        }
        return broadcast_tensors(raised);
      });
}

}  // namespace
}  // namespace pkg::ops

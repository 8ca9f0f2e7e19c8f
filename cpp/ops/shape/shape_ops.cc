// SPDX-License-Identifier: Apache-2.0
// ops/shape/shape_ops.cc: the basic views, which share storage and touch shape and
// strides only.  Views made of these: dimensions.cc.
#include "dispatcher/running_total.h"
#include "ops/op.h"
#include "ops/shape/move_cost.h"
#include "tensor/fill.h"

namespace pkg::ops {
namespace {

// -1 once stands for what is left over.
Shape infer_size(const char* op, const Shape& wanted, int64_t numel) {
  Shape sizes = wanted;
  int64_t unknown = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      PKG_CHECK(unknown < 0, RuntimeError, "[", op, "] only one dimension can be inferred");
      unknown = int64_t(i);
      sizes[i] = 1;
    } else {
      PKG_CHECK(sizes[i] >= 0, RuntimeError, "[", op, "] invalid shape dimension ",
                sizes[i]);
    }
  }
  int64_t known = sizes.numel();
  if (unknown >= 0) {
    const bool whole = known == 1 || (known > 0 && numel % known == 0);
    if (whole) sizes[size_t(unknown)] = known == 1 ? numel : numel / known;
    known = whole ? numel : -1;
  }
  PKG_CHECK(known == numel, RuntimeError, "[", op, "] shape '", wanted,
            "' is invalid for input of size ", numel);
  return sizes;
}

// Whether it is row-major to the last stride: one of a size of 1 may be any.
bool is_row_major(const Tensor& t) {
  return t.is_contiguous() && (t.ndim() == 0 || t.strides().back() == 1);
}

// Strides that show the same memory with other sizes, where that is possible: the old
// dimensions fall into groups of dense runs, and each must be filled exactly.
std::optional<Shape> view_strides(const Tensor& t, const Shape& sizes) {
  if (t.numel() == 0 || is_row_major(t)) return contiguous_strides(sizes);
  Shape strides(sizes.size(), 0);
  int64_t next = int64_t(sizes.size()) - 1;
  int64_t run = 1;     // elements of the dense run so far
  int64_t filled = 1;  // elements of it given to new dimensions
  int64_t step = 1;    // stride of the run's last element
  const Shape &old_sizes = t.sizes(), &old_strides = t.strides();
  for (int64_t d = t.ndim() - 1; d >= 0; --d) {
    if (run == 1) step = old_strides[size_t(d)];
    run *= old_sizes[size_t(d)];
    const bool ends = d == 0 || (old_sizes[size_t(d) - 1] != 1 &&
                                 old_strides[size_t(d) - 1] != run * step);
    if (!ends) continue;
    while (next >= 0 && (filled < run || sizes[size_t(next)] == 1)) {
      strides[size_t(next)] = filled * step;
      filled *= sizes[size_t(next)];
      --next;
    }
    if (filled != run) return std::nullopt;
    run = filled = 1;
  }
  while (next >= 0) strides[size_t(next--)] = step;
  return strides;
}

Tensor view_fn(const Tensor& self, const Shape& size) {
  Shape sizes = infer_size("view", size, self.numel());
  auto strides = view_strides(self, sizes);
  PKG_CHECK(strides, RuntimeError, "[view] size ", size,
            " is not compatible with the input's size ", self.sizes(), " and stride ",
            self.strides(), ". Use .reshape(...) instead.");
  return alias(self, std::move(sizes), std::move(*strides), self.offset());
}

Tensor reshape_fn(const Tensor& self, const Shape& shape) {
  if (is_row_major(self)) return view(self, shape);  // without finding the strides twice
  const Shape sizes = infer_size("reshape", shape, self.numel());
  if (view_strides(self, sizes)) return view(self, sizes);
  return view(contiguous(self), sizes);
}

Tensor permute_fn(const Tensor& self, const Shape& dims) {
  PKG_CHECK(int64_t(dims.size()) == self.ndim(), RuntimeError, "[permute] expected ",
            self.ndim(), " dims, got ", dims);
  Shape sizes, strides;
  const Shape order = dims.empty() ? Shape() : wrap_dims("permute", dims, self.ndim());
  for (int64_t d : order) {
    sizes.push_back(self.sizes()[size_t(d)]);
    strides.push_back(self.strides()[size_t(d)]);
  }
  return alias(self, std::move(sizes), std::move(strides), self.offset());
}
Tensor permute_back(const Tensor& g, const Shape& dims) {
  Shape inverse(dims.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    inverse[size_t(wrap_dim("permute", dims[i], int64_t(dims.size())))] = int64_t(i);
  }
  return permute(g, inverse);
}

Tensor transpose_fn(const Tensor& self, int64_t dim0, int64_t dim1) {
  const auto a = size_t(wrap_dim("transpose", dim0, self.ndim()));
  const auto b = size_t(wrap_dim("transpose", dim1, self.ndim()));
  Shape sizes = self.sizes(), strides = self.strides();
  if (!sizes.empty()) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return alias(self, std::move(sizes), std::move(strides), self.offset());
}

Tensor expand_fn(const Tensor& self, const Shape& size) {
  PKG_CHECK(size.size() >= self.sizes().size(), RuntimeError,
            "[expand] the number of "
            "sizes provided (",
            size.size(),
            ") must be greater or equal to the number "
            "of dimensions in the tensor (",
            self.ndim(), ")");
  Shape sizes = size, strides(size.size(), 0);
  const size_t extra = size.size() - self.sizes().size();
  for (size_t d = 0; d < size.size(); ++d) {
    const int64_t have = d < extra ? 1 : self.sizes()[d - extra];
    PKG_CHECK(sizes[d] != -1 || d >= extra, RuntimeError,
              "[expand] The expanded size of "
              "the tensor (-1) isn't allowed in a leading, non-existing dimension ",
              d);
    if (sizes[d] == -1) sizes[d] = have;
    PKG_CHECK(sizes[d] >= 0, RuntimeError,
              "[expand] expected sizes of at least 0, or -1 to "
              "keep one, got ",
              size);
    PKG_CHECK(sizes[d] == have || have == 1, RuntimeError,
              "[expand] the expanded size "
              "of the tensor (",
              sizes[d], ") must match the existing size (", have,
              ") at non-singleton dimension ", d);
    if (d >= extra && sizes[d] == have) strides[d] = self.strides()[d - extra];
  }
  return alias(self, sizes, strides, self.offset());
}

Tensor unsqueeze_fn(const Tensor& self, int64_t dim) {
  const auto d = size_t(wrap_dim("unsqueeze", dim, self.ndim() + 1));
  Shape sizes = self.sizes(), strides = self.strides();
  const int64_t step = d < sizes.size() ? Checked(sizes[d]) * strides[d] : Checked(1);
  sizes.insert(d, 1);
  strides.insert(d, step);
  return alias(self, sizes, strides, self.offset());
}

Tensor squeeze_dims(const Tensor& self, const Shape& dims) {
  Shape sizes, strides;
  for (size_t d = 0; d < self.sizes().size(); ++d) {
    const bool named = std::find(dims.begin(), dims.end(), int64_t(d)) != dims.end();
    if (named && self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return alias(self, sizes, strides, self.offset());
}

// The dimension that select() takes away and the index in it, checked and not negative.
struct Place {
  size_t dim;
  int64_t index;

  Place(const Shape& sizes, int64_t dim_in, int64_t index_in)
      : dim(size_t(wrap_dim("select", dim_in, int64_t(sizes.size())))), index(index_in) {
    PKG_CHECK(!sizes.empty(), IndexError, "[select] cannot be applied to a 0-dim tensor.");
    const int64_t size = sizes[dim];
    PKG_CHECK(size > 0 && index >= -size && index < size, IndexError, "index ", index,
              " is out of bounds for dimension ", dim, " with size ", size);
    if (index < 0) index += size;
  }
};

Tensor select_fn(const Tensor& self, int64_t dim, int64_t index) {
  const Place at(self.sizes(), dim, index);
  Shape sizes = self.sizes(), strides = self.strides();
  const int64_t offset = self.offset() + Checked(at.index) * strides[at.dim];
  sizes.erase(at.dim);
  strides.erase(at.dim);
  return alias(self, sizes, strides, offset);
}

// The part of a dimension that slice() shows.
struct Range {
  size_t dim;
  int64_t from, count;

  Range(const Shape& sizes, int64_t dim_in, MaybeInt start, MaybeInt end, int64_t step)
      : dim(size_t(wrap_dim("slice", dim_in, int64_t(sizes.size())))) {
    PKG_CHECK(!sizes.empty(), IndexError, "[slice] cannot be applied to a 0-dim tensor.");
    PKG_CHECK(step > 0, ValueError, "[slice] step must be greater than zero, got ", step);
    const int64_t size = sizes[dim];
    PKG_CHECK(size >= 0, RuntimeError, "[slice] expected sizes of 0 or more, got ", sizes);
    const auto clamp = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    from = clamp(start.value_or(0));
    const int64_t to = clamp(end.value_or(size));
    count = to > from ? (to - from - 1) / step + 1 : 0;
  }
};

Tensor slice_fn(const Tensor& self, int64_t dim, MaybeInt start, MaybeInt end,
                int64_t step) {
  const Range at(self.sizes(), dim, start, end, step);
  Shape sizes = self.sizes(), strides = self.strides();
  int64_t& stride = strides[at.dim];
  const int64_t offset = self.offset() + Checked(at.from) * stride;
  sizes[at.dim] = at.count;
  // A step that no address reaches has one element at most: its stride is never used.
  if (__builtin_mul_overflow(stride, step, &stride)) stride = self.strides()[at.dim];
  return alias(self, sizes, strides, offset);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("view(Tensor self, int[] size) -> Tensor")
      .doc("Same memory with another shape; RuntimeError where strides forbid it.")
      .view(view_fn)
      .derivative("self", "self.shape", reshape);
  m.def("reshape(Tensor self, int[] shape) -> Tensor")
      .doc("Another shape: a view where possible, else a copy.")
      .composite(reshape_fn);
  m.def("flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor")
      .doc("Joins dimensions start_dim to end_dim.")
      .composite([](const Tensor& self, int64_t start, int64_t end) {
        const int64_t a = wrap_dim("flatten", start, self.ndim());
        const int64_t b = wrap_dim("flatten", end, self.ndim());
        PKG_CHECK(a <= b, RuntimeError, "[flatten] start_dim cannot come after end_dim");
        if (a == b && self.ndim() > 0) return self;
        Shape sizes;
        int64_t joined = 1;  // a part of the sizes: cannot overflow
        for (int64_t d = 0; d < self.ndim(); ++d) {
          if (d < a || d > b) sizes.push_back(self.size(d));
          else joined *= self.size(d);
          if (d == b) sizes.push_back(joined);
        }
        if (self.ndim() == 0) sizes.push_back(1);
        return reshape(self, sizes);
      });
  m.def("permute(Tensor self, int[] dims) -> Tensor")
      .doc("Dimensions in another order.")
      .view(permute_fn)
      .derivative("self", "dims", permute_back);
  m.def("transpose(Tensor self, int dim0, int dim1) -> Tensor")
      .doc("Two dimensions exchanged.")
      .view(transpose_fn)
      .derivative("self", "dim0 dim1", transpose);
  m.def("t(Tensor self) -> Tensor")
      .doc("Transpose of a matrix; 0-d and 1-d tensors come back as they are.")
      .composite([](const Tensor& self) {
        PKG_CHECK(self.ndim() <= 2, RuntimeError,
                  "[t] expects a tensor with <= 2 "
                  "dimensions, but self is ",
                  self.ndim(), "D");
        return self.ndim() < 2 ? self : transpose(self, 0, 1);
      });
  m.def("expand(Tensor self, int[] size) -> Tensor")
      .doc("Repeats dimensions of size 1 without copying; -1 keeps a size.")
      .view(expand_fn)
      .derivative("self", "self.shape", sum_to);
  m.def("unsqueeze(Tensor self, int dim) -> Tensor")
      .doc("A new dimension of size 1 at dim.")
      .view(unsqueeze_fn)
      .derivative("self", "self.shape", reshape);
  m.def("squeeze(Tensor self) -> Tensor")
      .doc("Without its dimensions of size 1.")
      .view([](const Tensor& self) {
        return squeeze_dims(self, wrap_dims("squeeze", {}, self.ndim()));
      })
      .derivative("self", "self.shape", reshape);
  m.def("squeeze.dim(Tensor self, int dim) -> Tensor")
      .doc("Without dimension dim, where its size is 1.")
      .view([](const Tensor& self, int64_t dim) {
        return squeeze_dims(self, Shape{wrap_dim("squeeze", dim, self.ndim())});
      })
      .derivative("self", "self.shape", reshape);
  m.def("squeeze.dims(Tensor self, int[] dim) -> Tensor")
      .doc("Without those of these dimensions whose size is 1.")
      .view([](const Tensor& self, const Shape& dim) {
        return squeeze_dims(self,
                            dim.empty() ? Shape() : wrap_dims("squeeze", dim, self.ndim()));
      })
      .derivative("self", "self.shape", reshape);
  m.def("select(Tensor self, int dim, int index) -> Tensor")
      .doc("The slice at one index; dim disappears.")
      .view(select_fn)
      .derivative("self", "self.shape dim index",
                  [](const Tensor& g, const Shape& sizes, int64_t dim, int64_t index) {
                    const Tensor total = running_total(sizes, g);
                    if (!total.defined()) return select_backward(g, sizes, dim, index);
                    add_(select(total, dim, index), g);
                    return total;
                  });
  // Gradients of views that leave elements out.  They are ops, not writes into a view, so
  // that they can be differentiated again.
  m.def("_select_backward(Tensor grad, int[] sizes, int dim, int index) -> Tensor")
      .doc("Zeros of these sizes with grad at one index of dim.")
      .element_cost(kMoveNanoseconds)
      .shape([](const Tensor& grad, const Shape& sizes, int64_t dim, int64_t index) {
        Shape part = sizes;
        part.erase(Place(sizes, dim, index).dim);
        check_gradient(grad, part);
        return Spec{sizes, grad.dtype(), grad.device()};
      })
      .cpu([](Tensor& out, const Tensor& grad, const Shape&, int64_t dim, int64_t index) {
        fill(out, 0);
        copy_into(select_fn(out, dim, index), grad);
      })
      .derivative("grad", "dim index", select);
  m.def("slice(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) "
        "-> Tensor")
      .doc("self[start:end:step] along dim.")
      .view(slice_fn)
      .derivative("self", "self.shape dim start end step",
                  [](const Tensor& g, const Shape& sizes, int64_t dim, MaybeInt start,
                     MaybeInt end, int64_t step) {
                    const Tensor total = running_total(sizes, g);
                    if (!total.defined()) {
                      return slice_backward(g, sizes, dim, start, end, step);
                    }
                    add_(slice(total, dim, start, end, step), g);
                    return total;
                  });
  m.def("_slice_backward(Tensor grad, int[] sizes, int dim, int? start, int? end, "
        "int step) -> Tensor")
      .doc("Zeros of these sizes with grad in the slice.")
      .element_cost(kMoveNanoseconds)
      .shape([](const Tensor& grad, const Shape& sizes, int64_t dim, MaybeInt start,
                MaybeInt end, int64_t step) {
        const Range at(sizes, dim, start, end, step);
        Shape part = sizes;
        part[at.dim] = at.count;
        check_gradient(grad, part);
        return Spec{sizes, grad.dtype(), grad.device()};
      })
      .cpu([](Tensor& out, const Tensor& grad, const Shape&, int64_t dim, MaybeInt start,
              MaybeInt end, int64_t step) {
        fill(out, 0);
        copy_into(slice_fn(out, dim, start, end, step), grad);
      })
      .derivative("grad", "dim start end step", slice);
}

}  // namespace
}  // namespace pkg::ops

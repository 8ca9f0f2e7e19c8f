// SPDX-License-Identifier: Apache-2.0
// ops/shape/flipping.cc: reversal and rotation: the input's elements in another order.
#include <cstring>

#include "base/isa.h"
#include "ops/op.h"
#include "ops/shape/move_cost.h"
#include "scheduler/parallel.h"

namespace pkg::ops {
namespace {

Shape flip_dims(const Tensor& self, const Shape& dims) {
  return dims.empty() ? Shape() : wrap_dims("flip", dims, self.ndim());
}

// self seen backwards: strides are negative where it is reversed.
Tensor flipped_view(const Tensor& self, const Shape& dims) {
  Shape strides = self.strides();
  int64_t offset = self.offset();
  for (int64_t d : flip_dims(self, dims)) {
    offset += (self.sizes()[size_t(d)] - 1) * strides[size_t(d)];
    strides[size_t(d)] *= -1;
  }
  return alias(self, self.sizes(), strides, offset);
}

// Two views of one shape as runs of elements: dimensions in the order of the first one's
// memory, those that lie behind each other in both as one.
struct Runs {
  Shape sizes, to, from;  // without the run; steps in elements
  int64_t n = 1, to_step = 1, from_step = 1;

  Runs(const Tensor& out, const Tensor& view) {
    Shape order;
    for (size_t d = 0; d < out.sizes().size(); ++d) {
      if (out.sizes()[d] != 1) order.push_back(int64_t(d));
    }
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return out.strides()[size_t(a)] > out.strides()[size_t(b)];
    });
    for (int64_t i : order) {
      const auto d = size_t(i);
      const int64_t size = out.sizes()[d], by = out.strides()[d], step = view.strides()[d];
      if (!sizes.empty() && to.back() == by * size && from.back() == step * size) {
        sizes.back() *= size;
        to.back() = by;
        from.back() = step;
      } else {
        sizes.push_back(size);
        to.push_back(by);
        from.push_back(step);
      }
    }
    if (sizes.empty()) return;
    n = sizes.back();
    to_step = to.back();
    from_step = from.back();
    for (Shape* shape : {&sizes, &to, &from}) shape->erase(shape->size() - 1);
  }
  bool dense() const { return to_step == 1 && from_step >= -1 && from_step <= 1; }
};

// Rows of n elements; from one row to the next it is so many elements, and in `from` from one
// element to the next `step`, which is -1, 0 or 1.
template <class T>
struct RowCopy {
  T* to;
  const T* from;
  int64_t n, rows, to_row, from_row, step;

  void run() const {
    // By value: bytes that are written may be anything else.
    with_isa([copy = *this] { copy.all_rows(); });
  }

 private:
  static constexpr int64_t kFew = 16 / sizeof(T), kMany = 64 / sizeof(T);

  void all_rows() const {
    if (n < kFew) return columns();
    if (step == 0) {
      return each_row([n = n](T* y, const T* x) { std::fill_n(y, n, *x); });
    }
    if (n >= kMany) dense_rows<kMany>();
    else dense_rows<kFew>();
  }
  template <class F>
  void each_row(F f) const {
    for (int64_t r = 0; r < rows; ++r) f(to + r * to_row, from + r * from_row);
  }
  // Column by column, in blocks that stay in cache: rows are too short for a loop.
  void columns() const {
    constexpr int64_t kRows = 256;
    for (int64_t first = 0; first < rows; first += kRows) {
      const int64_t some = std::min(kRows, rows - first), apart = to_row, next = from_row;
      for (int64_t i = 0; i < n; ++i) {
        T* __restrict y = to + first * to_row + i;
        const T* __restrict x = from + first * from_row + i * step;
        for (int64_t r = 0; r < some; ++r) y[r * apart] = x[r * next];
      }
    }
  }
  // By vectors of so many elements, of which the last one may begin in the one before.
  template <int64_t lanes>
  void dense_rows() const {
    if (step > 0)
      each_row([n = n](T* y, const T* x) {
        each_vector<lanes>(
            n, [=](int64_t at) { std::memcpy(y + at, x + at, lanes * sizeof(T)); });
      });
    else
      each_row([n = n](T* y, const T* last) {
        const T* x = last - (n - 1);
        each_vector<lanes>(n, [=](int64_t at) {
          T some[lanes], turned[lanes];
          std::memcpy(some, x + n - at - lanes, sizeof(some));
#pragma omp simd
          for (int64_t k = 0; k < lanes; ++k) turned[k] = some[lanes - 1 - k];
          std::memcpy(y + at, turned, sizeof(turned));
        });
      });
  }
  template <int64_t lanes, class F>
  static void each_vector(int64_t n, F f) {
    for (int64_t at = 0; at + lanes <= n; at += lanes) f(at);
    if (n % lanes) f(n - lanes);
  }
};
template <class T>
void copy_runs(T* to, const T* from, const Runs& runs) {
  const int64_t n = runs.n, step = runs.from_step;
  const size_t outer = runs.sizes.size();
  if (outer == 0) {  // all of it: threads share the run
    return parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      RowCopy<T>{to + begin, from + begin * step, end - begin, 1, 0, 0, step}.run();
    });
  }
  const size_t last = outer - 1;
  const int64_t rows = runs.sizes[last];
  parallel_for(0, runs.sizes.numel(), std::max<int64_t>(1, kGrain / n),
               [&, n](int64_t begin, int64_t end) {
                 for (int64_t some; begin < end; begin += some) {
                   int64_t plane = begin / rows, row = begin % rows;
                   some = std::min(end - begin, rows - row);
                   T* y = to + row * runs.to[last];
                   const T* x = from + row * runs.from[last];
                   for (size_t d = last; d-- > 0; plane /= runs.sizes[d]) {
                     y += plane % runs.sizes[d] * runs.to[d];
                     x += plane % runs.sizes[d] * runs.from[d];
                   }
                   RowCopy<T>{y, x, n, some, runs.to[last], runs.from[last], step}.run();
                 }
               });
}
// Copies elements that have a place of their own, run by run if they can be.
void copy_view(const Tensor& out, const Tensor& view) {
  if (out.numel() == 0) return;
  const Runs runs(out, view);
  if (!runs.dense()) return copy_into(out, view);
  const auto copy = [&]<class T>(T*) {
    copy_runs(static_cast<T*>(out.data()), static_cast<const T*>(view.data()), runs);
  };
  switch (itemsize(out.dtype())) {
    case 1: return copy(static_cast<uint8_t*>(nullptr));
    case 2: return copy(static_cast<uint16_t*>(nullptr));
    case 4: return copy(static_cast<uint32_t*>(nullptr));
    default: return copy(static_cast<uint64_t*>(nullptr));
  }
}

// Of each dimension how far it moves, from 0 to its size.
Shape roll_steps(const Shape& sizes, const Shape& shifts, const Shape& dims) {
  Shape steps(sizes.size(), 0);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = size_t(wrap_dim("roll", dims[i], int64_t(sizes.size())));
    const int64_t n = std::max<int64_t>(sizes[d], 1);
    steps[d] = (steps[d] + (shifts[i] % n + n) % n) % n;
  }
  return steps;
}
// Copies what stays together as one, from dimension d on: `from` and `to` were cut before.
void roll_parts(const Tensor& to, const Tensor& from, const Shape& steps, size_t d) {
  while (d < steps.size() && steps[d] == 0) ++d;
  if (d == steps.size()) return copy_view(to, from);
  const int64_t n = from.sizes()[d], moved = steps[d];
  const auto part = [d](const Tensor& t, int64_t start, int64_t length) {
    Shape sizes = t.sizes();
    sizes[d] = length;
    return alias(t, sizes, t.strides(), t.offset() + start * t.strides()[d]);
  };
  roll_parts(part(to, moved, n - moved), part(from, 0, n - moved), steps, d + 1);
  roll_parts(part(to, 0, moved), part(from, n - moved, moved), steps, d + 1);
}

Tensor roll_fn(const Tensor& self, const Shape& shifts, const Shape& dims) {
  if (dims.empty()) {
    PKG_CHECK(shifts.size() == 1, RuntimeError,
              "[roll] expected one shift without dims, "
              "got ",
              shifts);
    const Tensor flat = reshape(self, Shape{self.numel()});
    return reshape(rolled(flat, shifts, Shape{0}), self.sizes());
  }
  PKG_CHECK(shifts.size() == dims.size(), RuntimeError,
            "[roll] shifts and dimensions must "
            "align. shifts: ",
            shifts, ", dims: ", dims);
  PKG_CHECK(self.ndim() > 0, IndexError, "[roll] Dimension specified as ", dims[0],
            " but tensor has no dimensions");
  return rolled(self, shifts, dims);
}

// A result never shares memory with self.
Tensor rot90(const Tensor& self, int64_t k, const Shape& dims) {
  PKG_CHECK(dims.size() == 2 && self.ndim() >= 2, RuntimeError,
            "[rot90] expected two dims "
            "of a tensor with at least two, got dims ",
            dims, " of shape ", self.sizes());
  const Shape plane = wrap_dims("rot90", dims, self.ndim());
  switch ((k % 4 + 4) % 4) {
    case 1: return transpose(flip(self, Shape{plane[1]}), plane[0], plane[1]);
    case 2: return flip(self, plane);
    case 3: return flip(transpose(self, plane[0], plane[1]), Shape{plane[1]});
    default: return self.is_contiguous() ? clone(self) : contiguous(self);
  }
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("flip(Tensor self, int[] dims) -> Tensor")
      .doc("The order along dims reversed.")
      .shape([](const Tensor& self, const Shape& dims) {
        flip_dims(self, dims);
        return self.spec();
      })
      .keeps_order()
      .cpu([](Tensor& out, const Tensor& self, const Shape& dims) {
        if (self.numel() > 0) copy_view(out, flipped_view(self, dims));
      })
      .derivative("self", "dims", flip);
  m.def("fliplr(Tensor self) -> Tensor")
      .doc("Dimension 1 reversed.")
      .composite([](const Tensor& self) {
        PKG_CHECK(self.ndim() >= 2, RuntimeError,
                  "[fliplr] Input must be >= 2-d, got shape ", self.sizes());
        return flip(self, Shape{1});
      });
  m.def("flipud(Tensor self) -> Tensor")
      .doc("Dimension 0 reversed.")
      .composite([](const Tensor& self) {
        PKG_CHECK(self.ndim() >= 1, RuntimeError,
                  "[flipud] Input must be >= 1-d, got a 0-d "
                  "tensor");
        return flip(self, Shape{0});
      });
  m.def("rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor")
      .doc(
          "Turned k times by 90 degrees in the plane of dims, from the first to the second.")
      .composite(rot90);
  m.def("_roll(Tensor self, int[] shifts, int[] dims) -> Tensor")
      .doc("roll of named dimensions.")
      .element_cost(kMoveNanoseconds)
      .shape([](const Tensor& self, const Shape& shifts, const Shape& dims) {
        PKG_CHECK(shifts.size() == dims.size(), RuntimeError,
                  "[roll] expected a shift for "
                  "each dimension, got ",
                  shifts, " for ", dims);
        roll_steps(self.sizes(), shifts, dims);
        return self.spec();
      })
      .cpu([](Tensor& out, const Tensor& self, const Shape& shifts, const Shape& dims) {
        if (self.numel() == 0) return;
        roll_parts(out, self, roll_steps(self.sizes(), shifts, dims), 0);
      })
      .derivative(
          "self", "self.shape shifts dims",
          [](const Tensor& g, const Shape& sizes, const Shape& shifts, const Shape& dims) {
            Shape back = roll_steps(sizes, shifts, dims), all;
            for (size_t d = 0; d < back.size(); ++d) {
              back[d] = -back[d];
              all.push_back(int64_t(d));
            }
            return rolled(g, back, all);
          });
  m.def("roll(Tensor self, int[] shifts, int[] dims=[]) -> Tensor")
      .doc("Elements moved along dims, those at the end coming in at the start; without "
           "dims the flattened tensor.")
      .composite(roll_fn);
}

}  // namespace
}  // namespace pkg::ops

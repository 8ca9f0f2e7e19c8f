// SPDX-License-Identifier: Apache-2.0
// ops/shape/flipping.cc: reversal and rotation: the input's elements in another order.
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

// What is captured is copied first: bytes that are written may be anything else.
template <int64_t step, class T>
void copy_run(T* to, const T* from, int64_t n) {
  with_isa([to, from, n] {
    T* __restrict y = to;
    const T* __restrict x = step < 0 ? from + 1 - n : from;
    const int64_t count = n;
    if constexpr (step < 0)
      for (int64_t i = 0; i < count; ++i) y[i] = x[count - 1 - i];
    else
      for (int64_t i = 0; i < count; ++i) y[i] = x[i * step];
  });
}
template <class T>
void copy_run(T* to, const T* from, int64_t step, int64_t n) {
  if (step == -1) copy_run<-1>(to, from, n);
  else if (step == 1) copy_run<1>(to, from, n);
  else copy_run<0>(to, from, n);
}
template <class T>
void copy_runs(T* to, const T* from, const Runs& runs) {
  const int64_t n = runs.n;
  const size_t outer = runs.sizes.size();
  if (outer == 0) {  // all of it: threads share the run
    return parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
      copy_run(to + begin, from + begin * runs.from_step, runs.from_step, end - begin);
    });
  }
  parallel_for(0, runs.sizes.numel(), std::max<int64_t>(1, kGrain / n),
               [&, n](int64_t begin, int64_t end) {
                 Shape at(outer, 0);
                 T* y = to;
                 const T* x = from;
                 int64_t rest = begin;
                 for (size_t d = outer; d-- > 0; rest /= runs.sizes[d]) {
                   at[d] = rest % runs.sizes[d];
                   x += at[d] * runs.from[d];
                   y += at[d] * runs.to[d];
                 }
                 for (int64_t row = begin; row < end; ++row) {
                   copy_run(y, x, runs.from_step, n);
                   for (size_t d = outer; d-- > 0;) {
                     x += runs.from[d];
                     y += runs.to[d];
                     if (++at[d] < runs.sizes[d]) break;
                     x -= runs.from[d] * runs.sizes[d];
                     y -= runs.to[d] * runs.sizes[d];
                     at[d] = 0;
                   }
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

// SPDX-License-Identifier: Apache-2.0
// tensor/strided_loop.cc: the N-dimensional walk and the copy built on it.
#include "tensor/strided_loop.h"

#include <cstring>

#include "scheduler/parallel.h"
#include "tensor/layout.h"

namespace pkg {
namespace {

constexpr size_t kMaxOperands = 4;

// Dimensions after merging, innermost first.
struct Walk {
  size_t n_operands = 0;
  std::array<char*, kMaxOperands> data{};
  Shape sizes;
  std::array<Shape, kMaxOperands> strides;  // bytes

  void add_dim(int64_t size, const std::array<int64_t, kMaxOperands>& step) {
    if (!sizes.empty()) {
      // Behind the previous dimension for every operand: one longer dimension.
      bool merges = true;
      for (size_t k = 0; k < n_operands; ++k) {
        merges &= step[k] == strides[k].back() * sizes.back();
      }
      if (merges) {
        sizes.back() *= size;
        return;
      }
    }
    sizes.push_back(size);
    for (size_t k = 0; k < n_operands; ++k) strides[k].push_back(step[k]);
  }
};

// The last guard before memory: whatever a shape rule forgot ends here.
void check_broadcasts(const Shape& operand, const Shape& sizes) {
  bool fits = operand.size() <= sizes.size();
  for (size_t d = 0; fits && d < operand.size(); ++d) {
    const int64_t size = operand[d];
    fits = size == 1 || size == sizes[d + sizes.size() - operand.size()];
  }
  PKG_CHECK(fits, RuntimeError, "[op] expected a tensor that broadcasts to the shape ", sizes,
            ", got one of ", operand, ".");
}

// The dimensions of what is written, innermost first, so that memory is walked as it lies.
Shape walk_order(const Tensor& out) {
  Shape order;
  for (size_t d = out.sizes().size(); d-- > 0;) order.push_back(int64_t(d));
  if (out.is_contiguous()) return order;
  const auto stride = [&](size_t i) { return out.strides()[size_t(order[i])]; };
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t k = i; k > 0 && stride(k) < stride(k - 1); --k) {
      std::swap(order[k], order[k - 1]);
    }
  }
  return order;
}

Walk make_walk(const Shape& sizes, const Operands& operands) {
  Walk walk;
  walk.n_operands = operands.count;
  for (size_t k = 0; k < operands.count; ++k) {
    walk.data[k] = static_cast<char*>(operands.tensors[k]->data());
  }
  const size_t ndim = sizes.size();
  for (size_t k = 0; k < operands.count; ++k) {
    check_broadcasts(operands.tensors[k]->sizes(), sizes);
  }
  for (const int64_t next : walk_order(*operands.tensors[0])) {
    const auto d = size_t(next);
    if (sizes[d] == 1) continue;  // whatever its strides are
    std::array<int64_t, kMaxOperands> step{};
    for (size_t k = 0; k < operands.count; ++k) {
      const Tensor& t = *operands.tensors[k];
      const size_t missing = ndim - t.sizes().size();
      if (d < missing || t.sizes()[d - missing] == 1) continue;
      step[k] = t.strides()[d - missing] * itemsize(t.dtype());
    }
    walk.add_dim(sizes[d], step);
  }
  if (walk.sizes.empty()) {
    walk.sizes.push_back(1);
    for (size_t k = 0; k < operands.count; ++k) walk.strides[k].push_back(0);
  }
  return walk;
}

// Runs rows [begin, end) of the walk, a row being one innermost dimension.
void run_rows(const Walk& walk, int64_t begin, int64_t end, InnerLoop inner) {
  std::array<int64_t, kMaxOperands> inner_strides{};
  for (size_t k = 0; k < walk.n_operands; ++k) inner_strides[k] = walk.strides[k][0];
  for (int64_t row = begin; row < end; ++row) {
    std::array<char*, kMaxOperands> data = walk.data;
    int64_t rest = row;
    for (size_t d = 1; d < walk.sizes.size(); ++d) {
      const int64_t index = rest % walk.sizes[d];
      rest /= walk.sizes[d];
      for (size_t k = 0; k < walk.n_operands; ++k) data[k] += index * walk.strides[k][d];
    }
    inner(data.data(), inner_strides.data(), walk.sizes[0]);
  }
}

// One dimension, in parts.
void run_flat(const std::array<char*, kMaxOperands>& data,
              const std::array<int64_t, kMaxOperands>& strides, size_t n_operands,
              int64_t numel, InnerLoop inner) {
  if (numel <= kGrain) return inner(data.data(), strides.data(), numel);
  parallel_for(0, numel, kGrain, [&](int64_t begin, int64_t end) {
    std::array<char*, kMaxOperands> at = data;
    for (size_t k = 0; k < n_operands; ++k) at[k] += begin * strides[k];
    inner(at.data(), strides.data(), end - begin);
  });
}

}  // namespace

void strided_loop(const Shape& sizes, const Operands& operands, InnerLoop inner) {
  const int64_t numel = sizes.numel();
  if (numel == 0) return;
  // Most calls: every operand dense with the result's shape, or a single number.
  std::array<char*, kMaxOperands> data{};
  std::array<int64_t, kMaxOperands> strides{};
  bool flat = true;
  for (size_t k = 0; k < operands.count && flat; ++k) {
    const Tensor& t = *operands.tensors[k];
    data[k] = static_cast<char*>(t.data());
    if (t.is_contiguous() && t.sizes() == sizes) strides[k] = itemsize(t.dtype());
    else if (t.numel() == 1) strides[k] = 0;
    else flat = false;
  }
  if (flat) return run_flat(data, strides, operands.count, numel, inner);
  const Walk walk = make_walk(sizes, operands);
  if (walk.sizes.size() == 1) {
    for (size_t k = 0; k < operands.count; ++k) strides[k] = walk.strides[k][0];
    return run_flat(walk.data, strides, operands.count, numel, inner);
  }
  const int64_t rows = numel / walk.sizes[0];
  const int64_t grain = std::max<int64_t>(1, kGrain / walk.sizes[0]);
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    run_rows(walk, begin, end, inner);
  });
}

namespace {

template <class T>
void copy_same(const Tensor& dst, const Tensor& src) {
  strided_loop(dst.sizes(), {&dst, &src},
               [](char* const* data, const int64_t* strides, int64_t n) {
                 if (strides[0] == sizeof(T) && strides[1] == sizeof(T)) {
                   std::memmove(data[0], data[1], size_t(n) * sizeof(T));
                   return;
                 }
                 for (int64_t i = 0; i < n; ++i) {
                   *reinterpret_cast<T*>(data[0] + i * strides[0]) =
                       *reinterpret_cast<const T*>(data[1] + i * strides[1]);
                 }
               });
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(float(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range is undefined in C++; through int64 it is at least the same value
    // on every instruction set.
    return To(int64_t(value));
  } else {
    return To(value);
  }
}

}  // namespace

namespace {

// Numbers in formulas: a loop over one element would cost more than the op.
void convert_one(const Tensor& dst, const Tensor& src) {
  visit_dtype(dst.dtype(), [&]<class To>(TypeTag<To>) {
    visit_dtype(src.dtype(), [&]<class From>(TypeTag<From>) {
      if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
        *dst.data<To>() = convert<To>(float(*src.data<From>()));
      } else {
        *dst.data<To>() = convert<To>(*src.data<From>());
      }
    });
  });
}

}  // namespace

void copy_into(const Tensor& dst, const Tensor& src) {
  if (dst.dtype() == src.dtype()) {
    switch (itemsize(dst.dtype())) {
      case 1: return copy_same<uint8_t>(dst, src);
      case 2: return copy_same<uint16_t>(dst, src);
      case 4: return copy_same<uint32_t>(dst, src);
      default: return copy_same<uint64_t>(dst, src);
    }
  }
  visit_dtype(dst.dtype(), [&]<class To>(TypeTag<To>) {
    visit_dtype(src.dtype(), [&]<class From>(TypeTag<From>) {
      using F = std::conditional_t<
          std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>, float, From>;
      strided_loop(dst.sizes(), {&dst, &src},
                   [](char* const* data, const int64_t* strides, int64_t n) {
                     for (int64_t i = 0; i < n; ++i) {
                       *reinterpret_cast<To*>(data[0] + i * strides[0]) =
                           convert<To>(F(*reinterpret_cast<const From*>(
                               data[1] + i * strides[1])));
                     }
                   });
    });
  });
}

Tensor as_contiguous(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  Tensor copy = empty(tensor.spec());
  copy_into(copy, tensor);
  return copy;
}

Tensor as_dtype(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor copy = empty_as(tensor, dtype, tensor.device());
  if (tensor.numel() == 1) convert_one(copy, tensor);
  else copy_into(copy, tensor);
  return copy;
}

}  // namespace pkg

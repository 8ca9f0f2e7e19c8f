// SPDX-License-Identifier: Apache-2.0
// tensor/strided_loop.h: walks several tensors in step, whatever their strides.
//
// Every elementwise kernel is a 1-D inner loop; this reduces N dimensions to calls of
// it, merging dimensions that lie behind each other and splitting large work over the
// pool.
#pragma once

#include <array>
#include <initializer_list>

#include "base/function_ref.h"
#include "base/isa.h"
#include "tensor/tensor.h"

namespace pkg {

/// Inner loop: one pointer and one stride in bytes per operand, and the count.
using InnerLoop = FunctionRef<void(char* const* data, const int64_t* strides, int64_t n)>;

/// Operands of one loop, at most four.
struct Operands {
  std::array<const Tensor*, 4> tensors{};
  size_t count = 0;

  Operands(std::initializer_list<const Tensor*> list) {
    for (const Tensor* tensor : list) tensors[count++] = tensor;
  }
};

/// Runs `inner` over `sizes`; operands broadcast to it.
void strided_loop(const Shape& sizes, const Operands& operands, InnerLoop inner);

/// Copies values, converting the dtype and broadcasting.  Does not wait.
void copy_into(const Tensor& dst, const Tensor& src);
/// The tensor itself when contiguous, else a row-major copy.
Tensor as_contiguous(const Tensor& tensor);
/// The tensor itself when it has the dtype, else a converted copy in the same order.
Tensor as_dtype(const Tensor& tensor, DType dtype);

/// One element per line of cache would waste the vector units, so the usual layouts
/// get their own loop: all operands dense, or one of them a repeated scalar.
template <class Out, class A, class F>
inline void unary_loop(char* const* data, const int64_t* strides, int64_t n, F f) {
  auto* out = reinterpret_cast<Out*>(data[0]);
  auto* a = reinterpret_cast<const A*>(data[1]);
  if (strides[0] == sizeof(Out) && strides[1] == sizeof(A)) {
    with_isa([=] {
      for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
    });
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<Out*>(data[0] + i * strides[0]) =
        f(*reinterpret_cast<const A*>(data[1] + i * strides[1]));
  }
}

template <class Out, class A, class F>
inline void binary_loop(char* const* data, const int64_t* strides, int64_t n, F f) {
  auto* out = reinterpret_cast<Out*>(data[0]);
  auto* a = reinterpret_cast<const A*>(data[1]);
  auto* b = reinterpret_cast<const A*>(data[2]);
  constexpr int64_t dense = sizeof(A);
  if (strides[0] == sizeof(Out)) {
    if (strides[1] == dense && strides[2] == dense) {
      return with_isa([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
      });
    }
    if (strides[1] == dense && strides[2] == 0) {
      const A y = *b;
      return with_isa([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y);
      });
    }
    if (strides[1] == 0 && strides[2] == dense) {
      const A x = *a;
      return with_isa([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
      });
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<Out*>(data[0] + i * strides[0]) =
        f(*reinterpret_cast<const A*>(data[1] + i * strides[1]),
          *reinterpret_cast<const A*>(data[2] + i * strides[2]));
  }
}

/// Out and operands of one type; the last two dense like out, or repeated scalars.
template <class T, class F>
inline void ternary_loop(char* const* data, const int64_t* strides, int64_t n, F f) {
  constexpr int64_t dense = sizeof(T);
  const auto simple = [](int64_t step) { return step == dense || step == 0; };
  if (strides[0] == dense && strides[1] == dense && simple(strides[2]) &&
      simple(strides[3])) {
    auto* out = reinterpret_cast<T*>(data[0]);
    auto* a = reinterpret_cast<const T*>(data[1]);
    auto* b = reinterpret_cast<const T*>(data[2]);
    auto* c = reinterpret_cast<const T*>(data[3]);
    const T y = *b, z = *c;  // before out is written, which may be the same memory
    if (strides[2] && strides[3]) {
      return with_isa([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i], c[i]);
      });
    }
    if (strides[2]) {
      return with_isa([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i], z);
      });
    }
    if (strides[3]) {
      return with_isa([=] {
        for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y, c[i]);
      });
    }
    return with_isa([=] {
      for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y, z);
    });
  }
  const auto at = [&](int k, int64_t i) {
    return *reinterpret_cast<const T*>(data[k] + i * strides[k]);
  };
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<T*>(data[0] + i * strides[0]) = f(at(1, i), at(2, i), at(3, i));
  }
}

}  // namespace pkg

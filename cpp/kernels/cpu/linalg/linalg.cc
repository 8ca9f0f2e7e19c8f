// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/linalg.cc: matrix products, batched or not, by our own loops or OpenBLAS's.
// Transposed operands are taken as such; only other layouts are copied.
#include "dispatcher/library.h"
#include "kernels/cpu/linalg/blas.h"
#include "kernels/cpu/linalg/gemm.h"
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

// Matrices of a batch as BLAS takes them; `tensor` may be a copy.
struct Matrices {
  Tensor tensor;
  bool transposed;
  int64_t leading;  // elements from one row (one column if transposed) to the next
  int64_t step;     // elements from one matrix to the next
};

// The last two dimensions; a third one is the batch.
Matrices as_matrices(const Tensor& t) {
  const size_t last = t.sizes().size() - 1;
  const int64_t rows = t.sizes()[last - 1], columns = t.sizes()[last];
  const int64_t rs = t.strides()[last - 1], cs = t.strides()[last];
  const int64_t least_rows = std::max<int64_t>(1, rows);
  const int64_t least_columns = std::max<int64_t>(1, columns);
  const int64_t step = last == 2 ? t.strides()[0] : 0;
  if (cs == 1 && (rs >= least_columns || rows == 1)) {
    return {t, false, rows == 1 ? least_columns : rs, step};
  }
  if (rs == 1 && (cs >= least_rows || columns == 1)) {
    return {t, true, columns == 1 ? least_rows : cs, step};
  }
  if (columns == 1 && rs >= 1) return {t, false, rs, step};  // vectors with gaps
  if (rows == 1 && cs >= 1) return {t, true, cs, step};
  return {as_contiguous(t), false, least_columns, rows * columns};
}

// All leading dimensions as the rows of one matrix.
Matrices as_rows(const Tensor& t) {
  if (t.ndim() == 2) return as_matrices(t);
  return {as_contiguous(t), false, std::max<int64_t>(1, t.sizes().back()), 0};
}

struct Product {
  int64_t batches, m, n, k;
};

template <class S>
gemm::Strided<S> strided(const Matrices& m, int64_t at) {
  const int64_t row = m.transposed ? 1 : m.leading, column = m.transposed ? m.leading : 1;
  return {m.tensor.data<S>() + at * m.step, row, column};
}

// Runs f(type computed in, type of the elements, result of that type): 16-bit floats are
// computed as float, integers modulo 2^32 or 2^64.
template <class F>
void computed(Tensor& out, F f) {
  const DType dtype = out.dtype();
  const bool small = is_reduced(dtype) || dtype == DType::Int8 || dtype == DType::UInt8;
  if (!small) {
    switch (dtype) {
      case DType::Float32: return f(TypeTag<float>{}, TypeTag<float>{}, out.data<float>());
      case DType::Float64:
        return f(TypeTag<double>{}, TypeTag<double>{}, out.data<double>());
      case DType::Int32:
        return f(TypeTag<uint32_t>{}, TypeTag<int32_t>{},
                 reinterpret_cast<uint32_t*>(out.data<int32_t>()));
      case DType::Int64:
        return f(TypeTag<uint64_t>{}, TypeTag<int64_t>{},
                 reinterpret_cast<uint64_t*>(out.data<int64_t>()));
      default: detail::unsupported_dtype("matmul", dtype);
    }
  }
  Tensor wide = empty(out.sizes(), is_reduced(dtype) ? DType::Float32 : DType::Int32);
  const auto whole = [&] { return reinterpret_cast<uint32_t*>(wide.data<int32_t>()); };
  switch (dtype) {
    case DType::Float16: f(TypeTag<float>{}, TypeTag<Half>{}, wide.data<float>()); break;
    case DType::BFloat16:
      f(TypeTag<float>{}, TypeTag<BFloat16>{}, wide.data<float>());
      break;
    case DType::Int8: f(TypeTag<uint32_t>{}, TypeTag<int8_t>{}, whole()); break;
    default: f(TypeTag<uint32_t>{}, TypeTag<uint8_t>{}, whole());
  }
  copy_into(out, wide);
}

// to = start + a @ b of each batch; `start` is for all batches.
template <class T, class S>
void multiply(const Product& p, const Matrices& a, const Matrices& b, gemm::Start<T> start,
              T* to) {
  if (p.batches * p.m * p.n == 0) return;
  if (p.k == 0) {
    for (int64_t i = 0; i < p.batches * p.m; ++i) {
      if (start.data) std::copy_n(start.data + i % p.m * start.row_step, p.n, to + i * p.n);
      else std::fill_n(to + i * p.n, p.n, T(0));
    }
    return;
  }
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* out = to + i * p.m * p.n;
      if constexpr (std::is_floating_point_v<S>) {
        if (!gemm::best_here()) {
          for (int64_t r = 0; start.data && r < p.m; ++r) {
            std::copy_n(start.data + r * start.row_step, p.n, out + r * p.n);
          }
          blas::gemm(a.transposed, b.transposed, p.m, p.n, p.k,
                     a.tensor.data<T>() + i * a.step, a.leading,
                     b.tensor.data<T>() + i * b.step, b.leading, out, p.n,
                     T(start.data ? 1 : 0));
          continue;
        }
      }
      gemm::multiply<T, S>(strided<S>(a, i), strided<S>(b, i), p.m, p.n, p.k, start, out,
                           p.n);
    }
  };
  // Products are shared out whole: one that is cut packs an operand once for each thread, and
  // all wait at its end.  gemm cuts large ones that would leave a thread without work.
  const double work = double(p.m) * double(p.n) * double(p.k);
  const int64_t threads = num_threads();
  const bool even = p.batches % threads == 0 || p.batches >= 8 * threads;
  if (p.batches == 1 || (work > 2e6 && !even)) return run(0, p.batches);
  parallel_for(0, p.batches, int64_t(std::max(1.0, 5e5 / work)), run);
}

void bmm_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  computed(out, [&]<class T, class S>(TypeTag<T>, TypeTag<S>, T* to) {
    multiply<T, S>({a.sizes()[0], a.sizes()[1], b.sizes()[2], a.sizes()[2]}, as_matrices(a),
                   as_matrices(b), {}, to);
  });
}

void mm_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  computed(out, [&]<class T, class S>(TypeTag<T>, TypeTag<S>, T* to) {
    multiply<T, S>({1, a.sizes()[0], b.sizes()[1], a.sizes()[1]}, as_matrices(a),
                   as_matrices(b), {}, to);
  });
}

void linear_kernel(Tensor& out, const Tensor& input, const Tensor& weight,
                   const Tensor& bias) {
  const int64_t n = weight.ndim() == 2 ? weight.sizes()[0] : 1;
  const int64_t m = n ? out.numel() / n : 0;
  computed(out, [&]<class T, class S>(TypeTag<T>, TypeTag<S>, T* to) {
    // The sums begin with the biases: one row for all.
    std::vector<T, PoolAllocator<T>> row;
    if (bias.defined()) {
      const Tensor dense = as_contiguous(bias);
      const S* b = dense.data<S>();
      row.resize(size_t(n));
      for (int64_t j = 0; j < n; ++j) row[size_t(j)] = T(b[bias.numel() == n ? j : 0]);
    }
    Matrices w = as_rows(weight);
    w.transposed = !w.transposed;
    multiply<T, S>({1, m, n, input.sizes().back()}, as_rows(input), w,
                   {row.empty() ? nullptr : row.data(), 0}, to);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("mm", mm_kernel);
  m.impl("bmm", bmm_kernel);
  m.impl("linear", linear_kernel);
}

}  // namespace
}  // namespace pkg

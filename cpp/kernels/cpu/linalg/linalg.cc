// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/linalg.cc: matrix products, batched or not, by our own loops or OpenBLAS's.
// Transposed operands are taken as such; only other layouts are copied.
#include "dispatcher/library.h"
#include "kernels/cpu/linalg/blas.h"
#include "kernels/cpu/linalg/gemm.h"
#include "kernels/cpu/rows.h"
#include "scheduler/scheduler.h"

namespace pkg {
namespace {

// Matrices of a batch as BLAS takes them; `tensor` may be a copy.
struct Matrices {
  Tensor tensor;
  bool transposed;
  int64_t leading;    // elements from one row (one column if transposed) to the next
  int64_t step;       // elements from one matrix to the next
  int64_t inner = 1;  // from one column (row) to the next; BLAS takes no other
};

// The last two dimensions; a third one is the batch.  Products of vectors read operands of
// any steps where they lie.
Matrices as_matrices(const Tensor& t, bool of_vector) {
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
  if (of_vector) return {t, false, rs, step, cs};
  return {as_contiguous(t), false, least_columns, rows * columns};
}

// All leading dimensions as the rows of one matrix.
Matrices as_rows(const Tensor& t) {
  if (t.ndim() == 2) return as_matrices(t, false);
  return {as_contiguous(t), false, std::max<int64_t>(1, t.sizes().back()), 0};
}

struct Product {
  int64_t batches, m, n, k;
};

template <class S>
gemm::Strided<S> strided(const Matrices& m, int64_t at) {
  const S* data = static_cast<const S*>(m.tensor.data()) + at * m.step;
  if (m.transposed) return {data, m.inner, m.leading};
  return {data, m.leading, m.inner};
}

// Runs f(type computed in, type of the elements): 16-bit floats are computed as float,
// integers modulo 2^32 or 2^64.  Of bytes only the lowest eight bits are kept, which are the
// same whether the bytes have signs.
template <class F>
void computed(DType dtype, F f) {
  switch (dtype) {
    case DType::Float32: return f(TypeTag<float>{}, TypeTag<float>{});
    case DType::Float64: return f(TypeTag<double>{}, TypeTag<double>{});
    case DType::Float16: return f(TypeTag<float>{}, TypeTag<Half>{});
    case DType::BFloat16: return f(TypeTag<float>{}, TypeTag<BFloat16>{});
    case DType::Int64: return f(TypeTag<uint64_t>{}, TypeTag<int64_t>{});
    case DType::Int32: return f(TypeTag<uint32_t>{}, TypeTag<int32_t>{});
    case DType::Int8:
    case DType::UInt8: return f(TypeTag<uint32_t>{}, TypeTag<uint8_t>{});
    default: detail::unsupported_dtype("matmul", dtype);
  }
}

// to = start + a @ b of one product of a batch.
template <class T, class S>
void multiply_one(const Product& p, const Matrices& a, const Matrices& b, int64_t i,
                  gemm::Start<T> start, T* to) {
  if (p.k == 0) {
    for (int64_t r = 0; r < p.m; ++r) {
      if (start.data) std::copy_n(start.data + r * start.row_step, p.n, to + r * p.n);
      else std::fill_n(to + r * p.n, p.n, T(0));
    }
    return;
  }
  if constexpr (std::is_floating_point_v<S>) {
    // Not of a vector: gemm reads one of any steps where it lies, with the same sums.  Nor of
    // single products: BLAS would fill the result with zeros first.
    if (!gemm::best_here() && p.m > 1 && p.n > 1 && p.k > 1) {
      for (int64_t r = 0; start.data && r < p.m; ++r) {
        std::copy_n(start.data + r * start.row_step, p.n, to + r * p.n);
      }
      return blas::gemm(a.transposed, b.transposed, p.m, p.n, p.k,
                        a.tensor.data<T>() + i * a.step, a.leading,
                        b.tensor.data<T>() + i * b.step, b.leading, to, p.n,
                        T(start.data ? 1 : 0));
    }
  }
  gemm::multiply<T, S>(strided<S>(a, i), strided<S>(b, i), p.m, p.n, p.k, start, to, p.n);
}

// out = a @ b where each element is one product, which is converted while it is in cache.
template <class T, class S>
void multiply_vectors(const Product& p, const Matrices& a, const Matrices& b, Tensor& out) {
  constexpr int64_t kSome = 4096;
  const bool tall = p.n == 1;
  const int64_t lines = tall ? 1 : p.m, length = tall ? p.m : p.n;
  const int64_t pieces = (length + kSome - 1) / kSome;
  const gemm::Strided<S> left = strided<S>(a, 0), right = strided<S>(b, 0);
  const Conversion narrow(DType::Float32, out.dtype(), out.dtype());
  auto* to = static_cast<S*>(out.data());
  parallel_for(0, lines * pieces, 1 + kGrain / std::min(length, kSome),
               [&](int64_t begin, int64_t end) {
                 T sums[kSome];
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t line = i / pieces, at = i % pieces * kSome;
                   const int64_t n = std::min(kSome, length - at);
                   gemm::multiply<T, S>(left.at(tall ? at : line, 0),
                                        right.at(0, tall ? 0 : at), tall ? n : 1,
                                        tall ? 1 : n, 1, {}, sums, tall ? 1 : n);
                   narrow.run(reinterpret_cast<char*>(to + line * length + at),
                              reinterpret_cast<char*>(sums), n, nullptr);
                 }
               });
}

// out = start + a @ b of each batch; `start` is for all batches.
template <class T, class S>
void multiply(const Product& p, const Matrices& a, const Matrices& b, gemm::Start<T> start,
              Tensor& out) {
  const int64_t size = p.m * p.n;
  if (p.batches * size == 0) return;
  // Sums of another type than the result's are converted while they are in cache.
  constexpr bool kConverted = sizeof(T) != sizeof(S);
  const DType wide = std::is_same_v<T, float> ? DType::Float32 : DType::Int32;
  // Products are shared out whole: one that is cut packs an operand once for each thread, and
  // all wait at its end.  gemm cuts large ones that would leave a thread without work.
  const double work = double(p.m) * double(p.n) * double(p.k);
  const int64_t threads = num_threads();
  const bool even = p.batches % threads == 0 || p.batches >= 8 * threads;
  if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>) {
    if (p.batches == 1 && p.k == 1 && !start.data) {
      return multiply_vectors<T, S>(p, a, b, out);
    }
  }
  if (p.batches == 1 || (work > 2e6 && !even)) {
    const Tensor sums = kConverted ? empty(out.sizes(), wide) : out;
    for (int64_t i = 0; i < p.batches; ++i) {
      multiply_one<T, S>(p, a, b, i, start, static_cast<T*>(sums.data()) + i * size);
      if (i) stop_point();
    }
    if (kConverted) copy_into(out, sums);
    return;
  }
  const auto run = [&](int64_t begin, int64_t end) {
    StopCounter stops;
    char* to = static_cast<char*>(out.data()) + begin * size * int64_t(sizeof(S));
    const RunBuffer<T> sums(kConverted ? size : 0);
    for (int64_t i = begin; i < end; ++i, to += size * int64_t(sizeof(S))) {
      if constexpr (kConverted) {
        multiply_one<T, S>(p, a, b, i, start, sums.data());
        Conversion(wide, out.dtype(), out.dtype())
            .run(to, reinterpret_cast<char*>(sums.data()), size, nullptr);
      } else {
        multiply_one<T, S>(p, a, b, i, start, reinterpret_cast<T*>(to));
      }
      stops(size + int64_t(work / 16));
    }
  };
  parallel_for(0, p.batches, int64_t(5e5 / std::clamp(work, 1.0, 5e5)), run);
}

void multiply_matrices(const Product& p, const Tensor& a, const Tensor& b, Tensor& out) {
  const bool of_vector = p.m == 1 || p.n == 1;
  computed(out.dtype(), [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    multiply<T, S>(p, as_matrices(a, of_vector), as_matrices(b, of_vector), {}, out);
  });
}

void bmm_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  multiply_matrices({a.sizes()[0], a.sizes()[1], b.sizes()[2], a.sizes()[2]}, a, b, out);
}

void mm_kernel(Tensor& out, const Tensor& a, const Tensor& b) {
  multiply_matrices({1, a.sizes()[0], b.sizes()[1], a.sizes()[1]}, a, b, out);
}

void linear_kernel(Tensor& out, const Tensor& input, const Tensor& weight,
                   const Tensor& bias) {
  const int64_t n = weight.ndim() == 2 ? weight.sizes()[0] : 1;
  const int64_t m = n ? out.numel() / n : 0;
  computed(out.dtype(), [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    // The sums begin with the biases: one row for all.
    std::vector<T, PoolAllocator<T>> row;
    if (bias.defined()) {
      const Tensor dense = as_contiguous(bias);
      auto* b = static_cast<const S*>(dense.data());
      row.resize(size_t(n));
      for (int64_t j = 0; j < n; ++j) row[size_t(j)] = T(b[bias.numel() == n ? j : 0]);
    }
    Matrices w = as_rows(weight);
    w.transposed = !w.transposed;
    multiply<T, S>({1, m, n, input.sizes().back()}, as_rows(input), w,
                   {row.empty() ? nullptr : row.data(), 0}, out);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("mm", mm_kernel);
  m.impl("bmm", bmm_kernel);
  m.impl("linear", linear_kernel);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/extremes.cc: the largest and smallest over dimensions, and where they are.
// NaN counts as the extreme.
#include <vector>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/reduce_layout.h"
#include "kernels/cpu/rows.h"

namespace pkg {
namespace {

template <bool Max, class T>
bool beats(T candidate, T best) {
  if (best != best) return false;               // NaN wins and stays
  if (candidate != candidate) return true;
  return Max ? candidate > best : candidate < best;
}

// The extremes of every row, or of every column: then row by row into `out`.
template <bool Max, class T>
void extremes(const Layout& in, T* out) {
  const T* x = static_cast<const T*>(in.data.data<void>());  // bools as bytes, too
  const int64_t n = in.reduced;
  if (n == 0) {
    std::fill_n(out, in.outer, T());
    return;
  }
  if (in.columns) {
    parallel_for(0, in.outer, std::max<int64_t>(64, kGrain / n), [=, outer = in.outer](
                                                                   int64_t begin, int64_t end) {
      with_isa([=] {
        std::copy(x + begin, x + end, out + begin);
        for (int64_t r = 1; r < n; ++r) {
          const T* row = x + r * outer;
          for (int64_t i = begin; i < end; ++i) {
            const T value = row[i], old = out[i];
            // NaN wins and stays; without branches, to be vectorised.
            const bool better = (Max ? value > old : value < old) | (value != value);
            out[i] = better & (old == old) ? value : old;
          }
        }
      });
    });
    return;
  }
  // One long row is cut into blocks, so that all threads help.
  constexpr int64_t block = 1 << 16;
  if (in.outer == 1 && n > block) {
    std::vector<T> parts(size_t((n + block - 1) / block));
    parallel_for(0, int64_t(parts.size()), 1, [&](int64_t begin, int64_t end) {
      with_isa([&] {
        for (int64_t i = begin; i < end; ++i) {
          parts[size_t(i)] =
              row_extreme<Max>(x + i * block, std::min(block, n - i * block));
        }
      });
    });
    *out = row_extreme<Max>(parts.data(), int64_t(parts.size()));
    return;
  }
  parallel_for(0, in.outer, std::max<int64_t>(1, kGrain / n), [=](int64_t begin, int64_t end) {
    with_isa([=] {
      for (int64_t i = begin; i < end; ++i) out[i] = row_extreme<Max>(x + i * n, n);
    });
  });
}

template <bool Max>
void extreme_kernel(Tensor& out, const Tensor& self, const Dims& dim, bool) {
  const DType type = is_reduced(self.dtype()) ? DType::Float32 : self.dtype();
  const Layout in = lay_out(as_dtype(self, type), dim);
  Tensor to = out.dtype() == type ? out : empty(out.sizes(), type);
  visit_compute("amax", type, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<T, bool>) {  // one byte, 0 or 1
      extremes<Max>(in, reinterpret_cast<uint8_t*>(to.data<T>()));
    } else {
      extremes<Max>(in, to.data<T>());
    }
  });
  if (!to.is_same(out)) copy_into(out, to);
}

// Where the extreme of a row is: the first place, of the first NaN if there is one.
template <bool Max, class T>
int64_t place_of_extreme(const T* x, int64_t n) {
  const T best = row_extreme<Max>(x, n);
  const auto found = best == best ? std::find(x, x + n, best)
                                  : std::find_if(x, x + n, [](T v) { return v != v; });
  return found - x;
}

template <bool Max>
void arg_kernel(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool) {
  const DType type = is_reduced(self.dtype()) ? DType::Float32 : self.dtype();
  const Layout in = lay_out(as_dtype(self, type), dim ? Dims(Shape{*dim}) : Dims(), false);
  int64_t* result = out.data<int64_t>();
  visit_compute("argmax", type, [&]<class T>(TypeTag<T>) {
    using Plain = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    if (!in.columns && in.reduced > 0) {
      const auto* x = reinterpret_cast<const Plain*>(in.data.data<T>());
      const int64_t n = in.reduced;
      parallel_for(0, in.outer, std::max<int64_t>(1, kGrain / n),
                   [=](int64_t begin, int64_t end) {
                     with_isa([=] {
                       for (int64_t i = begin; i < end; ++i) {
                         result[i] = place_of_extreme<Max>(x + i * n, n);
                       }
                     });
                   });
      return;
    }
    struct Best {
      T value;
      int64_t at;
    };
    fold<T>(in, [] { return Best{T(), -1}; },
            [](Best& best, int64_t r, T x) {
              if (best.at < 0 || beats<Max>(x, best.value)) best = {x, r};
            },
            [&](int64_t i, const Best& best) { result[i] = best.at; });
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("amax", extreme_kernel<true>);
  m.impl("amin", extreme_kernel<false>);
  m.impl("argmax", arg_kernel<true>);
  m.impl("argmin", arg_kernel<false>);
}

}  // namespace
}  // namespace pkg

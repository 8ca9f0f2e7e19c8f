// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/extremes.cc: the largest and smallest over dimensions.
#include <cstring>

#include "dispatcher/library.h"
#include "kernels/cpu/reduce/extreme.h"
#include "kernels/cpu/reduce/fold_sixteens.h"
#include "kernels/cpu/reduce/numbers.h"

namespace pkg {
namespace {

template <bool Max>
void extreme_kernel(Tensor& out, const Tensor& self, const Dims& dim, bool) {
  const bool reduced = is_reduced(self.dtype());
  const auto run = [&]<class T>(TypeTag<T>) {
    Fold fold = FoldLoops<Extreme<Max, T>>::fold(dtype_of<T>);
    if constexpr (std::is_same_v<T, float>) {
      fold = fold_of_float<Extreme<Max, float>>(self.dtype());
    }
    run_fold(self, dim, fold, {&out}, [&](const void* states, void* const* to, int64_t n) {
      if (reduced) write_numbers(static_cast<const float*>(states), to[0], out.dtype(), n);
      else std::memcpy(to[0], states, size_t(n) * sizeof(T));
    });
  };
  const DType type = reduced ? DType::Float32 : self.dtype();
  visit_compute("amax", type, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_same_v<T, bool>) run(TypeTag<uint8_t>());  // the bytes 0 and 1
    else run(tag);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("amax", extreme_kernel<true>);
  m.impl("amin", extreme_kernel<false>);
}

}  // namespace
}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// tensor/tiny.cc: staging of a few elements, for which a walk would cost more than the loop.
#include "tensor/blocks.h"

namespace pkg::staging {
namespace {

using Places = std::array<int64_t, size_t(kTiny)>;

// Where the elements of `tensor` lie, in bytes, in the row-major order of `sizes`.
void list_places(const Tensor& tensor, const Shape& sizes, Places& places) {
  const size_t missing = sizes.size() - tensor.sizes().size();
  const int64_t size = itemsize(tensor.dtype());
  places[0] = 0;
  size_t n = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    const bool repeats = d < missing || tensor.sizes()[d - missing] == 1;
    const int64_t step = repeats ? 0 : tensor.strides()[d - missing] * size;
    const size_t before = n;
    for (int64_t t = 1; t < sizes[d]; ++t) {
      for (size_t i = 0; i < before; ++i) places[n++] = places[i] + t * step;
    }
  }
}

struct Buffer {
  alignas(64) char bytes[kTiny * 8];
};

}  // namespace

void run_tiny(const Pointwise& kernel, int64_t n) {
  std::array<Buffer, kMaxOperands> buffers;
  std::array<Buffer, 2> scratch;
  Places places;
  char* const spare[] = {scratch[0].bytes, scratch[1].bytes};
  char* at[kMaxOperands];
  const Tensor& out = *kernel.parts[0].tensor;
  for (size_t k = 1; k < kernel.count; ++k) {
    const Part& part = kernel.parts[k];
    const Tensor& t = *part.tensor;
    const DType own = t.dtype();
    auto* from = static_cast<char*>(t.data());
    const bool dense = t.is_contiguous() && t.sizes() == out.sizes();
    const bool number = t.numel() == 1;
    const bool fits = own == part.type && own == part.via;
    const Conversion conversion = fits ? Conversion()
                                       : Conversion(own, part.type, part.via);
    at[k] = buffers[k].bytes;
    if (!dense && !number) {
      check_broadcasts(t.sizes(), out.sizes());
      list_places(t, out.sizes(), places);
      char* const to = conversion.count ? spare[0] : at[k];
      moves_of(itemsize(own)).gather_at(to, from, places.data(), n);
      from = to;
    }
    if (conversion.count) {
      conversion.run(at[k], from, number ? 1 : n, spare);
      from = at[k];
    }
    if (number && n > 1) moves_of(itemsize(part.type)).repeat(at[k], from, n);
    else at[k] = from;
  }
  const DType type = kernel.parts[0].type, own = out.dtype();
  auto* const to = static_cast<char*>(out.data());
  const bool converts = type != own;
  at[0] = out.is_contiguous() && !converts ? to : buffers[0].bytes;
  if (kernel.block) kernel.block(kernel.formula, at, n);
  else if (at[0] == to) std::memmove(to, at[1], size_t(n * itemsize(own)));
  else at[0] = at[1];
  if (at[0] == to) return;
  if (converts) {
    const Conversion conversion(type, own, own);
    char* const whole = out.is_contiguous() ? to : spare[1];
    if (conversion.count) conversion.run(whole, at[0], n, spare);
    else std::memcpy(whole, at[0], size_t(n * itemsize(own)));
    if (whole == to) return;
    at[0] = whole;
  }
  list_places(out, out.sizes(), places);
  moves_of(itemsize(own)).scatter_at(to, places.data(), at[0], n);
}

}  // namespace pkg::staging

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/scan_extremes.cc: the extreme value so far and its place.
#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/reduce/scan_tiles.h"

namespace pkg {
namespace {

template <size_t size>
struct MaskOf {
  using type = std::conditional_t<
      size == 1, uint8_t,
      std::conditional_t<size == 2, uint16_t,
                         std::conditional_t<size == 4, uint32_t, uint64_t>>>;
};

// The latest of equals wins, and every NaN.
template <class T, bool Max>
struct Extreme {
  static bool wins(T x, T best) { return x != x || (Max ? x >= best : x <= best); }

  static void columns(const ScanTile& t) {
    using Mask = typename MaskOf<sizeof(T)>::type;
    T* __restrict best = static_cast<T*>(t.state);
    int64_t* __restrict place = static_cast<int64_t*>(t.state) + kScanLines;
    alignas(64) Mask won[kScanLines];
    auto* x = static_cast<const T*>(t.x[0]);
    auto* y = static_cast<T*>(t.y[0]);
    auto* where = static_cast<int64_t*>(t.y[1]);
    int64_t at = t.first;
    for (int64_t i = 0; i < t.places; ++i, at += t.next) {
      if (i == 0 && t.begins) {
        std::copy_n(x, t.lines, best);
        std::fill_n(place, t.lines, at);
      }
#pragma omp simd
      for (int64_t j = 0; j < t.lines; ++j) {
        const T value = x[j], old = best[j];
        const bool w = wins(value, old);
        won[j] = w;
        y[j] = best[j] = w ? value : old;
      }
#pragma omp simd
      for (int64_t j = 0; j < t.lines; ++j) {
        where[j] = place[j] = won[j] ? at : place[j];
      }
      x += t.x_place[0];
      y += t.y_place[0];
      where += t.y_place[1];
    }
  }

  // With a jump, which is rarely taken: what is chosen would be waited for.
  [[gnu::always_inline]] static void look(T x, int64_t at, T& best, int64_t& place) {
    if (__builtin_expect(wins(x, best), 0)) {
      best = x;
      place = at;
    }
  }

  // Lines that lie dense: most groups hold no new extreme, and are the last one's.  The
  // first elements of a line often are one.
  static void along(const ScanTile& t, const T* x, T* __restrict y,
                    int64_t* __restrict where, T& last, int64_t& last_place) {
    constexpr int64_t kGroup = 16, kFirst = 64;
    using Mask = typename MaskOf<sizeof(T)>::type;
    // Copies: bytes that are written may be what the tile says, for the compiler.
    const int64_t first = t.first, next = t.next, places = t.places;
    T best = last;
    int64_t place = last_place, i = 0;
    const auto singly = [&](int64_t end) {
      for (; i < end; ++i) {
        look(x[i], first + i * next, best, place);
        y[i] = best;
        where[i] = place;
      }
    };
    if (t.begins) singly(std::min(places, kFirst));
    for (; i + kGroup <= places; i += kGroup) {
      Mask any = 0;
#pragma omp simd reduction(| : any)
      for (int64_t k = 0; k < kGroup; ++k) any |= Mask(wins(x[i + k], best));
      if (any) {
        for (int64_t k = i; k < i + kGroup; ++k) {
          look(x[k], first + k * next, best, place);
          y[k] = best;
          where[k] = place;
        }
      } else {
        for (int64_t k = i; k < i + kGroup; ++k) y[k] = best;
        for (int64_t k = i; k < i + kGroup; ++k) where[k] = place;
      }
    }
    singly(places);
    last = best;
    last_place = place;
  }

  static void run(const ScanTile& tile) {
    if (tile.side_by_side) return with_isa([t = tile] { columns(t); });
    const ScanTile& t = tile;
    T* bests = static_cast<T*>(t.state);
    int64_t* places = static_cast<int64_t*>(t.state) + kScanLines;
    const int64_t dx = t.x_place[0], dy = t.y_place[0], dw = t.y_place[1];
    const bool dense = dx == 1 && dy == 1 && dw == 1;
    const auto each_line = [&](auto scan) {
      for (int64_t j = 0; j < t.lines; ++j) {
        auto* x = static_cast<const T*>(t.x[0]) + j * t.x_line[0];
        auto* y = static_cast<T*>(t.y[0]) + j * t.y_line[0];
        auto* where = static_cast<int64_t*>(t.y[1]) + j * t.y_line[1];
        T best = t.begins ? x[0] : bests[j];
        int64_t place = t.begins ? t.first : places[j];
        scan(x, y, where, best, place);
        bests[j] = best;
        places[j] = place;
      }
    };
    if (dense) {
      return with_isa([&] {
        each_line([&t](const T* x, T* y, int64_t* where, T& best, int64_t& place) {
          along(t, x, y, where, best, place);
        });
      });
    }
    each_line([&](const T* x, T* y, int64_t* where, T& best, int64_t& place) {
      for (int64_t i = 0; i < t.places; ++i) {
        look(x[i * dx], t.first + i * t.next, best, place);
        y[i * dy] = best;
        where[i * dw] = place;
      }
    });
  }
};

// Where few lines lie side by side, bytes would fill no vector.
constexpr int64_t kFewBytes = 32;

DType computed_in(const Tensor& self, int64_t dim) {
  if (is_reduced(self.dtype())) return DType::Float32;
  if (itemsize(self.dtype()) > 1 || self.ndim() == 0) return self.dtype();
  int64_t lines = 1;
  for (auto d = size_t(wrap_dim("scan", dim, self.ndim())) + 1; d < self.sizes().size();
       ++d)
    lines *= self.sizes()[d];
  return lines > 1 && lines < kFewBytes ? DType::Int32 : self.dtype();
}

template <bool Max>
void cumulative_extreme(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  const DType type = computed_in(self, dim);
  visit_compute("cummax", type, [&]<class T>(TypeTag<T>) {
    run_scan(type, dim, false, {&self}, {&values, &indices}, Extreme<T, Max>::run,
             ShortLines::Turned);
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("cummax", cumulative_extreme<true>);
  m.impl("cummin", cumulative_extreme<false>);
}

}  // namespace
}  // namespace pkg

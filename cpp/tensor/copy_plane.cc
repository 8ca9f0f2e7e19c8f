// SPDX-License-Identifier: Apache-2.0
// tensor/copy_plane.cc: short rows cost no call each, and the shortest no loop.
#include "tensor/copy_plane.h"

#include <algorithm>
#include <cstring>

#include "base/isa.h"

namespace pkg {
namespace {

// The plane in elements, for one of the sizes.
template <class T>
struct Mover {
  T* to;
  const T* from;
  int64_t columns, rows, to_step, to_row, from_step, from_row;

  explicit Mover(const Plane& p)
      : to(reinterpret_cast<T*>(p.to)),
        from(reinterpret_cast<const T*>(p.from)),
        columns(p.columns),
        rows(p.rows),
        to_step(p.to_step / size),
        to_row(p.to_row / size),
        from_step(p.from_step / size),
        from_row(p.from_row / size) {}

  bool by_vectors() const {
    return to_step == 1 && columns >= kFew && from_step >= -1 && from_step <= 1;
  }
  void run_vectors() const {
    if (columns >= kMany) to_dense_rows<kMany>();
    else to_dense_rows<kFew>();
  }
  // Where the compiler would gather, which is slower than one after the other.
  void run_elements() const {
    if (columns < kFew) return by_columns();
    if (to_step == 1 && from_step == 2) {
      return each_row([n = columns](T* y, const T* x) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) y[i] = x[2 * i];
      });
    }
    each_row([n = columns, out = to_step, in = from_step](T* y, const T* x) {
#pragma GCC unroll 4
      for (int64_t i = 0; i < n; ++i) y[i * out] = x[i * in];
    });
  }

 private:
  static constexpr int64_t size = sizeof(T), kFew = 16 / size, kMany = 64 / size;

  template <class F>
  void each_row(F f) const {
    T* y = to;
    const T* x = from;
    for (int64_t r = 0; r < rows; ++r, y += to_row, x += from_row) f(y, x);
  }
  // In blocks that stay in cache.
  void by_columns() const {
    constexpr int64_t kRows = 256;
    for (int64_t first = 0; first < rows; first += kRows) {
      const int64_t some = std::min(kRows, rows - first), apart = to_row, next = from_row;
      for (int64_t i = 0; i < columns; ++i) {
        T* __restrict y = to + first * to_row + i * to_step;
        const T* __restrict x = from + first * from_row + i * from_step;
#pragma GCC unroll 4
        for (int64_t r = 0; r < some; ++r) y[r * apart] = x[r * next];
      }
    }
  }
  // By vectors of so many elements, of which the last one may begin in the one before.
  template <int64_t lanes>
  void to_dense_rows() const {
    if (from_step == 1) {
      each_row([n = columns](T* y, const T* x) {
        each_vector<lanes>(n,
                           [=](int64_t at) { std::memcpy(y + at, x + at, lanes * size); });
      });
    } else if (from_step == 0) {
      each_row([n = columns](T* y, const T* x) {
        T some[lanes];
        for (int64_t k = 0; k < lanes; ++k) some[k] = *x;
        each_vector<lanes>(n, [&](int64_t at) { std::memcpy(y + at, some, lanes * size); });
      });
    } else {
      each_row([n = columns](T* y, const T* x) {
        each_vector<lanes>(n, [=](int64_t at) { put_reversed<lanes>(y + at, x - at); });
      });
    }
  }
  template <int64_t lanes, class F>
  static void each_vector(int64_t n, F f) {
    for (int64_t at = 0; at + lanes <= n; at += lanes) f(at);
    if (n % lanes) f(n - lanes);
  }
  template <int64_t lanes>
  static void put_reversed(T* y, const T* last) {
    T some[lanes], turned[lanes];
    std::memcpy(some, last - (lanes - 1), sizeof(some));
#pragma omp simd
    for (int64_t k = 0; k < lanes; ++k) turned[k] = some[lanes - 1 - k];
    std::memcpy(y, turned, sizeof(turned));
  }
};

template <class T>
void copy(const Plane& plane) {
  // By value: bytes that are written may be anything else.
  const Mover<T> mover(plane);
  if (mover.by_vectors()) with_isa([mover] { mover.run_vectors(); });
  else with_isa<Isa::V3>([mover] { mover.run_elements(); });
}

// Dense rows of a few bytes in reverse order, as of an image that is flipped: some of them
// change places in a register.
constexpr int64_t kRegister = 16;
bool are_reversed(const Plane& p, int64_t itemsize) {
  const int64_t bytes = p.columns * itemsize;
  return bytes <= kRegister && p.to_row == bytes && p.from_row == -bytes && p.rows > 8 &&
         (p.columns == 1 || (p.to_step == itemsize && p.from_step == itemsize));
}
void copy_reversed(const Plane& p, int64_t bytes) {
  using Bytes [[gnu::vector_size(kRegister)]] = uint8_t;
  with_isa<Isa::V3>([to = p.to, from = p.from, rows = p.rows, bytes] {
    const int64_t some = kRegister / bytes, used = some * bytes;
    Bytes order;
    for (int64_t k = 0; k < kRegister; ++k) {
      order[k] = uint8_t(k < used ? (some - 1 - k / bytes) * bytes + k % bytes : k);
    }
    const auto move = [=](int64_t r) {
      std::memcpy(to + r * bytes, from - r * bytes, size_t(bytes));
    };
    // A register reads and writes more than its rows.  What that is of the first rows and of
    // the last ones is not ours, so they are moved one by one.
    int64_t r = 0;
    for (; r < std::min(some, rows); ++r) move(r);
    const int64_t left = (rows - r) * bytes;
    const int64_t times = left < kRegister ? 0 : (left - kRegister) / used + 1;
    char* y = to + r * bytes;
    const char* x = from - (r + some - 1) * bytes;
    r += times * some;
#pragma GCC unroll 4
    for (int64_t i = 0; i < times; ++i, y += used, x -= used) {
      Bytes row;
      std::memcpy(&row, x, sizeof(row));
      row = __builtin_shuffle(row, order);
      std::memcpy(y, &row, sizeof(row));
    }
    for (; r < rows; ++r) move(r);
  });
}

}  // namespace

void copy_plane(const Plane& plane, int64_t itemsize) {
  if (are_reversed(plane, itemsize)) {
    return copy_reversed(plane, plane.columns * itemsize);
  }
  switch (itemsize) {
    case 1: return copy<uint8_t>(plane);
    case 2: return copy<uint16_t>(plane);
    case 4: return copy<uint32_t>(plane);
    default: return copy<uint64_t>(plane);
  }
}

}  // namespace pkg

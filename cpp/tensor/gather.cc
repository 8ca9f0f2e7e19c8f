// SPDX-License-Identifier: Apache-2.0
// tensor/gather.cc: moves of elements, for each size.
//
// Note [Squares]
// A transposed tensor is brought in squares of 8 x 8 elements, so that what is read of a
// line of cache is used at once; of 4 x 4 where elements have four bytes or more, as
// registers hold those.  A square is turned by perfect shuffles of its elements (Stone,
// "Parallel Processing with the Perfect Shuffle", 1971): one rotates the bits of an
// element's number, of which there are six or four, by one, so that three or two of them
// exchange the bits of row and column.  A shuffle is a loop that the compiler makes of
// vector instructions.
#include "tensor/gather.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/isa.h"
#include "tensor/copy_run.h"

namespace pkg {
namespace {

// Every other element backwards, from the last one on: only what is written may run so.
template <class T>
inline void gather_back(char* to, const char* from, int64_t n) {
  auto* out = reinterpret_cast<T*>(to);
  auto* in = reinterpret_cast<const T*>(from) - 2 * (n - 1);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[n - 1 - i] = in[2 * i];
}

template <class T>
inline void reverse(char* to, const char* from, int64_t n) {
  auto* out = reinterpret_cast<T*>(to);
  auto* first = reinterpret_cast<const T*>(from) - (n - 1);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = first[n - 1 - i];
}

template <class T>
void gather(char* to, const char* from, int64_t stride, int64_t n) {
  const auto loop = [=](auto step) {
    auto* out = reinterpret_cast<T*>(to);
    const char* const first = from;  // out may be bytes, which might be these variables
    const int64_t past = n;
#pragma GCC ivdep
    for (int64_t i = 0; i < past; ++i) {
      out[i] = *reinterpret_cast<const T*>(first + i * step);
    }
  };
  // Of every other one the compiler reads whole vectors, and drops half of each.
  constexpr std::integral_constant<int64_t, 2 * int64_t(sizeof(T))> other;
  if (stride == other) with_isa<Isa::V3>([=] { loop(other); });
  else if (stride == -other) with_isa<Isa::V3>([=] { gather_back<T>(to, from, n); });
  else if (stride == -int64_t(sizeof(T))) with_isa([=] { reverse<T>(to, from, n); });
  else with_isa<Isa::V3>([=] { loop(stride); });
}

template <class T>
void scatter(char* to, int64_t stride, const char* from, int64_t n) {
  auto* in = reinterpret_cast<const T*>(from);
  const auto loop = [=](auto step) {
    char* at = to;
#pragma GCC ivdep
#pragma GCC unroll 8
    for (int64_t i = 0; i < n; ++i, at += step) *reinterpret_cast<T*>(at) = in[i];
  };
  constexpr std::integral_constant<int64_t, 2 * int64_t(sizeof(T))> other;
  if (stride == other) loop(other);
  else loop(stride);
}

template <class T>
void spread(char* to, int64_t stride, const char* element, int64_t n) {
  const T value = *reinterpret_cast<const T*>(element);
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = value;
}

template <class T>
void gather_at(char* to, const char* from, const int64_t* places, int64_t n) {
  auto* out = reinterpret_cast<T*>(to);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    out[i] = *reinterpret_cast<const T*>(from + places[i]);
  }
}

template <class T>
void scatter_at(char* to, const int64_t* places, const char* from, int64_t n) {
  auto* in = reinterpret_cast<const T*>(from);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + places[i]) = in[i];
}

template <class T>
void repeat(char* to, const char* element, int64_t n) {
  with_isa([=] {
    const T value = *reinterpret_cast<const T*>(element);
    auto* out = reinterpret_cast<T*>(to);
#pragma GCC ivdep
#pragma GCC unroll 4
    for (int64_t i = 0, past = n; i < past; ++i) out[i] = value;
  });
}

template <class T>
void repeat_each(char* to, const char* from, int64_t rows, int64_t columns) {
  with_isa([=] {
    auto* out = reinterpret_cast<T*>(to);
    auto* in = reinterpret_cast<const T*>(from);
    // Whole vectors, over what the next rows fill.
    constexpr int64_t vector = 64 / int64_t(sizeof(T));
    const int64_t n = columns, whole = (n + vector - 1) / vector * vector;
    T* const end = out + rows * n;
    for (; end - out >= whole; out += n, ++in) {
      const T value = *in;
      for (int64_t i = 0; i < whole; i += vector) {
#pragma GCC ivdep
        for (int64_t k = 0; k < vector; ++k) out[i + k] = value;
      }
    }
    for (; out < end; out += n, ++in) std::fill_n(out, n, *in);
  });
}

// out[2i], out[2i + 1] = low[i], high[i].
template <int N, class T>
inline void shuffle(T* out, const T* low, const T* high) {
#pragma GCC ivdep
  for (int i = 0; i < N; ++i) {
    out[2 * i] = low[i];
    out[2 * i + 1] = high[i];
  }
}

// See Note [Squares].
template <class T>
constexpr int kSquare = sizeof(T) < 4 ? 8 : 4;

template <class T>
inline void turn_square(char* to, int64_t to_row, const char* from, int64_t from_column) {
  constexpr int N = kSquare<T>;
  T first[N * N], second[N * N];
  for (int r = 0; r < N / 2; ++r) {
    shuffle<N>(first + 2 * N * r, reinterpret_cast<const T*>(from + r * from_column),
               reinterpret_cast<const T*>(from + (r + N / 2) * from_column));
  }
  if constexpr (N == 8) {
    for (int r = 0; r < N / 2; ++r) {
      shuffle<N>(second + 2 * N * r, first + N * r, first + N * (r + N / 2));
    }
  }
  const T* last = N == 8 ? second : first;
  for (int r = 0; r < N / 2; ++r) {
    const T *low = last + N * r, *high = last + N * (r + N / 2);
    shuffle<N / 2>(reinterpret_cast<T*>(to + 2 * r * to_row), low, high);
    shuffle<N / 2>(reinterpret_cast<T*>(to + (2 * r + 1) * to_row), low + N / 2,
                   high + N / 2);
  }
}

// Of fewer columns than a square's: all of a row before the next, so that each line of cache
// that is written is met once.
template <class T, int columns = kSquare<T> - 1>
inline void transpose_narrow(char* to, int64_t to_row, const char* from,
                             int64_t from_column, int64_t from_row, int64_t rows,
                             int64_t n) {
  if constexpr (columns > 1) {
    if (n < columns) {
      return transpose_narrow<T, columns - 1>(to, to_row, from, from_column, from_row, rows,
                                              n);
    }
  }
  for (int64_t r = 0; r < rows; ++r, to += to_row, from += from_row) {
    const auto element = [&](int c) {
      return *reinterpret_cast<const T*>(from + c * from_column);
    };
    if constexpr (columns * sizeof(T) == 14) {  // the compiler makes no vector of those
      for (int c = 0; c < columns; ++c) reinterpret_cast<T*>(to)[c] = element(c);
    } else {
      T row[columns];
      for (int c = 0; c < columns; ++c) row[c] = element(c);
      std::memcpy(to, row, sizeof(row));
    }
  }
}

// All squares; the last ones begin where they end with the others: some elements are written
// twice.  Of what has gaps (from_row is more than an element) each is gathered first.
template <class T, class Row>
inline void turn_squares(char* to, int64_t to_row, const char* from, int64_t from_column,
                         Row from_row, int64_t rows, int64_t columns) {
  constexpr int64_t N = kSquare<T>, size = sizeof(T);
  for (int64_t r = 0; r < rows; r += N) {
    const int64_t at = std::min(r, rows - N);
    for (int64_t c = 0; c < columns; c += N) {
      const int64_t column = std::min(c, columns - N);
      char* const place = to + at * to_row + column * size;
      const char* const square = from + column * from_column + at * from_row;
      if constexpr (std::is_same_v<Row, std::integral_constant<int64_t, size>>) {
        turn_square<T>(place, to_row, square, from_column);
      } else {
        T dense[N * N];
        for (int64_t k = 0; k < N; ++k) {
#pragma GCC unroll 8
          for (int64_t i = 0; i < N; ++i) {
            dense[k * N + i] = *reinterpret_cast<const T*>(square + k * from_column +
                                                           i * from_row);
          }
        }
        turn_square<T>(place, to_row, reinterpret_cast<const char*>(dense), N * size);
      }
    }
  }
}

template <class T>
void transpose(char* to, int64_t to_row, const char* from, int64_t from_column,
               int64_t from_row, int64_t rows, int64_t columns) {
  constexpr int64_t size = sizeof(T);
  if (rows < kSquare<T>) {
    for (int64_t r = 0; r < rows; ++r) {
      gather<T>(to + r * to_row, from + r * from_row, from_column, columns);
    }
    return;
  }
  if (columns < kSquare<T>) {
    return transpose_narrow<T>(to, to_row, from, from_column, from_row, rows, columns);
  }
  // Vectors of the next level are too wide for rows of squares.
  with_isa<Isa::V3>([=] {
    const auto turn = [=](auto row) {
      turn_squares<T>(to, to_row, from, from_column, row, rows, columns);
    };
    if (from_row == size) turn(std::integral_constant<int64_t, size>());
    else if (from_row == 2 * size) turn(std::integral_constant<int64_t, 2 * size>());
    else turn(from_row);
  });
}

template <class T>
constexpr Moves kMoves{gather<T>, scatter<T>, gather_at<T>,   scatter_at<T>,
                       repeat<T>, spread<T>,  repeat_each<T>, transpose<T>};

}  // namespace

const Moves& moves_of(int64_t itemsize) {
  switch (itemsize) {
    case 1: return kMoves<uint8_t>;
    case 2: return kMoves<uint16_t>;
    case 4: return kMoves<uint32_t>;
    default: return kMoves<uint64_t>;
  }
}

void copy_rows(char* to, int64_t to_step, const char* from, int64_t from_step,
               int64_t bytes, int64_t n) {
  if (bytes > kLongRun) {
    for (int64_t i = 0; i < n; ++i) {
      move_bytes(to + i * to_step, from + i * from_step, bytes);
    }
  } else {
    with_isa([=] {
      for (int64_t i = 0; i < n; ++i)
        copy_run(to + i * to_step, from + i * from_step, bytes);
    });
  }
}

}  // namespace pkg

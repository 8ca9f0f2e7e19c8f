// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/fold.cc: sorts dimensions by their strides, cuts the results into
// tiles and long reductions into parts, and walks them.
//
// Note [Rows and columns]
// The dimension with the smallest stride is either reduced, then the rectangles are rows to
// be reduced each, or it is kept, then they are columns, and neighbours go through the
// vector units side by side.  Elements that are apart, or of another type, are brought
// into a rectangle in the first-level cache first.
//
// Columns may be few, and of few elements, but many times: a reduction of a dimension in the
// middle of others.  Then a tile is several such planes.
//
// Note [Repeated elements]
// What an expanded tensor repeats is read once.  Where it is reduced, the state is that of
// one copy, merged with itself as often as there are copies, by doubling; where it is kept,
// one result is repeated.
#include "kernels/cpu/reduce/fold.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "kernels/cpu/reduce/stage.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"
#include "tensor/small_vector.h"

namespace pkg {
namespace {

constexpr int64_t kTileElements = 4096, kTileRows = 256, kTileColumns = 1024;
// Bytes of a reduction that is cut, and of one whose elements are brought first.
constexpr int64_t kPart = 1 << 18, kStagedPart = 1 << 16;
constexpr int64_t kFewTiles = 8, kMostParts = 64;
constexpr int64_t kFewElements = 512;  // of a rectangle: going there costs as much
constexpr int64_t kNarrow = 16;        // columns that are too few for vectors
// Columns and elements of a plane that is better reduced with others; and where its rows are
// brought first.
constexpr int64_t kPlaneColumns = 64, kPlane = 4096, kBroughtPlane = 2048;
// What a row costs beside its elements, and one that is brought first, in elements.
constexpr int64_t kLineCost = 64, kStagedCost = 4;

struct Dim {
  int64_t size, in, out;  // strides in elements; out is 0 where reduced
  // Repeated elements are no neighbours.
  int64_t distance() const { return in ? in : INT64_MAX; }
};
using DimList = SmallVector<Dim, 6>;
const Dim& last(const DimList& dims) { return dims[dims.size() - 1]; }

// The smallest stride last, dimensions that lie behind each other as one.
void simplify(DimList& dims) {
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t k = i; k > 0 && dims[k - 1].distance() < dims[k].distance(); --k) {
      std::swap(dims[k - 1], dims[k]);
    }
  }
  DimList merged;
  for (const Dim& dim : dims) {
    if (!merged.empty() && merged.back().in == dim.in * dim.size &&
        merged.back().out == dim.out * dim.size) {
      merged.back() = {merged.back().size * dim.size, dim.in, dim.out};
    } else {
      merged.push_back(dim);
    }
  }
  dims.clear();
  for (const Dim& dim : merged) dims.push_back(dim);
  if (dims.empty()) dims.push_back({1, 0, 0});
}

// The places of `dims` but the last ones, as one number that counts them.
struct Places {
  const DimList& dims;
  const size_t outer;
  int64_t count = 1;
  explicit Places(const DimList& list, size_t inner = 1)
      : dims(list), outer(list.size() - inner) {
    for (size_t d = 0; d < outer; ++d) count *= dims[d].size;
  }
  // Element offsets of place i.
  void at(int64_t i, int64_t& in, int64_t& out) const {
    for (size_t d = outer; d-- > 0;) {
      const int64_t index = i % dims[d].size;
      i /= dims[d].size;
      in += index * dims[d].in;
      out += index * dims[d].out;
    }
  }
};

class Walk {
 public:
  Walk(const Tensor& self, const Dims& dim, const Fold& fold,
       std::initializer_list<const Tensor*> outs, Finish finish)
      : fold_(fold), finish_(finish), stage_(self.dtype(), fold.type) {
    for (const Tensor* out : outs) outs_[n_outs_++] = out;
    const Shape dims = wrap_dims("reduce", dim.value_or(Shape()), self.ndim());
    int64_t out = 1;
    for (int64_t d = self.ndim(); d-- > 0;) {
      int64_t size = self.sizes()[size_t(d)];
      const int64_t in = self.strides()[size_t(d)];
      const bool gone = std::find(dims.begin(), dims.end(), d) != dims.end();
      if (gone && in == 0 && size > 1) {  // see Note [Repeated elements]
        if (!fold.repeats_once) copies_ *= size;
        size = 1;
      }
      (gone ? reduced_count_ : kept_count_) *= size;
      if (size != 1) (gone ? reduced_ : kept_).push_back({size, in, gone ? 0 : out});
      if (!gone) out *= size;
    }
    x_ = static_cast<const char*>(self.data());
    itemsize_ = itemsize(self.dtype());
  }

  void run() {
    if (kept_count_ == 0) return;
    if (reduced_count_ == 0) return nothing();
    simplify(kept_);
    simplify(reduced_);
    columns_ = last(kept_).distance() < last(reduced_).distance();
    const Dim& unit = columns_ ? last(kept_) : last(reduced_);
    staged_ = !stage_.none() || (unit.in != 1 && unit.size > 1) ||
              (columns_ && unit.size < kNarrow && last(reduced_).in != unit.size);
    if (columns_) {
      width_ = std::min(unit.size, staged_ ? kTileColumns / 2 : kTileColumns);
    } else {
      width_ = std::clamp<int64_t>(kTileElements / unit.size, 1, kTileRows);
      width_ = std::min(width_, last(kept_).size);
    }
    if (are_planes()) {
      cut_ = 2;
      columns_of_plane_ = unit.size;
      staged_ |= unit.size < kNarrow || unit.in != 1;
      const int64_t most = staged_ ? Stage::kMostInRuns : kTileColumns;
      width_ = std::min(most / unit.size, cut().size) * unit.size;
    } else if (reduced_.size() > 1) {
      const Dim& gone = last(reduced_);
      const bool dense = unit.in == 1 && gone.in == unit.size;
      if (!columns_) gathers_ = width_ * unit.size < kFewElements;
      else gathers_ = dense && unit.size * gone.size < kFewElements;
    }
    across_ = (cut().size - 1) / (width_ / columns_of_plane_) + 1;
    const int64_t tiles = Places(kept_, cut_).count * across_;
    const int64_t total = kept_count_ * reduced_count_;
    int64_t parts = 1;
    if (tiles < kFewTiles) {
      const int64_t part = (staged_ ? kStagedPart : kPart) / itemsize(fold_.type);
      parts = std::clamp<int64_t>(total / tiles / part, 1, kMostParts);
      split_outer_ = gathers_ || Places(reduced_).count >= parts;
      if (gathers_) parts = std::min(parts, Places(reduced_).count);
      if (!split_outer_) parts = std::min(parts, last(reduced_).size);
    }
    // What a tile costs, in elements of long rows.
    const int64_t lines = columns_ ? 0 : width_ * kLineCost;
    const int64_t cost = total / (tiles * parts) * (staged_ ? kStagedCost : 1) + lines + 1;
    const int64_t grain = (kGrain - 1) / cost + 1;
    if (parts == 1) {
      parallel_for(0, tiles, grain, [&](int64_t begin, int64_t end) {
        States states(width_ * fold_.state);
        for (int64_t tile = begin; tile < end; ++tile) {
          reduce(tile, 0, 1, states.data());
          repeat(states.data(), size_of(tile));
          finish(tile, states.data());
        }
      });
      return;
    }
    const int64_t bytes = width_ * fold_.state;
    States states(tiles * parts * bytes);
    parallel_for(0, tiles * parts, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        reduce(i / parts, i % parts, parts, states.data() + i * bytes);
      }
    });
    for (int64_t tile = 0; tile < tiles; ++tile) {
      char* first = states.data() + tile * parts * bytes;
      for (int64_t part = 1; part < parts; ++part) {
        fold_.merge(first, first + part * bytes, size_of(tile));
      }
      repeat(first, size_of(tile));
      finish(tile, first);
    }
  }

 private:
  // States of a tile: on the stack where they are few.
  class States {
   public:
    explicit States(int64_t bytes) {
      if (bytes > int64_t(sizeof(few_))) many_.resize(size_t(bytes));
    }
    char* data() { return many_.empty() ? few_ : many_.data(); }

   private:
    alignas(kAlignment) char few_[1024];
    std::vector<char, PoolAllocator<char>> many_;
  };

  // The dimension that is cut: the last one that is kept, or that of planes of columns.
  const Dim& cut() const { return kept_[kept_.size() - cut_]; }
  bool are_planes() const {
    if (!columns_ || kept_.size() < 2) return false;
    const Dim &unit = last(kept_), &gone = last(reduced_),
              &planes = kept_[kept_.size() - 2];
    const bool brought = unit.size < kNarrow || unit.in != 1 || !stage_.none();
    return unit.size < kPlaneColumns && unit.in != 0 && unit.out == 1 &&
           planes.out == unit.size && planes.in != 0 &&
           unit.size * planes.size >= kPlaneColumns &&
           unit.size * gone.size <= (brought ? kBroughtPlane : kPlane);
  }
  int64_t size_of(int64_t tile) const {
    return std::min(width_, cut().size * columns_of_plane_ - tile % across_ * width_);
  }
  // Where a tile begins, in elements of the input and of the result.
  void origin(int64_t tile, int64_t& in, int64_t& out) const {
    Places(kept_, cut_).at(tile / across_, in, out);
    const int64_t at = tile % across_ * (width_ / columns_of_plane_);
    in += at * cut().in;
    out += at * cut().out;
  }

  void nothing() {
    width_ = std::min(kept_count_, kTileColumns);
    kept_.clear();
    kept_.push_back({kept_count_, 0, 1});
    across_ = (kept_count_ + width_ - 1) / width_;
    States states(width_ * fold_.state);
    for (int64_t tile = 0; tile < across_; ++tile) {
      fold_.start(states.data(), size_of(tile));
      finish(tile, states.data());
    }
  }

  void reduce(int64_t tile, int64_t part, int64_t parts, void* states) const {
    const int64_t n = size_of(tile);
    fold_.start(states, n);
    int64_t base = 0, unused = 0;
    origin(tile, base, unused);
    const Places others(reduced_);
    const Dim &kept = last(kept_), &gone = last(reduced_);
    int64_t begin = 0, end = others.count, from = 0, to = gone.size;
    if (split_outer_) {
      begin = others.count * part / parts;
      end = others.count * (part + 1) / parts;
    } else {
      from = gone.size / parts * part + std::min(part, gone.size % parts);
      to = from + gone.size / parts + (part < gone.size % parts ? 1 : 0);
    }
    StopCounter stop;
    if (gathers_) return gathered(base, begin, end, n, states);
    for (int64_t i = begin; i < end; ++i) {
      int64_t in = base;
      others.at(i, in, unused);
      const char* x = x_ + (in + from * gone.in) * itemsize_;
      if (cut_ == 2) planes(x, gone.in, to - from, n / kept.size, from, states);
      else if (columns_) rectangle(x, gone.in, to - from, kept.in, n, from, states);
      else rectangle(x, kept.in, n, gone.in, to - from, from, states);
      if (i + 1 < end) stop(n * (to - from));
    }
  }

  // Few short rows, or dense columns, often: some that go to one state are brought, and are
  // one row, or longer columns, then.
  void gathered(int64_t base, int64_t begin, int64_t end, int64_t n, void* to) const {
    const Places others(reduced_);
    const Dim &kept = last(kept_), &gone = last(reduced_);
    const Dim& next = reduced_[reduced_.size() - 2];
    alignas(kAlignment) char buffer[Stage::kBytes];
    const int64_t size = itemsize(fold_.type), room = Stage::kBytes / size;
    const int64_t run = columns_ ? n * gone.size : gone.size;
    StopCounter stop;
    for (int64_t i = begin; i < end;) {
      const int64_t runs = std::min({next.size - i % next.size, end - i, room / run});
      int64_t in = base, unused = 0;
      others.at(i, in, unused);
      const int64_t length = runs * run, most = room / length;
      for (int64_t k = 0; k < (columns_ ? 1 : n); k += most) {
        const int64_t rows = columns_ ? 1 : std::min(most, n - k);
        for (int64_t row = 0; row < rows; ++row) {
          stage_.bring(x_ + (in + (k + row) * kept.in) * itemsize_, next.in, runs,
                       columns_ ? 1 : gone.in, run, buffer + row * length * size);
        }
        char* const states = static_cast<char*>(to) + k * fold_.state;
        if (columns_) {
          fold_.columns({buffer, n, length / n, n, 0, fold_.parameter}, states);
        } else {
          fold_.rows({buffer, length, rows, length, 0, fold_.parameter}, states);
        }
      }
      i += runs;
      stop(columns_ ? length : n * length);
    }
  }

  // One rectangle, which is brought to rows of neighbours where it is none yet.
  void rectangle(const char* x, int64_t row_step, int64_t rows, int64_t step, int64_t n,
                 int64_t first, void* states) const {
    const auto fold = [&](const void* at, int64_t stride, int64_t count, int64_t length,
                          int64_t place, int64_t state) {
      char* to = static_cast<char*>(states) + state * fold_.state;
      (columns_ ? fold_.columns : fold_.rows)(
          {at, stride, count, length, place, fold_.parameter}, to);
    };
    if (!staged_) return fold(x, row_step, rows, n, first, 0);
    alignas(kAlignment) char buffer[Stage::kBytes];
    const int64_t room = Stage::kBytes / itemsize(fold_.type);
    const int64_t length = std::min(n, room), count = std::max<int64_t>(1, room / length);
    for (int64_t row = 0; row < rows; row += count) {
      const int64_t some = std::min(count, rows - row);
      for (int64_t at = 0; at < n; at += length) {
        const int64_t m = std::min(length, n - at);
        stage_.bring(x + (row * row_step + at * step) * itemsize_, row_step, some, step, m,
                     buffer);
        fold(buffer, m, some, m, first + (columns_ ? row : at), columns_ ? at : row);
      }
    }
  }

  // `count` planes of `rows` rows each, whose columns have states side by side.
  void planes(const char* x, int64_t row_step, int64_t rows, int64_t count, int64_t first,
              void* states) const {
    const int64_t columns = last(kept_).size, n = count * columns, step = cut().in;
    char* to = static_cast<char*>(states);
    if (!staged_) {
      for (int64_t i = 0; i < count; ++i) {
        fold_.columns(
            {x + i * step * itemsize_, row_step, rows, columns, first, fold_.parameter},
            to + i * columns * fold_.state);
      }
      return;
    }
    alignas(kAlignment) char buffer[Stage::kBytes];
    const int64_t most = Stage::kBytes / itemsize(fold_.type) / n;
    for (int64_t row = 0; row < rows; row += most) {
      const int64_t some = std::min(most, rows - row);
      stage_.bring_runs(x + row * row_step * itemsize_, row_step, some, step, count,
                        last(kept_).in, columns, buffer);
      fold_.columns({buffer, n, some, n, first + row, fold_.parameter}, to);
    }
  }

  // What `copies_` times as many elements make of n states: their bits from the highest.
  void repeat(void* states, int64_t n) const {
    if (copies_ == 1) return;
    const int64_t bytes = n * fold_.state;
    const bool doubled = std::has_single_bit(uint64_t(copies_));
    States once(doubled ? 0 : bytes);
    if (!doubled) std::memcpy(once.data(), states, size_t(bytes));
    for (int bit = int(std::bit_width(uint64_t(copies_))) - 2; bit >= 0; --bit) {
      fold_.merge(states, states, n);
      if (copies_ >> bit & 1) fold_.merge(states, once.data(), n);
    }
  }

  void finish(int64_t tile, const void* states) const {
    const int64_t n = size_of(tile);
    int64_t unused = 0, at = 0;
    origin(tile, unused, at);
    const int64_t step = last(kept_).out;
    alignas(kAlignment) char dense[2][kTileColumns * 8];
    void* to[2] = {};
    for (size_t k = 0; k < n_outs_; ++k) {
      to[k] = step == 1 || n == 1
                  ? static_cast<char*>(outs_[k]->data()) + at * itemsize(outs_[k]->dtype())
                  : dense[k];
    }
    finish_(states, to, n);
    if (step == 1 || n == 1) return;
    for (size_t k = 0; k < n_outs_; ++k) {
      const int64_t size = itemsize(outs_[k]->dtype());
      char* place = static_cast<char*>(outs_[k]->data()) + at * size;
      Stage::scatter(place, step, dense[k], size, n);
    }
  }

  const Fold& fold_;
  const Finish finish_;
  const Stage stage_;
  std::array<const Tensor*, 2> outs_{};
  size_t n_outs_ = 0;
  DimList kept_, reduced_;
  int64_t kept_count_ = 1, reduced_count_ = 1, copies_ = 1;
  const char* x_;
  int64_t itemsize_;
  bool columns_ = false, staged_ = false, split_outer_ = false, gathers_ = false;
  int64_t width_ = 1, across_ = 1;
  size_t cut_ = 1;                // which kept dimension is cut, counted from the end
  int64_t columns_of_plane_ = 1;  // 1 where no planes are cut
};

// A tensor in which each element that is repeated in a kept dimension is there once, and
// the shapes of its results: with the copies, without.
struct Once {
  Shape sizes, all, some;

  Once(const Tensor& self, const Dims& dim) : sizes(self.sizes()), all(sizes), some(sizes) {
    const Shape dims = wrap_dims("reduce", dim.value_or(Shape()), self.ndim());
    for (int64_t d : dims) all[size_t(d)] = some[size_t(d)] = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (self.strides()[d] == 0 && all[d] > 1) sizes[d] = some[d] = 1;
    }
  }
};
}  // namespace

void run_fold(const Tensor& self, const Dims& dim, const Fold& fold,
              std::initializer_list<const Tensor*> outs, Finish finish) {
  // No memory is so large; what repeats its elements is refused like the rest.
  constexpr int64_t kMost = int64_t{1} << 45;
  PKG_CHECK(self.numel() <= kMost, RuntimeError,
            "[op] expected at most 2**45 elements, got ", self.numel(),
            " (self is of shape ", self.sizes(), ").");
  constexpr int64_t kWorthwhile = 4096;  // a tensor on the way and a copy cost something
  if (self.numel() >= kWorthwhile) {
    const Once once(self, dim);
    if (once.all != once.some) {
      const Tensor one = alias(self, once.sizes, self.strides(), self.offset());
      std::array<Tensor, 2> some;
      size_t n = 0;
      for (const Tensor* out : outs) some[n++] = empty(once.some, out->dtype());
      if (n == 1) Walk(one, dim, fold, {&some[0]}, finish).run();
      else Walk(one, dim, fold, {&some[0], &some[1]}, finish).run();
      n = 0;
      for (const Tensor* out : outs) {
        copy_into(alias(*out, once.all, contiguous_strides(once.all), out->offset()),
                  some[n++]);
      }
      return;
    }
  }
  Walk(self, dim, fold, outs, finish).run();
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/reduce/scan_tiles.cc: tiles of tensors for running reductions.
#include "kernels/cpu/reduce/scan_tiles.h"

#include <algorithm>
#include <optional>

#include "kernels/cpu/reduce/line_part.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/copy.h"

namespace pkg {
namespace {

constexpr int64_t kTile = kLineRoom;  // elements of a tile that goes through a buffer
constexpr int64_t kWhole = 1 << 20;   // of one that does not, between stop points
constexpr int64_t kShort = 64;        // places of lines of which a tile has many
constexpr int64_t kTurned = 24;       // of those that are turned to lie side by side
constexpr int64_t kFewLines = 8;      // that are not worth vectors
constexpr int64_t kWritten = 512;     // places, each in a cache line of its own
constexpr int64_t kStripe = 128;      // lines of a tile that is read across

class Tiles {
 public:
  Tiles(DType type, int64_t dim, bool reverse, std::initializer_list<const Tensor*> in,
        std::initializer_list<const Tensor*> out, ScanLoop loop, ShortLines short_lines)
      : reverse_(reverse), loop_(loop) {
    const Tensor& first = **in.begin();
    const int64_t at = wrap_dim("scan", dim, first.ndim());
    extent_ = LineExtent(first, at);
    for (const Tensor* t : in) { in_[n_in_++].emplace(*t, at, t->dtype(), type); }
    for (const Tensor* t : out) {
      const DType own = n_out_ == 0 ? type : DType::Int64;
      out_[n_out_++].emplace(*t, at, own, t->dtype());
    }
    if (extent_.inner == 1) turn();
    const int64_t inner = extent_.inner;
    alone_ = extent_.outer * inner < kScanChains;
    const int64_t most_turned = in_[0]->line == 1                   ? kShort
                                : short_lines == ShortLines::Turned ? kTurned
                                                                    : 0;
    side_by_side_ = inner >= kFewLines && (out_[0]->line == 1 || extent_.n <= most_turned);
    // What is read along the lines and written across them needs no turning as long as
    // the written cache lines stay in the first level.
    const bool turned = in_[0]->place == 1 && out_[0]->line == 1;
    if (turned && in_[0]->stage.none() && extent_.n <= kWritten) side_by_side_ = false;
    for (size_t k = 0; k < n_in_; ++k) staged_ |= staged(*in_[k]);
    for (size_t k = 0; k < n_out_; ++k) staged_ |= staged(*out_[k]);
    most_ = side_by_side_ ? kScanLines : alone_ ? 1 : kScanChains;
    const int64_t lines = kTile / std::max<int64_t>(1, extent_.n);
    if (!side_by_side_ && extent_.n <= kShort) most_ = std::min(kScanLines, lines);
    if (side_by_side_ && out_[0]->line != 1) most_ = std::max(kFewLines, lines);
    else if (side_by_side_ && across()) most_ = kStripe;
  }

  void run() const {
    const int64_t lines = extent_.outer * extent_.inner;
    if (extent_.n == 0) return;
    const int64_t least = side_by_side_ ? 64 : kScanChains;
    const int64_t grain = std::max(least, kGrain / extent_.n);
    parallel_for(0, lines, grain, [&](int64_t begin, int64_t end) {
      alignas(64) char state[kScanLines * 16];
      StopCounter stop;
      while (begin < end) {
        const int64_t o = begin / extent_.inner, j = begin % extent_.inner;
        const int64_t some = std::min({end - begin, extent_.inner - j, most_});
        scan_lines(o, j, some, state, stop);
        begin += some;
      }
    });
  }

 private:
  // Neither lines nor places need to be the inner ones: lines without a dimension behind
  // them are seen as if they were.
  void turn() {
    extent_.turn();
    for (auto* parts : {&in_, &out_}) {
      for (auto& part : *parts) {
        if (part) part->turn();
      }
    }
  }
  bool across() const {
    return std::any_of(in_.begin(), in_.begin() + n_in_,
                       [](const auto& part) { return part->line != 1; });
  }
  bool staged(const LinePart& part) const {
    return !part.stage.none() || (side_by_side_ && part.line != 1);
  }

  void scan_lines(int64_t o, int64_t j, int64_t lines, void* state,
                  StopCounter& stop) const {
    const int64_t room = std::max<int64_t>(1, (staged_ ? kTile : kWhole) / lines);
    alignas(64) char buffers[4][kTile * 8];
    ScanTile tile;
    tile.lines = lines;
    tile.state = state;
    tile.next = reverse_ ? -1 : 1;
    tile.side_by_side = side_by_side_;
    tile.alone = alone_;
    for (int64_t done = 0; done < extent_.n; done += room) {
      const int64_t places = std::min(room, extent_.n - done);
      const int64_t at = reverse_ ? extent_.n - done - places : done;
      tile.begins = done == 0;
      tile.places = places;
      tile.first = reverse_ ? at + places - 1 : at;
      for (size_t k = 0; k < n_in_; ++k) {
        const LinePart& part = *in_[k];
        char* x = part.at(o, at, j);
        if (staged(part)) x = part.bring(x, places, lines, side_by_side_, buffers[k]);
        steps(part, places, lines, tile.x_place[k], tile.x_line[k]);
        tile.x[k] = start(x, places, part.width, tile.x_place[k]);
      }
      for (size_t k = 0; k < n_out_; ++k) {
        const LinePart& part = *out_[k];
        char* y = staged(part) ? buffers[2 + k] : part.at(o, at, j);
        steps(part, places, lines, tile.y_place[k], tile.y_line[k]);
        tile.y[k] = start(y, places, part.width, tile.y_place[k]);
      }
      loop_(tile);
      for (size_t k = 0; k < n_out_; ++k) {
        const LinePart& part = *out_[k];
        if (!staged(part)) continue;
        part.send(buffers[2 + k], places, lines, side_by_side_, part.at(o, at, j));
      }
      stop(places * lines);
    }
  }

  // Of a tile, in elements: buffers are dense.
  void steps(const LinePart& part, int64_t places, int64_t lines, int64_t& place,
             int64_t& line) const {
    const bool buffer = staged(part);
    place = !buffer ? part.place : side_by_side_ ? lines : 1;
    line = !buffer ? part.line : side_by_side_ ? 1 : places;
  }
  // Where the walk begins; its steps may lead towards the start.
  char* start(char* x, int64_t places, int64_t width, int64_t& place) const {
    if (!reverse_) return x;
    x += (places - 1) * place * width;
    place = -place;
    return x;
  }

  bool reverse_, side_by_side_ = false, alone_ = false, staged_ = false;
  ScanLoop loop_;
  LineExtent extent_;
  int64_t most_ = 1;  // lines of a tile
  size_t n_in_ = 0, n_out_ = 0;
  std::array<std::optional<LinePart>, 2> in_, out_;
};

// Few lines that lie side by side, in many planes: those of all planes are brought side by
// side, and what they come to is brought back.
constexpr int64_t kManyOuter = 8, kPlane = 64, kNarrowPlane = 1024;
bool are_planes(const Tensor& first, int64_t at) {
  const LineExtent extent(first, at);
  const int64_t most = itemsize(first.dtype()) <= 2 ? kNarrowPlane : kPlane;
  return extent.inner > 1 && extent.inner < kFewLines && extent.outer >= kManyOuter &&
         extent.n > 1 && extent.n * extent.inner <= most;
}

// The dimension before all others.
Tensor with_dim_first(const Tensor& t, int64_t dim) {
  Shape sizes = t.sizes(), strides = t.strides();
  for (size_t d = size_t(dim); d > 0; --d) {
    std::swap(sizes[d], sizes[d - 1]);
    std::swap(strides[d], strides[d - 1]);
  }
  return alias(t, sizes, strides, t.offset());
}

using Tensors = std::initializer_list<const Tensor*>;
void scan_planes(DType type, int64_t at, bool reverse, Tensors in, Tensors out,
                 ScanLoop loop, ShortLines short_lines) {
  std::array<Tensor, 2> x, y;
  size_t k = 0;
  for (const Tensor* t : in) x[k++] = as_contiguous(with_dim_first(*t, at));
  k = 0;
  for (const Tensor* t : out) y[k++] = empty(x[0].sizes(), t->dtype());
  const auto run = [&](Tensors from, Tensors to) {
    Tiles(type, 0, reverse, from, to, loop, short_lines).run();
  };
  if (in.size() == 1 && out.size() == 1) run({&x[0]}, {&y[0]});
  else if (in.size() == 1) run({&x[0]}, {&y[0], &y[1]});
  else if (out.size() == 1) run({&x[0], &x[1]}, {&y[0]});
  else run({&x[0], &x[1]}, {&y[0], &y[1]});
  k = 0;
  for (const Tensor* t : out) copy_into(with_dim_first(*t, at), y[k++]);
}

}  // namespace

void run_scan(DType type, int64_t dim, bool reverse,
              std::initializer_list<const Tensor*> in,
              std::initializer_list<const Tensor*> out, ScanLoop loop,
              ShortLines short_lines) {
  const Tensor& first = **in.begin();
  const int64_t at = wrap_dim("scan", dim, first.ndim());
  if (first.ndim() > 1 && are_planes(first, at)) {
    return scan_planes(type, at, reverse, in, out, loop, short_lines);
  }
  Tiles(type, dim, reverse, in, out, loop, short_lines).run();
}

}  // namespace pkg

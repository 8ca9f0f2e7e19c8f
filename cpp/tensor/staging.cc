// SPDX-License-Identifier: Apache-2.0
// tensor/staging.cc: how tensors are cut into blocks, and what becomes of each block.
//
// Note [Ways to cut]
// Rows: the innermost dimension is long, and every row is cut into blocks.
// Groups: a block holds several rows, over which operands lie as over one long row.  Of one
// that repeats a row, or an element in each, the block is filled with its repetitions.
// Lists: it holds many rows, which are short.  An operand that does not lie dense over all
// of them is brought row by row (copy_plane.h), or, where the rows are those of several
// dimensions, by a list of places, which is the same for every block.
// Planes: the same where elements are only moved, which needs no buffers.
// Tiles: an operand lies the other way round (transposed).  Of it some rows are brought at
// once, so that each line of cache is read once; all else is as with rows.  Where rows are
// short and all else lies dense, those of a tile are one.
#include "tensor/staging.h"

#include <utility>

#include "tensor/copy.h"
#include "tensor/copy_plane.h"
#include "tensor/copy_run.h"
#include "tensor/cutting.h"
#include "tensor/layout.h"
#include "tensor/overlap.h"
#include "tensor/repeats.h"

namespace pkg {
namespace {

using namespace staging;

constexpr int64_t kRowOfCell = 8192;  // elements of a row, for one thread
constexpr int64_t kTileSize = 16384, kTileColumns = 256;  // bytes, elements
constexpr int64_t kLeastTile = 256;                       // elements
// An operand that lies the other way round is read faster row by row than in tiles where rows
// are few and long; and where it is beyond the caches, if one line of cache holds an element
// of each row.
constexpr int64_t kFewRows = 4, kLongRow = 4096, kLine = 64;
constexpr int64_t kCellBytes = 16384;  // of rows that are only copied

void run_flat(const Plan& plan, int64_t n) {
  parallel_for(0, n, kGrainStaged, [&](int64_t begin, int64_t end) {
    std::array<char*, kMaxOperands> data = plan.data;
    for (size_t k = 0; k < plan.count; ++k) data[k] += begin * plan.operands[k].step;
    Blocks(plan).row(data.data(), end - begin);
  });
}

// Rows that are dense on both sides, several at once.
void copy_runs(const Plan& plan, const Walk& walk) {
  const int64_t bytes = walk.sizes[0] * plan.operands[0].size;
  Shape step = single_steps(walk);
  step[0] = walk.sizes[0];
  step[1] = std::clamp<int64_t>(kCellBytes / bytes, 1, walk.sizes[1]);
  const Cells cells(walk, std::move(step));
  for_cells(cells, [&](int64_t begin, int64_t end) {
    cells.visit(begin, end, [&](char* const* data, const Cells::Cursor& cell) {
      copy_rows(data[0], walk.strides[0][1], data[1], walk.strides[1][1], bytes,
                cell.size(1));
    });
  });
}

// Whether rows are only copied, and short.  From places far apart they come one by one, and
// where there are hardly any rows of a plane, lists take several planes.
bool are_planes(const Plan& plan, const Walk& walk) {
  constexpr int64_t kLongest = 1024, kLeastPlane = 256;
  if (plan.block) return false;
  const int64_t columns = walk.sizes[0];
  bool near = true;
  for (size_t k = 0; k < plan.count; ++k) {
    const Plan::Operand& o = plan.operands[k];
    if (o.conversion.count) return false;
    near &= std::abs(walk.strides[k][0]) <= 2 * o.size;
  }
  return columns * walk.sizes[1] >= kLeastPlane &&
         (columns < kShortRow || (near && columns <= kLongest));
}

void run_planes(const Plan& plan, const Walk& walk) {
  const int64_t columns = walk.sizes[0], size = plan.operands[0].size;
  Shape step = single_steps(walk);
  step[0] = columns;
  step[1] = std::clamp<int64_t>(kCellBytes / (columns * size), 1, walk.sizes[1]);
  const Cells cells(walk, std::move(step));
  const Shape &to = walk.strides[0], &from = walk.strides[1];
  for_cells(cells, [&](int64_t begin, int64_t end) {
    cells.visit(begin, end, [&](char* const* data, const Cells::Cursor& cell) {
      copy_plane({data[0], data[1], columns, cell.size(1), to[0], to[1], from[0], from[1]},
                 size);
    });
  });
}

void run_rows(Plan& plan, const Walk& walk) {
  for (size_t k = 0; k < plan.count; ++k) {
    plan.set_row(k, walk.strides[k][0], same_from(walk, k, 0));
  }
  plan.find_numbers();
  plan.longest = walk.sizes[0];
  if (walk.sizes.size() == 1) return run_flat(plan, walk.sizes[0]);
  if (!plan.staged && !plan.block && plan.longest <= kRowOfCell) {
    return copy_runs(plan, walk);
  }
  Shape step = single_steps(walk);
  step[0] = std::min(walk.sizes[0], kRowOfCell);
  const Cells cells(walk, std::move(step));
  for_cells(cells, [&](int64_t begin, int64_t end) {
    Blocks blocks(plan);
    cells.visit(begin, end, [&](char* const* data, const Cells::Cursor& cell) {
      blocks.row(data, cell.size(0));
    });
  });
}

// The dimension along which an operand that lies the other way round is dense; 0: none.
size_t turned_dim(const Walk& walk, size_t k) {
  const Shape& strides = walk.strides[k];
  size_t best = 0;
  for (size_t d = 1; d < strides.size(); ++d) {
    if (strides[d] > 0 && strides[d] < strides[best]) best = d;
  }
  return best;
}

// Whether short rows are one for every operand, once those that lie the other way round have
// been turned.
bool joins_rows(const Walk& walk, size_t across) {
  if (across != 1 || walk.sizes[0] >= kShortRow) return false;
  for (size_t k = 0; k < walk.count; ++k) {
    const Shape& strides = walk.strides[k];
    const bool turned = k > 0 && turned_dim(walk, k) == across;
    if (!turned && strides[1] != walk.sizes[0] * strides[0]) return false;
  }
  return true;
}

// The buffers of one thread for what lies the other way round.
class Tiles {
 public:
  Tiles(const Plan& plan, const Walk& walk, size_t across)
      : plan_(plan), walk_(walk), across_(across), blocks_(plan) {
    straight_ = !plan.block && plan.operands[0].how == How::InPlace;
    joined_ = joins_rows(walk, across);
  }

  void cell(char* const* data, int64_t rows, int64_t columns) {
    std::array<char*, kMaxOperands> at;
    std::array<int64_t, kMaxOperands> down{};
    for (size_t k = 0; k < plan_.count; ++k) {
      at[k] = data[k];
      down[k] = walk_.strides[k][across_];
      if (!plan_.operands[k].tiled) continue;
      const int64_t size = plan_.operands[k].size;
      char* const to = straight_ ? data[0] : tiles_[k - 1];
      const int64_t row = straight_ ? down[0] : columns * size;
      moves_of(size).transpose(to, row, data[k], walk_.strides[k][0], down[k], rows,
                               columns);
      at[k] = to;
      down[k] = row;
    }
    if (straight_) return;
    if (joined_) return blocks_.row(at.data(), rows * columns);
    for (int64_t r = 0; r < rows; ++r) {
      blocks_.row(at.data(), columns);
      for (size_t k = 0; k < plan_.count; ++k) at[k] += down[k];
    }
  }

 private:
  const Plan& plan_;
  const Walk& walk_;
  const size_t across_;
  bool straight_;  // into the result, nothing else being done
  bool joined_;    // the rows of a cell are one
  Blocks blocks_;
  alignas(64) char tiles_[kMaxOperands - 1][kTileSize];
};

// Whether a cell of few columns has as many more rows: where elements are only moved, unless
// steps between the rows lead to the same places of the first-level cache.
bool takes_narrow(BlockFunction block, const Walk& walk, size_t across) {
  constexpr int64_t kSamePlaces = 512;
  return !block && walk.strides[0][across] % kSamePlaces != 0;
}

void run_tiles(Plan& plan, const Walk& walk, size_t across) {
  int64_t widest = 1;
  for (size_t k = 0; k < plan.count; ++k) {
    Plan::Operand& o = plan.operands[k];
    o.tiled = k > 0 && turned_dim(walk, k) == across;
    plan.set_row(k, o.tiled ? o.size : walk.strides[k][0], same_from(walk, k, 0));
    if (o.tiled) widest = std::max(widest, o.size);
  }
  // What a row costs beside its elements weighs more with conversions; large elements come in
  // few rows, of the size of a square, so that the result is written in long ones.
  const int64_t columns = widest == 4 ? kTileColumns : 2 * kTileColumns;
  Shape step = single_steps(walk);
  step[0] = std::min(walk.sizes[0], columns);
  const bool narrow = takes_narrow(plan.block, walk, across) || joins_rows(walk, across);
  const int64_t wide = narrow ? step[0] : columns;
  step[across] = std::min(walk.sizes[across], kTileSize / wide / widest);
  plan.longest = joins_rows(walk, across) ? step[0] * step[across] : columns;
  const Cells cells(walk, std::move(step));
  for_cells(cells, [&](int64_t begin, int64_t end) {
    Tiles tiles(plan, walk, across);
    cells.visit(begin, end, [&](char* const* data, const Cells::Cursor& cell) {
      tiles.cell(data, cell.size(across), cell.size(0));
    });
  });
}

// Whether rows are long enough for tiles; where elements are only moved, small squares are.
bool pays_tiles(const Plan& plan, const Walk& walk, size_t k, size_t across) {
  const int64_t columns = walk.sizes[0], rows = walk.sizes[across];
  if (plan.block && columns >= kLongRow) {
    const int64_t step = walk.strides[k][0];
    const bool shared = step <= kLine && plan.operands[k].size >= 4;
    if (rows < kFewRows || (shared && plan.is_far(step))) return false;
  }
  if (columns >= kShortRow) return true;
  if (plan.block && columns * rows >= kLeastTile) return joins_rows(walk, across);
  const bool narrow = takes_narrow(plan.block, walk, across) &&
                      walk.strides[0][0] == plan.operands[0].width;
  const int64_t least = narrow ? 2 : 8;
  return !plan.block && columns >= least && rows >= least && columns * rows >= kLeastTile;
}

// Dense operands and numbers need no walk.
bool run_with_numbers(Plan& plan, const Pointwise& kernel) {
  const Tensor& out = *kernel.parts[0].tensor;
  for (size_t k = 0; k < plan.count; ++k) {
    const Tensor& t = *kernel.parts[k].tensor;
    const bool number = k > 0 && t.numel() == 1;
    if (!number && !(t.is_contiguous() && t.sizes() == out.sizes())) return false;
    plan.set_row(k, number ? 0 : plan.operands[k].size, number);
  }
  plan.find_numbers();
  plan.longest = out.numel();
  run_flat(plan, plan.longest);
  return true;
}

// Where every operand repeats its elements the formula is run once and its results are
// repeated, if those are few.
bool run_once(const Pointwise& kernel) {
  const Tensor& out = *kernel.parts[0].tensor;
  const size_t ndim = out.sizes().size();
  if (!kernel.block || out.numel() < kLeastRepeated) return false;
  const auto repeats = [&](size_t d) {
    for (size_t k = 1; k < kernel.count; ++k) {
      const Tensor& t = *kernel.parts[k].tensor;
      const size_t missing = ndim - t.sizes().size();
      if (d >= missing && t.sizes()[d - missing] > 1 && t.strides()[d - missing]) {
        return false;
      }
    }
    return true;
  };
  for (size_t k = 1; k < kernel.count; ++k) {
    const Tensor& t = *kernel.parts[k].tensor;
    if (t.is_contiguous() && t.sizes() == out.sizes()) return false;
    check_broadcasts(t.sizes(), out.sizes());
  }
  Shape once = out.sizes();
  for (size_t d = 0; d < ndim; ++d) {
    if (repeats(d)) once[d] = 1;
  }
  if (once.numel() * kLeastTimes > out.numel()) return false;
  const Tensor* const order[] = {&out};
  const Tensor results = empty_in_order({once, out.dtype(), out.device()}, order);
  std::array<Tensor, kMaxOperands> operands;
  Pointwise of_few = kernel;
  of_few.parts[0].tensor = &results;
  for (size_t k = 1; k < kernel.count; ++k) {
    const Tensor& t = *kernel.parts[k].tensor;
    Shape sizes = t.sizes();
    for (size_t d = ndim - sizes.size(); d < ndim; ++d) {
      if (once[d] == 1) sizes[d + sizes.size() - ndim] = 1;
    }
    operands[k] = alias(t, sizes, t.strides(), t.offset());
    of_few.parts[k].tensor = &operands[k];
  }
  run_pointwise(of_few);
  copy_into(out, results);
  return true;
}

// Where operands that are not in place repeat their elements those are brought first, once.
bool run_with_few(const Pointwise& kernel) {
  const int64_t n = kernel.parts[0].tensor->numel();
  std::array<Tensor, kMaxOperands> few;
  Pointwise of_few = kernel;
  bool any = false;
  for (size_t k = 1; k < kernel.count; ++k) {
    Part& part = of_few.parts[k];
    const Tensor& t = *part.tensor;
    if (t.dtype() == part.type && part.via == part.type && is_dense(t)) continue;
    check_broadcasts(t.sizes(), kernel.parts[0].tensor->sizes());
    few[k] = few_as(t, n, t.dtype() == part.via ? part.type : part.via);
    if (!few[k].defined()) continue;
    few[k] = as_dtype(few[k], part.type);
    part.tensor = &few[k];
    part.via = part.type;
    any = true;
  }
  if (any) run_pointwise(of_few);
  return any;
}

[[gnu::noinline]] void run_staged(const Pointwise& kernel) {
  if (run_once(kernel)) return;
  Plan plan(kernel);
  if (run_with_numbers(plan, kernel)) return;
  if (run_with_few(kernel)) return;
  std::array<const Tensor*, kMaxOperands> tensors;
  for (size_t k = 0; k < kernel.count; ++k) tensors[k] = kernel.parts[k].tensor;
  const Walk walk({tensors.data(), kernel.count});
  if (walk.sizes.size() > 1) {
    for (size_t k = 1; k < kernel.count; ++k) {
      const size_t across = turned_dim(walk, k);
      if (across && pays_tiles(plan, walk, k, across)) return run_tiles(plan, walk, across);
    }
    if (are_planes(plan, walk)) return run_planes(plan, walk);
    if (run_several_rows(plan, walk)) return;
  }
  run_rows(plan, walk);
}

// Whether an operand is elements of the result at other places.  Of another type of the same
// size, as in graphs, each is read before it is written.
bool crosses(const Tensor& operand, const Tensor& out) {
  if (operand.impl() == out.impl() || !share_memory(operand, out)) return false;
  return operand.data() != out.data() ||
         itemsize(operand.dtype()) != itemsize(out.dtype()) ||
         operand.sizes() != out.sizes() || operand.strides() != out.strides();
}

// Copies what crosses the result and runs the kernel with that; false if nothing does.
[[gnu::noinline]] bool run_apart(const Pointwise& kernel) {
  const Tensor& out = *kernel.parts[0].tensor;
  const auto is_apart = [&](size_t k) { return !crosses(*kernel.parts[k].tensor, out); };
  size_t first = 1;
  while (first < kernel.count && is_apart(first)) ++first;
  if (first == kernel.count) return false;
  std::array<Tensor, kMaxOperands> copies;
  Pointwise apart = kernel;
  for (size_t k = first; k < kernel.count; ++k) {
    if (is_apart(k)) continue;
    copies[k] = empty(kernel.parts[k].tensor->spec());
    copy_into(copies[k], *kernel.parts[k].tensor);
    apart.parts[k].tensor = &copies[k];
  }
  run_pointwise(apart);
  return true;
}

}  // namespace

void run_pointwise(const Pointwise& kernel) {
  const Tensor& out = *kernel.parts[0].tensor;
  const int64_t n = out.numel();
  if (n == 0) return;
  // Most calls: everything dense and of the block's types.
  std::array<char*, kMaxOperands> data{};
  const Extent written(out);
  bool flat = true, crossed = false;
  for (size_t k = 0; k < kernel.count; ++k) {
    const Part& part = kernel.parts[k];
    const Tensor& t = *part.tensor;
    crossed |= k > 0 && t.impl() != out.impl() && Extent(t).meets(written);
    flat = flat && t.dtype() == part.type && part.via == part.type && t.is_contiguous() &&
           t.sizes() == out.sizes();
    data[k] = static_cast<char*>(t.data());
  }
  if (__builtin_expect(crossed, 0) && run_apart(kernel)) return;
  if (!flat) return n <= kTiny ? run_tiny(kernel, n) : run_staged(kernel);
  if (n <= kGrain && kernel.block) return kernel.block(kernel.formula, data.data(), n);
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    char* at[kMaxOperands];
    for (size_t k = 0; k < kernel.count; ++k) {
      at[k] = data[k] + begin * itemsize(kernel.parts[k].type);
    }
    if (kernel.block) kernel.block(kernel.formula, at, end - begin);
    else move_bytes(at[0], at[1], (end - begin) * itemsize(kernel.parts[0].type));
  });
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// tensor/several_rows.cc: blocks of more than one row; see Note [Ways to cut].
#include <utility>

#include "tensor/cutting.h"

namespace pkg::staging {
namespace {

constexpr int64_t kListed = 1024;     // elements of a block by lists
constexpr int64_t kLeastListed = 6;   // of a row that is listed as one
constexpr int64_t kLongestRow = 512;  // bytes of one that is better brought with others
constexpr int64_t kGroupedRow = 32;   // elements of a row, from which on groups are better
constexpr int64_t kFilledRow = 5;  // and from which on one is filled faster than gathered,
constexpr int64_t kFilledBytes = 8;  // if it has so many
constexpr int64_t kLoopedRow = 16;   // of a short one that is worth a loop of its own
constexpr int64_t kLeastRun = 16, kLeastRuns = 320;  // bytes of a row, of some
constexpr int64_t kOfNumbers = 8192;  // elements of a group whose rows have numbers

// How many elements of the dimensions below `dims`, and how many of that one, make a block.
struct Cut {
  size_t dims = 0;
  int64_t inside = 1, times = 1;
  bool is_rows() const { return dims == 1 && times > 1; }
};
Cut cut_block(const Walk& walk, int64_t most) {
  Cut cut;
  for (; cut.dims < walk.sizes.size(); ++cut.dims) {
    const int64_t size = walk.sizes[cut.dims];
    if (cut.inside > most / size) {
      cut.times = most / cut.inside;
      break;
    }
    cut.inside *= size;
  }
  return cut;
}

// Whether the elements of a block lie dense.
bool dense_in(const Cut& cut, const Walk& walk, size_t k, int64_t size) {
  const Shape& strides = walk.strides[k];
  for (size_t d = 0; d < cut.dims; ++d) {
    if (strides[d] != size) return false;
    size *= walk.sizes[d];
  }
  return cut.times == 1 || strides[cut.dims] == size;
}

// Places of the elements of a block; from the first dimension on of its rows.
void list_places(const Cut& cut, const Walk& walk, size_t k, size_t first,
                 int64_t* places) {
  places[0] = 0;
  int64_t n = 1;
  const auto repeat = [&](int64_t times, int64_t stride) {
    for (int64_t t = 1; t < times; ++t) {
      for (int64_t i = 0; i < n; ++i) places[t * n + i] = places[i] + t * stride;
    }
    n *= times;
  };
  for (size_t d = first; d < cut.dims; ++d) repeat(walk.sizes[d], walk.strides[k][d]);
  if (cut.times > 1) repeat(cut.times, walk.strides[k][cut.dims]);
}

void run_lists(Plan& plan, const Walk& walk, const Cut& cut) {
  int64_t places[kMaxOperands][kListed];
  for (size_t k = 0; k < plan.count; ++k) {
    Plan::Operand& o = plan.operands[k];
    const bool same = k > 0 && same_from(walk, k, cut.dims);
    if (dense_in(cut, walk, k, o.size)) {
      plan.set(k, o.conversion.count ? How::Dense : How::InPlace, o.size);
      continue;
    }
    plan.set(k, same ? How::Constant : How::Listed, 0);
    if (same && same_from(walk, k, 0)) continue;
    if (cut.is_rows()) {  // which need no list of their elements
      o.columns = walk.sizes[0];
      o.step = walk.strides[k][0];
      o.row = walk.strides[k][1];
      continue;
    }
    const bool rows = k > 0 && walk.strides[k][0] == o.size &&
                      walk.sizes[0] >= kLeastListed;
    if (rows && cut.dims > 0) o.run = walk.sizes[0];
    list_places(cut, walk, k, o.run ? 1 : 0, places[k]);
    o.places = places[k];
  }
  plan.longest = cut.inside * cut.times;
  Shape step = single_steps(walk);
  for (size_t d = 0; d < cut.dims; ++d) step[d] = walk.sizes[d];
  if (cut.dims < step.size()) step[cut.dims] = cut.times;
  const Cells cells(walk, std::move(step));
  for_cells(cells, [&](int64_t begin, int64_t end) {
    Blocks blocks(plan);
    cells.visit(begin, end, [&](char* const* data, const Cells::Cursor& cell) {
      const int64_t times = cut.dims < walk.sizes.size() ? cell.size(cut.dims) : 1;
      blocks.row(data, cut.inside * times);
    });
  });
}

// Whether rows are only copied, from dense to dense, and worth a copy each, some at once.
bool are_runs(const Plan& plan, const Walk& walk) {
  const int64_t bytes = walk.sizes[0] * plan.operands[0].size;
  if (plan.block || bytes < kLeastRun || bytes * walk.sizes[1] < kLeastRuns) return false;
  for (size_t k = 0; k < plan.count; ++k) {
    const Plan::Operand& o = plan.operands[k];
    if (o.conversion.count || walk.strides[k][0] != o.size) return false;
  }
  return true;
}

// Whether lists are better than rows: they are short, or no operand has to be gathered for
// that.
bool by_lists(const Plan& plan, const Walk& walk, const Cut& cut) {
  if (cut.inside * cut.times <= walk.sizes[0] || are_runs(plan, walk)) return false;
  if (walk.sizes[0] < kShortRow) return true;
  if (cut.is_rows() && walk.sizes[0] * plan.widest <= kLongestRow) return true;
  for (size_t k = 0; k < plan.count; ++k) {
    const bool same = k > 0 && same_from(walk, k, cut.dims);
    if (!same && !dense_in(cut, walk, k, plan.operands[k].size)) return false;
  }
  return true;
}

// Whether operand k lies over the rows of a group in one of the ways of Note [Ways to
// cut]: `step` from one element to the next, 0 where each row repeats one.
bool groups(const Walk& walk, size_t k) {
  const Shape& strides = walk.strides[k];
  const bool one_row = strides[1] == walk.sizes[0] * strides[0];
  return one_row || (k > 0 && (strides[0] == 0 || same_from(walk, k, 1)));
}

// Whether lists would gather an operand that has one element for each row, anew for every
// block, and a group takes all operands as they lie or fills in what is repeated.
bool fills_short_rows(const Plan& plan, const Walk& walk, const Cut& cut) {
  const int64_t columns = walk.sizes[0];
  if (columns < kFilledRow || columns * plan.widest < kFilledBytes) return false;
  if (!plan.block) return false;
  bool gathered = false;
  for (size_t k = 0; k < plan.count; ++k) {
    const int64_t step = walk.strides[k][0];
    if (step != 0 && step != plan.operands[k].size) return false;
    gathered |= k > 0 && step == 0 && !same_from(walk, k, cut.dims);
  }
  return gathered;
}

// How many rows a group has; 0 if there is none.
int64_t rows_of_group(const Plan& plan, const Walk& walk, const Cut& cut) {
  if (walk.sizes[0] < kGroupedRow && !fills_short_rows(plan, walk, cut)) return 0;
  int64_t most = plan.most;
  for (size_t k = 0; k < plan.count; ++k) {
    if (!groups(walk, k)) return 0;
    const int64_t step = walk.strides[k][0];
    const bool apart = step != 0 && step != plan.operands[k].size;
    if (apart && !(k > 0 && same_from(walk, k, 1))) {
      most = std::min(most, plan.most_apart(step));
    }
  }
  return std::min({most / walk.sizes[0], walk.sizes[1], kColumnRows});
}

void run_groups(Plan& plan, const Walk& walk, int64_t rows) {
  plan.columns = walk.sizes[0];
  // A loop for each short row would take longer than to fill a block.
  const bool short_rows = plan.columns < kGroupedRow;
  const bool looped = plan.columns >= kLoopedRow && plan.operands[0].size > 2;
  if (short_rows && !looped) plan.of_numbers = nullptr;
  for (size_t k = 0; k < plan.count; ++k) {
    const int64_t step = walk.strides[k][0];
    if (k > 0 && same_from(walk, k, 1)) plan.set(k, How::Constant, step);
    else if (k > 0 && step == 0) plan.set(k, How::Columns, walk.strides[k][1]);
    else plan.set_row(k, step, false);
  }
  const int64_t most = plan.most;
  plan.find_numbers();
  if (plan.most > most) {  // nothing goes through a buffer
    rows = std::max(rows,
                    std::min({kOfNumbers / plan.columns, walk.sizes[1], kColumnRows}));
  }
  plan.longest = plan.columns * rows;
  Shape step = single_steps(walk);
  step[0] = plan.columns;
  step[1] = rows;
  const Cells cells(walk, std::move(step));
  for_cells(cells, [&](int64_t begin, int64_t end) {
    Blocks blocks(plan);
    cells.visit(begin, end, [&](char* const* data, const Cells::Cursor& cell) {
      blocks.row(data, plan.columns * cell.size(1));
    });
  });
}

}  // namespace

bool run_several_rows(Plan& plan, const Walk& walk) {
  Cut cut = cut_block(walk, plan.most);
  if (!cut.is_rows()) cut = cut_block(walk, std::min(plan.most, kListed));
  const int64_t rows = rows_of_group(plan, walk, cut);
  if (rows > 1) {
    run_groups(plan, walk, rows);
    return true;
  }
  if (!by_lists(plan, walk, cut)) return false;
  run_lists(plan, walk, cut);
  return true;
}

}  // namespace pkg::staging

// SPDX-License-Identifier: Apache-2.0
// tensor/blocks.h: what becomes of each operand of a block.  For staging.cc alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/isa.h"
#include "tensor/copy_plane.h"
#include "tensor/copy_run.h"
#include "tensor/gather.h"
#include "tensor/staging.h"

namespace pkg::staging {

inline constexpr int64_t kBlockBytes = 8192;  // of a buffer
// What lies apart is many lines of cache for few elements.  From beyond the caches they
// come while the block before is computed: a large block would wait for them.  In the
// caches asking for them early costs more than they do.
inline constexpr int64_t kApartBytes = 4096, kFarBytes = 2048;
// Bytes that elements lie over, were there as many as the result has.
inline constexpr int64_t kCached = 32 << 20;

inline constexpr int64_t kColumnRows = 256;  // at most, of a block of several rows

enum class How : uint8_t {
  InPlace,
  Constant,  // one block serves for all
  Repeated,  // one element for each row
  Columns,   // the same where a block is several rows
  Dense,     // to be converted
  Strided,
  Listed,
};

struct Plan {
  struct Operand {
    How how = How::InPlace;
    bool tiled = false;
    bool far = false;              // Strided, over more than caches hold
    int64_t size = 0;              // bytes of an element of the tensor
    int64_t width = 0;             // and of the block's
    int64_t step = 0;              // bytes from one element of a row to the next
    int64_t columns = 0, row = 0;  // of a list: bytes from one row of so many to the next
    const int64_t* places = nullptr;
    int64_t run = 0;  // of a list of places of rows: elements of each, which are dense
    Conversion conversion;
  };
  BlockFunction block = nullptr;
  NumbersFunction of_numbers = nullptr;
  const void* formula = nullptr;
  size_t count = 0;
  int64_t elements = 0;        // of the result
  bool staged = false;         // not everything is in place
  int64_t widest = 1;          // bytes of an element, on any way
  int64_t most = kBlockBytes;  // elements of a block
  int64_t longest = 0;         // row
  int64_t columns = 0;         // of each row, where a block is several
  std::array<Operand, kMaxOperands> operands;
  std::array<char*, kMaxOperands> data{};

  explicit Plan(const Pointwise& kernel);
  void set(size_t k, How how, int64_t step) {
    Operand& o = operands[k];
    o.how = how;
    o.step = step;
    staged |= how != How::InPlace;
    o.far = how == How::Strided && is_far(step);
    if (how == How::Strided) most = std::min(most, most_apart(step));
  }
  // Elements that a block has at most where some lie so many bytes from one to the next.
  int64_t most_apart(int64_t step) const {
    return (is_far(step) ? kFarBytes : kApartBytes) / widest;
  }
  bool is_far(int64_t step) const {
    return elements > kCached / std::max<int64_t>(1, std::abs(step));
  }
  // For rows: k steps from one element to the next, and may be the same in all of them.
  void set_row(size_t k, int64_t step, bool same);
  // When all are set for rows or groups of them: whether operands behind the first are one
  // element for each row.
  void find_numbers();
  bool by_numbers = false;
};

inline Plan::Plan(const Pointwise& kernel)
    : block(kernel.block),
      of_numbers(kernel.of_numbers),
      formula(kernel.formula),
      count(kernel.count),
      elements(kernel.parts[0].tensor->numel()) {
  for (size_t k = 0; k < count; ++k) {
    const Part& part = kernel.parts[k];
    const DType own = part.tensor->dtype();
    Operand& o = operands[k];
    o.size = itemsize(own);
    o.width = itemsize(part.type);
    if (k == 0) o.conversion = Conversion(part.type, own, own);
    else if (own != part.type || own != part.via) {
      o.conversion = Conversion(own, part.type, part.via);
    }
    widest = std::max({widest, o.size, o.width});
    for (int c = 0; c < o.conversion.count; ++c) {
      widest = std::max(widest, itemsize(o.conversion.steps[size_t(c)].to));
    }
    data[k] = static_cast<char*>(part.tensor->data());
  }
  most = kBlockBytes / widest;
}

inline void Plan::set_row(size_t k, int64_t step, bool same) {
  const Operand& o = operands[k];
  const bool dense = step == o.size;
  if (k > 0 && same) return set(k, How::Constant, 0);
  if (k > 0 && step == 0) return set(k, How::Repeated, 0);
  set(k, !dense ? How::Strided : o.conversion.count ? How::Dense : How::InPlace, step);
}

inline void Plan::find_numbers() {
  if (!of_numbers) return;
  for (size_t k = 2; k < count; ++k) {
    const Operand& o = operands[k];
    const bool same = o.how == How::Constant || o.how == How::Repeated;
    if (o.how != How::Columns && !(same && o.step == 0)) return;
  }
  by_numbers = true;
  const bool in_place = operands[0].how == How::InPlace && operands[1].how == How::InPlace;
  if (in_place) most = std::numeric_limits<int64_t>::max() / 8;  // there are no buffers
}

// The buffers of one thread, and what is done to a block.
class Blocks {
 public:
  explicit Blocks(const Plan& plan) : plan_(plan) {
    if (!plan.staged) return;
    for (size_t k = 1; k < plan.count; ++k) {
      const Plan::Operand& o = plan.operands[k];
      if (o.how != How::Constant) continue;
      const int64_t n = copies(k, plan.longest);
      const int64_t some = o.step && plan.columns ? plan.columns : n;
      bring(k, plan.data[k], some, buffer(k));
      for (int64_t i = some; i < n; i += some) {  // the other rows
        std::memcpy(buffer(k) + i * o.width, buffer(k), size_t(some * o.width));
      }
    }
  }

  // n elements of one row, or one block by lists.
  void row(char* const* data, int64_t n) {
    if (!plan_.block) return copy(data, n);
    if (!plan_.staged) return compute(data, n);
    repeat(data, n);
    char* at[kMaxOperands];
    for (int64_t i = 0; i < n; i += plan_.most) {
      const int64_t m = std::min(plan_.most, n - i);
      const int64_t later = std::min(m, n - i - m);
      for (size_t k = 1; k < plan_.count; ++k) {
        at[k] = operand(k, data[k], i, m);
        fetch(plan_.operands[k], data[k] + (i + m) * plan_.operands[k].step, later);
      }
      char* const to = data[0] + i * plan_.operands[0].step;
      const bool in_place = plan_.operands[0].how == How::InPlace;
      at[0] = in_place ? to : buffer(0);
      compute(at, m);
      if (!in_place) send(to, at[0], m);
    }
  }

 private:
  void compute(char* const* data, int64_t n) const {
    if (!plan_.by_numbers) return plan_.block(plan_.formula, data, n);
    const int64_t columns = plan_.columns ? plan_.columns : n;
    plan_.of_numbers(plan_.formula, data, columns, n / columns);
  }

  // Asks for the elements of the next block, which come while this one is computed.
  static void fetch(const Plan::Operand& o, const char* at, int64_t n) {
    if (!o.far) return;
    const int64_t step = std::max<int64_t>(1, 64 / std::max<int64_t>(1, std::abs(o.step)));
    for (int64_t i = 0; i < n; i += step) __builtin_prefetch(at + i * o.step);
  }

  char* buffer(size_t k) { return buffers_[k]; }

  // How many of an operand that repeats one element the block function reads.
  int64_t copies(size_t k, int64_t n) const {
    if (plan_.by_numbers && k > 1) return plan_.columns ? kColumnRows : 1;
    return std::min(plan_.most, n);
  }

  void repeat(char* const* data, int64_t n) {
    for (size_t k = 1; k < plan_.count; ++k) {
      if (plan_.operands[k].how == How::Repeated) {
        bring(k, data[k], copies(k, n), buffer(k));
      }
    }
  }

  // m elements from the i-th of a row on, as the block function takes them.
  char* operand(size_t k, char* row, int64_t i, int64_t m) {
    const Plan::Operand& o = plan_.operands[k];
    if (o.how == How::InPlace) return row + i * o.step;
    if (o.how == How::Columns && plan_.by_numbers && k > 1) {
      bring(k, row, m / plan_.columns, buffer(k));
    } else if (o.how == How::Columns) {
      bring_columns(k, row, m, buffer(k));
    } else if (o.how > How::Repeated) {
      bring(k, row + i * o.step, m, buffer(k));
    }
    return buffer(k);
  }

  void bring_columns(size_t k, const char* from, int64_t n, char* to) {
    alignas(64) char values[kColumnRows * 8];
    const int64_t rows = n / plan_.columns;
    bring(k, from, rows, values);
    moves_of(plan_.operands[k].width).repeat_each(to, values, rows, plan_.columns);
  }

  static void bring_runs(const Plan::Operand& o, const char* from, int64_t rows, char* to) {
    with_isa([bytes = o.run * o.size, places = o.places, from, rows, to] {
      for (int64_t r = 0; r < rows; ++r) copy_run(to + r * bytes, from + places[r], bytes);
    });
  }

  void bring(size_t k, const char* from, int64_t n, char* to) {
    const Plan::Operand& o = plan_.operands[k];
    const Moves& moves = moves_of(o.size);
    char* const scratch[] = {scratch_[0], scratch_[1]};
    const bool converts = o.conversion.count > 0;
    char* const raw = converts ? scratch[0] : to;
    if (o.columns) {
      copy_plane(
          {raw, from, o.columns, n / o.columns, o.size, o.columns * o.size, o.step, o.row},
          o.size);
    } else if (o.run) {
      bring_runs(o, from, n / o.run, raw);
    } else if (o.places) {
      moves.gather_at(raw, from, o.places, n);
    } else if (o.step == 0) {
      if (!converts) return moves.repeat(to, from, n);
      alignas(8) char one[8];
      o.conversion.run(one, from, 1, scratch);
      return moves_of(o.width).repeat(to, one, n);
    } else if (o.step != o.size) {
      moves.gather(raw, from, o.step, n);
    } else if (converts) {
      return o.conversion.run(to, from, n, scratch);
    } else {
      move_bytes(to, from, n * o.size);
    }
    if (converts) o.conversion.run(to, scratch[0], n, scratch);
  }

  void send(char* to, const char* from, int64_t n) {
    const Plan::Operand& o = plan_.operands[0];
    char* const scratch[] = {scratch_[0], scratch_[1]};
    if (o.how == How::Dense) return o.conversion.run(to, from, n, scratch);
    if (o.conversion.count) {
      o.conversion.run(send_, from, n, scratch);
      from = send_;
    }
    const Moves& moves = moves_of(o.size);
    if (o.columns) {
      copy_plane(
          {to, from, o.columns, n / o.columns, o.step, o.row, o.size, o.columns * o.size},
          o.size);
    } else if (o.places) {
      moves.scatter_at(to, o.places, from, n);
    } else {
      moves.scatter(to, o.step, from, n);
    }
  }

  static bool is_list(const Plan::Operand& o) { return o.places || o.columns; }

  // What has the same bits goes from place to place.
  void copy(char* const* data, int64_t n) {
    const Plan::Operand &out = plan_.operands[0], &in = plan_.operands[1];
    if (out.how == How::InPlace && in.how == How::InPlace) {
      move_bytes(data[0], data[1], n * out.size);
    } else if (out.how == How::InPlace && in.how == How::Constant &&
               (is_list(in) || plan_.columns)) {
      std::memcpy(data[0], buffer(1), size_t(n * out.size));
    } else if (out.how == How::InPlace && in.how == How::Columns) {
      bring_columns(1, data[1], n, data[0]);
    } else if (out.how == How::InPlace) {
      bring(1, data[1], n, data[0]);
    } else if (in.how == How::InPlace) {
      send(data[0], data[1], n);
    } else if (in.step == 0 && !is_list(in) && !is_list(out)) {
      moves_of(out.size).spread(data[0], out.step, data[1], n);
    } else {
      repeat(data, n);
      for (int64_t i = 0; i < n; i += plan_.most) {
        const int64_t m = std::min(plan_.most, n - i);
        send(data[0] + i * out.step, operand(1, data[1], i, m), m);
      }
    }
  }

  const Plan& plan_;
  alignas(64) char buffers_[kMaxOperands][kBlockBytes];
  alignas(64) char scratch_[2][kBlockBytes];
  alignas(64) char send_[kBlockBytes];
};

/// What blocks would be too much for: a few elements, of any layout.
inline constexpr int64_t kTiny = 128;
void run_tiny(const Pointwise& kernel, int64_t n);

}  // namespace pkg::staging

// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/index/padding.cc: borders around tensors, each row of the result written once.
#include "kernels/cpu/index/padding.h"

#include "dispatcher/library.h"
#include "kernels/cpu/index/runs.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"
#include "tensor/fill.h"

namespace pkg {
namespace {

using Places = std::vector<int64_t, PoolAllocator<int64_t>>;

// What all rows have in common: elements [begin, end) are a run of self, from the one at
// `from` on.  Those before and behind are one value, or come from the places in `border`.
template <class T>
struct Row {
  int64_t begin, end, width, from;
  int64_t step;           // from one element of self to the next
  const int64_t* border;  // null: the constant
  T value;
};

template <class T>
[[gnu::always_inline]] inline void put_run(T* to, const T* from, int64_t step, int64_t n) {
  if (step == 1) {
    const int64_t bytes = n * int64_t(sizeof(T));
    if (bytes > kLongRun) move_bytes(to, from, bytes);
    else copy_run(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from), bytes);
  } else if (step == 2) {  // of which the compiler reads whole vectors
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  }
}

// Bytes that are written at once; what is too much is written again.
constexpr int64_t kVector = 16;

// One row; `middle` says whether the run is to be copied, or stands there.
template <class T>
[[gnu::always_inline]] inline void put_row(T* to, const T* self, const Row<T>& row,
                                           bool middle) {
  const int64_t begin = row.begin, end = row.end, width = row.width, n = end - begin;
  const int64_t* border = row.border;
  const T value = row.value;
  constexpr int64_t few = kVector / int64_t(sizeof(T));
  const bool first = !border && middle && begin <= few && width - end <= few &&
                     width >= few;
  if (first) {
    T some[few];
    for (T& one : some) one = value;
    if (begin > 0) std::memcpy(to, some, kVector);
    if (end < width) std::memcpy(to + width - few, some, kVector);
  }
  if (middle) put_run(to + begin, self + row.from * row.step, row.step, n);
  if (first) return;
  for (int64_t i = 0; i < begin; ++i) to[i] = border ? self[*border++] : value;
  for (int64_t i = end; i < width; ++i) to[i] = border ? self[*border++] : value;
}

// Where a padded tensor's elements come from.
struct Source {
  const Tensor& tensor;
  bool middle;  // whether what is inside is to be copied
};

template <class T>
class Pad {
 public:
  Pad(Tensor& out, const Source& source, const PaddedDims& dims, T value)
      : dims_(dims),
        strides_(source.tensor.strides()),
        copies_(source.middle),
        to_(static_cast<T*>(out.data())),
        from_(static_cast<const T*>(source.tensor.data())),
        lines_(dims.size() > 1 ? dims[dims.size() - 2]
                               : PaddedDim(1, 0, 0, Border::Constant)),
        line_step_(dims.size() > 1 ? strides_[dims.size() - 2] : 0) {
    const PaddedDim& last = dims.back();
    row_ = {last.begin,      last.end, last.padded, last.begin - last.before,
            strides_.back(), nullptr,  value};
    if (last.border == Border::Constant) return;
    for (int64_t i = 0; i < last.padded; ++i) {
      if (!last.is_inside(i)) border_.push_back(last.source(i) * row_.step);
    }
    row_.border = border_.data();
  }

  void run(int64_t rows) const {
    const int64_t grain = std::max<int64_t>(1, kGrain / row_.width);
    parallel_for(0, rows, grain, [this](int64_t begin, int64_t end) {
      for (const int64_t n = lines_.padded; begin < end;) {
        const int64_t line = begin % n, past = std::min(n, line + end - begin);
        plane(begin / n, line, past);
        begin += past - line;
      }
    });
  }

 private:
  // Rows [begin, end) of the plane of this number.
  void plane(int64_t number, int64_t begin, int64_t end) const {
    const T* self = from_;
    bool inside = true;
    int64_t rest = number;
    for (size_t d = dims_.size() > 1 ? dims_.size() - 2 : 0; d-- > 0;) {
      const int64_t i = rest % dims_[d].padded, source = dims_[d].source(i);
      rest /= dims_[d].padded;
      inside &= dims_[d].is_inside(i);
      if (self && source >= 0) self += source * strides_[d];
      else self = nullptr;
    }
    T* const to = to_ + number * lines_.padded * row_.width;
    with_isa([=, this] {
      for (int64_t i = begin; i < end; ++i) {
        T* const row = to + i * row_.width;
        const int64_t source = lines_.source(i);
        if (self && source >= 0) {
          put_row(row, self + source * line_step_, row_,
                  copies_ || !inside || !lines_.is_inside(i));
        } else {
          std::fill_n(row, row_.width, row_.value);
        }
      }
    });
  }

  const PaddedDims& dims_;
  const Shape& strides_;
  const bool copies_;
  T* const to_;
  const T* const from_;
  const PaddedDim lines_;
  const int64_t line_step_;
  Places border_;
  Row<T> row_;
};

// The part of t, of the padded sizes or before, whose elements are in both.
Tensor kept(const Tensor& t, const PaddedDims& dims, bool padded) {
  Shape sizes = t.sizes();
  int64_t offset = t.offset();
  for (size_t d = 0; d < dims.size(); ++d) {
    sizes[d] = dims[d].end - dims[d].begin;
    offset += (dims[d].begin - (padded ? 0 : dims[d].before)) * t.strides()[d];
  }
  return alias(t, sizes, t.strides(), offset);
}

void run_pad(Tensor& out, const Tensor& self, const PaddedDims& dims, const Scalar& value) {
  const auto plain = [](const PaddedDim& d) { return d.is_plain(); };
  if (std::all_of(dims.begin(), dims.end(), plain)) return copy_into(out, self);
  if (out.numel() == 0) return;
  if (self.numel() == 0) return fill(out, value);
  const PaddedDim& last = dims.back();
  const int64_t rows = out.numel() / last.padded;
  // Rows of a few bytes, around which a constant is, are filled, and copied into.
  constexpr int64_t kShortRow = 128;
  const bool is_short = last.padded * itemsize(out.dtype()) <= kShortRow;
  if (is_short && rows > 1 && last.border == Border::Constant) {
    fill(out, value);
    const Tensor to = kept(out, dims, true);
    if (to.numel() > 0) copy_into(to, kept(self, dims, false));
    return;
  }
  // A copy of the whole is better with rows whose elements are far apart, and threads share
  // a few long ones.  Borders come from what was copied, unless they need what is cut off.
  const bool dense = std::abs(self.strides().back()) <= 4 || last.size == 1;
  Tensor from = self;
  bool copied = false;
  if (!dense || (rows < 16 && last.padded > kGrain)) {
    const auto cuts = [](const PaddedDim& d) { return d.end - d.begin != d.size; };
    if (last.border == Border::Constant || std::none_of(dims.begin(), dims.end(), cuts)) {
      from = kept(out, dims, true);  // of which a constant's border reads nothing
      if (from.numel() > 0) copy_into(from, kept(self, dims, false));
      copied = true;
    } else if (!dense) {
      from = as_contiguous(self);
    }
  }
  const Tensor number = empty(Shape(), out.dtype());
  fill(number, value);
  visit_size(itemsize(out.dtype()), [&]<class T>(TypeTag<T>) {
    Pad<T>(out, {from, !copied}, dims, *static_cast<const T*>(number.data())).run(rows);
  });
}

void constant_kernel(Tensor& out, const Tensor& self, const Shape& pad,
                     const Scalar& value) {
  run_pad(out, self, padded_dims(self.sizes(), pad, Border::Constant), value);
}
void border_kernel(Tensor& out, const Tensor& self, const Shape& pad,
                   const std::string& mode, const std::optional<Scalar>& value) {
  run_pad(out, self, padded_dims(self.sizes(), pad, border_of(mode)),
          value.value_or(Scalar(0)));
}

PKG_LIBRARY_IMPL(pkg, CPU, m) {
  m.impl("constant_pad_nd", constant_kernel);
  m.impl("pad", border_kernel);
}

}  // namespace
}  // namespace pkg

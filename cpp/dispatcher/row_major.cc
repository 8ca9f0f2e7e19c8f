// SPDX-License-Identifier: Apache-2.0
// dispatcher/row_major.cc: arguments and results in row-major order around a kernel.
#include "dispatcher/row_major.h"

#include <algorithm>

#include "dispatcher/domain.h"
#include "dispatcher/library.h"
#include "tensor/copy.h"
#include "tensor/overlap.h"
#include "tensor/promotion.h"

namespace pkg::detail {
namespace {

Tensor dense_copy(const Tensor& tensor) {
  Tensor copy = empty(tensor.sizes(), tensor.dtype());
  copy_into(copy, tensor);
  return copy;
}

// Where the elements of a tensor begin in memory, in bytes, ascending.
std::vector<int64_t> places(const Tensor& tensor) {
  const auto item = int64_t(itemsize(tensor.dtype()));
  std::vector<int64_t> at{int64_t(uintptr_t(tensor.data()))};
  for (size_t d = 0; d < tensor.sizes().size(); ++d) {
    std::vector<int64_t> more;
    for (const int64_t start : at) {
      for (int64_t i = 0; i < tensor.sizes()[d]; ++i) {
        more.push_back(start + i * tensor.strides()[d] * item);
      }
    }
    at = std::move(more);
  }
  std::sort(at.begin(), at.end());
  return at;
}

bool overlap(const Tensor& a, const Tensor& b) {
  if (!share_memory(a, b) || a.numel() == 0 || b.numel() == 0) return false;
  const std::vector<int64_t> left = places(a), right = places(b);
  const auto end_a = int64_t(itemsize(a.dtype())), end_b = int64_t(itemsize(b.dtype()));
  for (size_t i = 0, k = 0; i < left.size() && k < right.size();) {
    if (left[i] + end_a <= right[k]) ++i;
    else if (right[k] + end_b <= left[i]) ++k;
    else return true;
  }
  return false;
}

// Two written arguments may not have elements in common: each would lose what is written to
// the other.  Separate parts of one storage are fine.
void check_written_apart(const Operator& op, std::span<const Value> args) {
  std::vector<std::pair<const Tensor*, size_t>> written;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!op.schema.arguments[i].written) continue;
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      for (const auto& [other, k] : written) {
        PKG_CHECK(!overlap(*other, tensor), RuntimeError, "[", op.schema.name,
                  "] expected written arguments that share no memory, got '",
                  op.schema.arguments[k].name, "' and '", op.schema.arguments[i].name,
                  "' with elements in common (shapes ", other->sizes(), " and ",
                  tensor.sizes(), "). Hint: clone() one of them.");
      }
      written.push_back({&tensor, i});
    });
  }
}

// The arguments of a kernel that takes rows: those that are not row-major copied, and
// those that lie in memory that is written.
class Rows {
 public:
  explicit Rows(std::span<const Value> args) : args_(args.begin(), args.end()) {}

  /// Copies what shares memory with `written`.
  void keep_from(const Tensor& written) {
    each([&](size_t, Tensor& tensor) {
      if (share_memory(tensor, written)) tensor = dense_copy(tensor);
    });
  }
  /// Row-major copies of the rest.  A written one is copied back by finish().
  void straighten(const Schema& schema) {
    each([&](size_t i, Tensor& tensor) {
      if (tensor.is_contiguous()) return;
      Tensor original = std::exchange(tensor, dense_copy(tensor));
      if (schema.arguments[i].written) written_.push_back({std::move(original), tensor});
    });
  }
  void finish() const {
    for (const auto& [original, copy] : written_) copy_into(original, copy);
  }
  /// The argument that a returned copy stands for.
  void restore(Value& result) const {
    if (auto* tensor = std::get_if<Tensor>(&result)) restore(*tensor);
    else if (auto* list = std::get_if<TensorList>(&result)) {
      for (Tensor& item : *list) restore(item);
    }
  }
  void restore(Tensor& result) const {
    for (const auto& [original, copy] : written_) {
      if (result.is_same(copy)) result = original;
    }
  }
  std::vector<Value>& args() { return args_; }
  template <class F>
  void each(F f) {
    for (size_t i = 0; i < args_.size(); ++i) {
      if (auto* tensor = std::get_if<Tensor>(&args_[i])) {
        if (tensor->defined()) f(i, *tensor);
      } else if (auto* list = std::get_if<TensorList>(&args_[i])) {
        for (Tensor& item : *list) {
          if (item.defined()) f(i, item);
        }
      }
    }
  }

 private:
  struct Written {
    Tensor original, copy;
  };
  std::vector<Value> args_;
  std::vector<Written> written_;
};

// The first result, where the kernel looks at strides: see tensor/layout.h.
Tensor allocate(const Operator& op, const Kernel& kernel, std::span<const Value> args,
                const Spec& spec) {
  std::array<const Tensor*, kMaxParameters> operands{};
  bool row_major = true;
  for (size_t i = 0; i < args.size(); ++i) {
    operands[i] = std::get_if<Tensor>(&args[i]);
    row_major = row_major && (!operands[i] || is_row_major(*operands[i]));
  }
  if (row_major || !op.keeps_order || !kernel.converts) return empty(spec);
  return empty_in_order(spec, {operands.data(), args.size()});
}

void compute_rows(const Operator& op, const Kernel& kernel, std::span<const Value> args,
                  std::span<Tensor> results, const ResultTypes& dtypes) {
  Rows rows(args);
  std::array<Tensor, kMaxResults> to;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool as_it_is = results[i].is_contiguous() && results[i].dtype() == dtypes[i];
    to[i] = as_it_is ? results[i] : empty(results[i].sizes(), dtypes[i]);
    rows.keep_from(to[i]);
  }
  if (!kernel.strided) rows.straighten(op.schema);
  kernel.compute(kernel.function, rows.args().data(), to.data());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!to[i].is_same(results[i])) copy_into(results[i], to[i]);
  }
}

}  // namespace

void convert_numbers(const Operator& op, std::span<Value> args) {
  const Operator& definition = op.definition();
  const Kernel& kernel = definition.kernel(DispatchKey::CPU);
  const Domain& domain = kernel.domain ? *kernel.domain : definition.domain;
  if (kernel.converts || domain.common == kAllDTypes) return;
  CommonDType types;
  bool numbers = false;
  const auto each = [&](auto f) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (!domain.own[i].empty()) continue;
      if (auto* tensor = std::get_if<Tensor>(&args[i])) f(*tensor);
      auto* list = std::get_if<TensorList>(&args[i]);
      for (size_t k = 0; list && k < list->size(); ++k) f((*list)[k]);
    }
  };
  each([&](const Tensor& tensor) {
    types.add(tensor);
    numbers |= tensor.defined() && tensor.impl()->wrapped_number;
  });
  if (!numbers) return;
  each([&](Tensor& tensor) {
    if (tensor.defined() && tensor.impl()->wrapped_number) {
      tensor = as_dtype(tensor, *types.get());
    }
  });
}

void infer_shapes(const Operator& op, std::span<const Value> args, Spec* specs) {
  const Operator& definition = op.definition();
  try {
    definition.shape_boxed(definition.shape, args.data(), specs);
    for (size_t i = 0; i < op.schema.returns.size(); ++i) specs[i].sizes.numel();  // raises
  } catch (Error& error) {
    error.rename(op.schema.name);
    throw;
  }
}

void compute(const Operator& op, const Kernel& kernel, std::span<const Value> args,
             std::span<Tensor> results, const ResultTypes& dtypes) {
  try {
    if (!kernel.converts) return compute_rows(op, kernel, args, results, dtypes);
    kernel.compute(kernel.function, args.data(), results.data());
  } catch (Error& error) {
    error.rename(op.schema.name);
    throw;
  }
}

std::array<Tensor, kMaxResults> make_results(const Operator& op, const Kernel& kernel,
                                             std::span<const Value> args,
                                             std::span<const Spec> specs) {
  std::array<Tensor, kMaxResults> results;
  try {
    if (op.in_place()) {
      results[0] = std::get<Tensor>(args[0]);
      check_in_place(op, results[0], specs[0]);
      results[0].bump_version();
    } else {
      results[0] = allocate(op, kernel, args, specs[0]);
      for (size_t i = 1; i < specs.size(); ++i) results[i] = empty(specs[i]);
    }
  } catch (Error& error) {
    error.rename(op.schema.name);
    throw;
  }
  return results;
}

void run_checked(const Operator& op, const Kernel& kernel, Stack& stack,
                 std::span<const Spec> specs) {
  std::array<Tensor, kMaxResults> results = make_results(op, kernel, stack.args, specs);
  ResultTypes dtypes{};
  for (size_t i = 0; i < specs.size(); ++i) dtypes[i] = specs[i].dtype;
  compute(op, kernel, stack.args, {results.data(), specs.size()}, dtypes);
  for (size_t i = 0; i < specs.size(); ++i) stack.push(std::move(results[i]));
}

void run_structured(const Operator& op, const Kernel& kernel, KeySet keys, Stack& stack) {
  const size_t n = op.schema.returns.size();
  const bool meta = keys.highest() == DispatchKey::Meta;
  const bool none_has_values = meta && check_one_device(op, stack.args);
  if (op.restricted()) check_dtypes(op, stack.args);
  convert_numbers(op, stack.args);
  std::array<Spec, kMaxResults> all;
  infer_shapes(op, stack.args, all.data());
  const std::span<Spec> specs(all.data(), n);
  if (!meta) return run_checked(op, kernel, stack, specs);
  if (none_has_values && !names_device(stack.args)) {
    for (Spec& spec : specs) spec.device = Device{DeviceType::Meta};
  }
  for (Tensor& result : make_results(op, kernel, stack.args, specs)) {
    if (result.defined()) stack.push(std::move(result));
  }
}

void run_rows(const Operator& op, const Kernel& kernel, KeySet keys, Stack& stack) {
  if (op.restricted()) check_dtypes(op, stack.args);
  convert_numbers(op, stack.args);
  check_written_apart(op, stack.args);
  for (size_t i = 0; i < stack.args.size(); ++i) {
    if (!op.schema.arguments[i].written) continue;
    for_each_tensor(stack.args[i], [&](const Tensor& t) {
      check_no_overlap(op.schema.name, t);
      t.bump_version();
    });
  }
  Rows rows(stack.args);
  rows.each([&](size_t i, Tensor& tensor) {
    if (op.schema.arguments[i].written) return;
    bool written = false;
    for (size_t k = 0; k < stack.args.size(); ++k) {
      if (!op.schema.arguments[k].written) continue;
      for_each_tensor(stack.args[k],
                      [&](const Tensor& t) { written |= share_memory(t, tensor); });
    }
    if (written) tensor = dense_copy(tensor);
  });
  rows.straighten(op.schema);
  Stack inner(rows.args());
  kernel.rows(op, kernel, keys, inner);
  rows.finish();
  for (Value& result : inner.results) {
    rows.restore(result);
    stack.push(std::move(result));
  }
}

}  // namespace pkg::detail

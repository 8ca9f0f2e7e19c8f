// SPDX-License-Identifier: Apache-2.0
// dispatcher/domain.cc: which dtypes an op takes, and what is said about the others.
#include "dispatcher/domain.h"

#include <algorithm>

#include "tensor/promotion.h"

namespace pkg::detail {
namespace {

template <class F>
void for_each_tensor(const TensorArg& arg, F f) {
  if (arg.tensor && arg.tensor->defined()) f(*arg.tensor);
  if (!arg.list) return;
  for (const Tensor& tensor : *arg.list) {
    if (tensor.defined()) f(tensor);
  }
}

std::string hint(DTypeSet set) {
  for (DType dtype : {DType::Float32, DType::Int64, DType::Bool, DType::Float64}) {
    if (set.has(dtype))
      return str(" Convert first, for example with .to(pkg.", dtype, ").");
  }
  return "";
}

// " (self=int64, other=float32)": the dtypes of the arguments that count for the common
// dtype.  Numbers are left out: a binding may have converted them.
std::string given(const Operator& op, const Domain& domain,
                  std::span<const TensorArg> args) {
  std::string text;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!domain.own[i].empty()) continue;
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      text += str(text.empty() ? " (" : ", ", op.schema.arguments[i].name, "=");
      text += tensor.impl()->wrapped_number ? "a number" : name_of(tensor.dtype());
    });
  }
  return text + ")";
}

// A kernel that reads memory as the dtypes that it declared.
void check_one_dtype(const Operator& op, const Domain& domain, DType common,
                     std::span<const TensorArg> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!domain.own[i].empty()) continue;
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      PKG_CHECK(tensor.dtype() == common || tensor.impl()->wrapped_number,
                NotImplementedError, "[", op.schema.name,
                "] expected tensors of one dtype, "
                "got several",
                given(op, domain, args), ".", hint(common));
    });
  }
}

void check(const Operator& op, const Domain& domain, bool converts,
           std::span<const TensorArg> args) {
  CommonDType types;
  for (size_t i = 0; i < args.size(); ++i) {
    const DTypeSet own = domain.own[i];
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      if (own.empty()) return types.add(tensor);
      PKG_CHECK(own.has(tensor.dtype()), RuntimeError, "[", op.schema.name, "] expected ",
                own.str(), " for '", op.schema.arguments[i].name, "', got ", tensor.dtype(),
                ".", hint(own));
    });
  }
  const std::optional<DType> common = types.get();
  if (!common || domain.common == kAllDTypes) return;
  PKG_CHECK(domain.common.has(*common), NotImplementedError, "[", op.schema.name,
            "] expected ", domain.common.str(), " tensors, got ", *common,
            given(op, domain, args), ".", hint(domain.common));
  if (!converts) check_one_dtype(op, domain, *common, args);
}

}  // namespace

void check_dtypes(const Operator& op, std::span<const TensorArg> args) {
  const Kernel& kernel = op.definition().kernel(DispatchKey::CPU);
  const Domain& domain = op.definition().domain;
  if (domain.declared) check(op, domain, kernel.converts, args);
  if (kernel.domain) check(op, *kernel.domain, kernel.converts, args);
}

void check_dtypes(const Operator& op, std::span<const Value> args) {
  std::array<TensorArg, kMaxParameters> tensors;
  std::copy(args.begin(), args.end(), tensors.begin());
  check_dtypes(op, std::span<const TensorArg>(tensors.data(), args.size()));
}

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/methods.h: what the methods of at::Tensor call.
#pragma once

#include "autograd/engine.h"
#include "compat/torch/style/call.h"
#include "compat/torch/style/tensor.h"
#include "ops/functions.h"

namespace at {
namespace detail {

inline Tensor wrap(::pkg::Tensor tensor) { return Tensor(std::move(tensor)); }
inline std::vector<Tensor> wrap(const ::pkg::TensorList& list) {
  std::vector<Tensor> tensors;
  tensors.reserve(list.size());
  for (const ::pkg::Tensor& tensor : list) tensors.push_back(wrap(tensor));
  return tensors;
}
inline ::pkg::TensorList unwrap(TensorList list) {
  ::pkg::TensorList tensors;
  tensors.reserve(list.size());
  for (const Tensor& tensor : list) tensors.push_back(tensor.unwrap());
  return tensors;
}
inline std::optional<::pkg::DType> unwrap(const std::optional<ScalarType>& type) {
  return type ? std::optional(to_dtype(*type)) : std::nullopt;
}
/// A bare number as an operand: it does not decide the dtype of the result.
inline ::pkg::Tensor number(const Scalar& scalar) { return scalar.unwrap(); }
inline std::optional<::pkg::Shape> dims(IntArrayRef list) {
  return list.empty() ? std::nullopt : std::optional(to_shape(list));
}
template <class... Given>
std::tuple<Tensor, Tensor> values_and_indices(const Named& op, const Tensor& self,
                                              const Given&... given) {
  const auto [values, indices] = op.call<std::tuple<::pkg::Tensor, ::pkg::Tensor>>(
      self.unwrap(), given...);
  return {wrap(values), wrap(indices)};
}

}  // namespace detail

inline void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph,
                             bool create_graph) const {
  ::pkg::backward({tensor_}, {gradient.unwrap()}, retain_graph.value_or(create_graph),
                  create_graph);
}

// Ops with a typed handle, and others.
#define PKG_TYPED(name, parameters, ...)                   \
  inline Tensor Tensor::name parameters const {            \
    return Tensor(::pkg::ops::name(tensor_, __VA_ARGS__)); \
  }
#define PKG_NAMED(name, text, parameters, ...)                  \
  inline Tensor Tensor::name parameters const {                 \
    static constinit const detail::Named op{text};              \
    return Tensor(op.call(tensor_ __VA_OPT__(, ) __VA_ARGS__)); \
  }
inline Tensor Tensor::contiguous(MemoryFormat) const {
  return is_contiguous() ? *this : Tensor(::pkg::ops::contiguous(tensor_));
}
inline Tensor Tensor::clone() const { return Tensor(::pkg::ops::clone(tensor_)); }
inline Tensor Tensor::to(ScalarType type, bool, bool copy) const {
  if (type == scalar_type()) return copy ? clone() : *this;
  return Tensor(::pkg::ops::to_dtype(tensor_, to_dtype(type)));
}
inline Tensor Tensor::to(Device device, bool non_blocking, bool copy) const {
  return Tensor(
      ::pkg::ops::to_device(tensor_, device.unwrap(), std::nullopt, non_blocking, copy));
}
inline Tensor Tensor::to(const TensorOptions& options) const {
  const Tensor moved = options.has_device() ? to(options.device()) : *this;
  return options.has_dtype() ? moved.to(options.dtype()) : moved;
}
PKG_NAMED(t, "t", ())
PKG_TYPED(transpose, (int64_t a, int64_t b), a, b)
PKG_TYPED(permute, (IntArrayRef dims), to_shape(dims))
PKG_TYPED(view, (IntArrayRef size), to_shape(size))
PKG_TYPED(reshape, (IntArrayRef size), to_shape(size))
PKG_TYPED(expand, (IntArrayRef size), to_shape(size))
PKG_TYPED(repeat, (IntArrayRef repeats), to_shape(repeats))
PKG_NAMED(flatten, "flatten", (int64_t start, int64_t end), start, end)
PKG_NAMED(squeeze, "squeeze", ())
PKG_NAMED(squeeze, "squeeze.dim", (int64_t dim), dim)
PKG_TYPED(unsqueeze, (int64_t dim), dim)
PKG_TYPED(select, (int64_t dim, int64_t index), dim, index)
PKG_TYPED(slice,
          (int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
           int64_t step),
          dim, start, end, step)
PKG_NAMED(narrow, "narrow", (int64_t dim, int64_t start, int64_t length), dim, start,
          length)
inline std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const {
  return detail::wrap(::pkg::ops::chunk(tensor_, chunks, dim));
}
inline std::vector<Tensor> Tensor::split(int64_t size, int64_t dim) const {
  static constinit const detail::Named op{"split"};
  return detail::wrap(op.call<::pkg::TensorList>(tensor_, size, dim));
}
inline std::vector<Tensor> Tensor::unbind(int64_t dim) const {
  static constinit const detail::Named op{"unbind"};
  return detail::wrap(op.call<::pkg::TensorList>(tensor_, dim));
}
PKG_TYPED(index_select, (int64_t dim, const Tensor& index), dim, index.unwrap())
PKG_TYPED(gather, (int64_t dim, const Tensor& index), dim, index.unwrap())
PKG_TYPED(masked_fill, (const Tensor& mask, const Scalar& value), mask.unwrap(),
          detail::number(value))
PKG_NAMED(masked_select, "masked_select", (const Tensor& mask), mask.tensor_)
PKG_NAMED(scatter, "scatter", (int64_t dim, const Tensor& index, const Tensor& source), dim,
          index.tensor_, source.tensor_)
PKG_NAMED(scatter, "scatter.value", (int64_t dim, const Tensor& index, const Scalar& value),
          dim, index.tensor_, value.unwrap())
PKG_NAMED(scatter_add, "scatter_add",
          (int64_t dim, const Tensor& index, const Tensor& source), dim, index.tensor_,
          source.tensor_)
PKG_NAMED(index_add, "index_add", (int64_t dim, const Tensor& index, const Tensor& source),
          dim, index.tensor_, source.tensor_)
PKG_NAMED(flip, "flip", (IntArrayRef dims), to_shape(dims))
PKG_TYPED(tril, (int64_t diagonal), diagonal)
PKG_TYPED(triu, (int64_t diagonal), diagonal)

inline Tensor Tensor::sum(std::optional<ScalarType> dtype) const {
  return sum(IntArrayRef(), false, dtype);
}
PKG_TYPED(sum, (IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
          detail::dims(dim), keepdim, detail::unwrap(dtype))
inline Tensor Tensor::mean(std::optional<ScalarType> dtype) const {
  return mean(IntArrayRef(), false, dtype);
}
PKG_TYPED(mean, (IntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype),
          detail::dims(dim), keepdim, detail::unwrap(dtype))
PKG_NAMED(max, "max", ())
PKG_NAMED(min, "min", ())
inline std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const {
  static constinit const detail::Named op{"max.dim"};
  return detail::values_and_indices(op, *this, dim, keepdim);
}
inline std::tuple<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const {
  static constinit const detail::Named op{"min.dim"};
  return detail::values_and_indices(op, *this, dim, keepdim);
}
PKG_TYPED(amax, (IntArrayRef dim, bool keepdim), detail::dims(dim), keepdim)
PKG_TYPED(amin, (IntArrayRef dim, bool keepdim), detail::dims(dim), keepdim)
PKG_TYPED(argmax, (std::optional<int64_t> dim, bool keepdim), dim, keepdim)
PKG_TYPED(argmin, (std::optional<int64_t> dim, bool keepdim), dim, keepdim)
PKG_TYPED(any, (), ::pkg::ops::Dims(), false)
PKG_TYPED(all, (), ::pkg::ops::Dims(), false)
PKG_NAMED(norm, "norm", ())
PKG_NAMED(norm, "norm", (const Scalar& p), p.unwrap())
PKG_NAMED(norm, "norm", (const Scalar& p, IntArrayRef dim, bool keepdim), p.unwrap(),
          detail::dims(dim), keepdim)
#define PKG_SPREAD(name)                                                 \
  PKG_NAMED(name, #name, (bool unbiased), std::optional<::pkg::Shape>(), \
            int64_t(unbiased))                                           \
  PKG_NAMED(name, #name, (IntArrayRef dim, bool unbiased, bool keepdim), \
            detail::dims(dim), int64_t(unbiased), keepdim)
PKG_SPREAD(var)
PKG_SPREAD(std)
#undef PKG_SPREAD
PKG_NAMED(prod, "prod", ())
PKG_NAMED(prod, "prod", (int64_t dim, bool keepdim), std::optional<int64_t>(dim), keepdim)
PKG_NAMED(logsumexp, "logsumexp", (IntArrayRef dim, bool keepdim), to_shape(dim), keepdim)
inline std::tuple<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const {
  static constinit const detail::Named op{"sort"};
  return detail::values_and_indices(op, *this, dim, descending);
}
inline std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest,
                                               bool sorted) const {
  static constinit const detail::Named op{"topk"};
  return detail::values_and_indices(op, *this, k, dim, largest, sorted);
}
PKG_NAMED(argsort, "argsort", (int64_t dim, bool descending), dim, descending)
PKG_TYPED(cumsum, (int64_t dim), dim, std::nullopt)
PKG_TYPED(softmax, (int64_t dim), dim, std::nullopt)
PKG_TYPED(log_softmax, (int64_t dim), dim, std::nullopt)
inline bool Tensor::equal(const Tensor& other) const {
  static constinit const detail::Named op{"equal"};
  return op.call<bool>(tensor_, other.tensor_);
}
inline bool Tensor::allclose(const Tensor& other, double rtol, double atol,
                             bool equal_nan) const {
  static constinit const detail::Named op{"allclose"};
  return op.call<bool>(tensor_, other.tensor_, rtol, atol, equal_nan);
}
PKG_TYPED(mm, (const Tensor& other), other.tensor_)
PKG_TYPED(bmm, (const Tensor& other), other.tensor_)
PKG_TYPED(mv, (const Tensor& other), other.tensor_)
PKG_TYPED(matmul, (const Tensor& other), other.tensor_)
PKG_NAMED(dot, "dot", (const Tensor& other), other.tensor_)

#define PKG_DEFINE(name) PKG_NAMED(name, #name, ())
PKG_TORCH_UNARY(PKG_DEFINE)
#undef PKG_DEFINE
#define PKG_DEFINE(name)                                \
  PKG_TYPED(name, (const Tensor& other), other.tensor_) \
  PKG_TYPED(name, (const Scalar& other), detail::number(other))
PKG_TORCH_BINARY(PKG_DEFINE)
#undef PKG_DEFINE
PKG_TYPED(add, (const Tensor& other, const Scalar& alpha), other.tensor_, alpha.unwrap())
PKG_TYPED(sub, (const Tensor& other, const Scalar& alpha), other.tensor_, alpha.unwrap())
PKG_TYPED(add, (const Scalar& other), detail::number(other), 1)
PKG_TYPED(sub, (const Scalar& other), detail::number(other), 1)
PKG_NAMED(logical_and, "logical_and", (const Tensor& other), other.tensor_)
PKG_NAMED(logical_or, "logical_or", (const Tensor& other), other.tensor_)
namespace detail {
inline ::pkg::Tensor limit(const std::optional<Scalar>& value) {
  return value ? number(*value) : ::pkg::Tensor();
}
}  // namespace detail
PKG_TYPED(clamp, (const std::optional<Scalar>& min, const std::optional<Scalar>& max),
          detail::limit(min), detail::limit(max))
PKG_NAMED(clamp_min, "clamp_min", (const Scalar& min), detail::number(min))
PKG_NAMED(clamp_max, "clamp_max", (const Scalar& max), detail::number(max))
PKG_NAMED(addcmul, "addcmul", (const Tensor& a, const Tensor& b, const Scalar& value),
          a.tensor_, b.tensor_, value.unwrap())
PKG_NAMED(addcdiv, "addcdiv", (const Tensor& a, const Tensor& b, const Scalar& value),
          a.tensor_, b.tensor_, value.unwrap())

#define PKG_IN_PLACE(name, parameters, ...)               \
  inline const Tensor& Tensor::name parameters const {    \
    ::pkg::ops::name(tensor_ __VA_OPT__(, ) __VA_ARGS__); \
    return *this;                                         \
  }
#define PKG_NAMED_IN_PLACE(name, parameters, ...)      \
  inline const Tensor& Tensor::name parameters const { \
    static constinit const detail::Named op{#name};    \
    op.call<void>(tensor_ __VA_OPT__(, ) __VA_ARGS__); \
    return *this;                                      \
  }
#define PKG_DEFINE(name) PKG_NAMED_IN_PLACE(name, ())
PKG_TORCH_UNARY_IN_PLACE(PKG_DEFINE)
#undef PKG_DEFINE
#define PKG_DEFINE(name)                                   \
  PKG_IN_PLACE(name, (const Tensor& other), other.tensor_) \
  PKG_IN_PLACE(name, (const Scalar& other), detail::number(other))
PKG_TORCH_BINARY_IN_PLACE(PKG_DEFINE)
#undef PKG_DEFINE
PKG_IN_PLACE(copy_, (const Tensor& source, bool), source.tensor_)
PKG_NAMED_IN_PLACE(fill_, (const Scalar& value), value.unwrap())
PKG_IN_PLACE(uniform_, (double from, double to), from, to)
PKG_IN_PLACE(normal_, (double mean, double std), mean, std)
PKG_IN_PLACE(add_, (const Tensor& other, const Scalar& alpha), other.tensor_,
             alpha.unwrap())
PKG_IN_PLACE(sub_, (const Tensor& other, const Scalar& alpha), other.tensor_,
             alpha.unwrap())
PKG_IN_PLACE(add_, (const Scalar& other), detail::number(other), 1)
PKG_IN_PLACE(sub_, (const Scalar& other), detail::number(other), 1)
PKG_IN_PLACE(masked_fill_, (const Tensor& mask, const Scalar& value), mask.tensor_,
             detail::number(value))
PKG_NAMED_IN_PLACE(clamp_,
                   (const std::optional<Scalar>& min, const std::optional<Scalar>& max),
                   detail::limit(min), detail::limit(max))
PKG_NAMED_IN_PLACE(clamp_min_, (const Scalar& min), detail::number(min))
PKG_NAMED_IN_PLACE(clamp_max_, (const Scalar& max), detail::number(max))
PKG_NAMED_IN_PLACE(addcmul_, (const Tensor& a, const Tensor& b, const Scalar& value),
                   a.tensor_, b.tensor_, value.unwrap())
PKG_NAMED_IN_PLACE(addcdiv_, (const Tensor& a, const Tensor& b, const Scalar& value),
                   a.tensor_, b.tensor_, value.unwrap())
#define PKG_ADDED_TO(name)                                                                \
  PKG_NAMED_IN_PLACE(name, (int64_t dim, const Tensor& index, const Tensor& source), dim, \
                     index.tensor_, source.tensor_)
PKG_ADDED_TO(scatter_)
PKG_ADDED_TO(scatter_add_)
PKG_ADDED_TO(index_add_)
#undef PKG_ADDED_TO
#undef PKG_IN_PLACE
#undef PKG_NAMED_IN_PLACE
#undef PKG_TYPED
#undef PKG_NAMED

}  // namespace at

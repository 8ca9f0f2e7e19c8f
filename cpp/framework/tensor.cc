// SPDX-License-Identifier: Apache-2.0
// framework/tensor.cc: what is not worth compiling in every kernel.
#include "framework/tensor.h"

#include "framework/resource_handle.h"

namespace pkg::framework {

Tensor::Tensor(DataType type, const TensorShape& shape) : type_(type) {
  const auto dtype = dtype_of_data_type(type);
  PKG_CHECK(dtype, NotImplementedError, "[Tensor] there are no tensors of ",
            DataTypeString(type),
            ": bool, uint8, int8, int32, int64, half, bfloat16, "
            "float and double have them.");
  const bool handle = type == DT_RESOURCE || type == DT_VARIANT;
  value_ = handle ? make_handle_tensor(shape.sizes()) : empty(shape.sizes(), *dtype);
}

bool Tensor::CopyFrom(const Tensor& other, const TensorShape& shape) {
  if (other.NumElements() != shape.num_elements()) return false;
  type_ = other.type_;
  if (!other.value_.defined()) {
    value_ = empty(shape.sizes(), *dtype_of_data_type(type_));
    return true;
  }
  value_ = share(alias(other.value_, shape.sizes(), contiguous_strides(shape.sizes()),
                       other.value_.offset()));
  return true;
}

Tensor Tensor::Slice(int64_t start, int64_t limit) const {
  PKG_CHECK(dims() >= 1 && start >= 0 && start <= limit && limit <= dim_size(0), IndexError,
            "[Slice] expected rows of a tensor of shape ", shape().DebugString(), ", got ",
            start, " to ", limit, ".");
  Shape sizes = shape().sizes();
  sizes[0] = limit - start;
  const Shape strides = contiguous_strides(shape().sizes());
  return Tensor(share(alias(value_, sizes, strides, value_.offset() + start * strides[0])),
                type_);
}

Tensor Tensor::SubSlice(int64_t index) const {
  Tensor row = Slice(index, index + 1);
  TensorShape inner = row.shape();
  inner.RemoveDim(0);
  PKG_ASSERT(row.CopyFrom(Tensor(row), inner));
  return row;
}

std::string Tensor::DebugString() const {
  return str("Tensor<type: ", DataTypeString(type_), " shape: ", shape().DebugString(),
             ">");
}

void Tensor::refuse_type(const char* what, DataType wanted) const {
  pkg::detail::raise<TypeError>("[", what, "] expected a tensor of ",
                                DataTypeString(wanted), ", as ", what,
                                "<T>() was asked "
                                "for, got ",
                                DebugString(), ".");
}

void Tensor::refuse_rank(size_t wanted) const {
  const std::string expected = wanted == 0 ? "one element" : str(wanted, " dimensions");
  pkg::detail::raise<ValueError>("[tensor map] expected a tensor of ", expected, ", got ",
                                 DebugString(), ".");
}

void Tensor::check_sizes(std::span<const int64_t> given, size_t n) const {
  bool fits = given.size() == n;
  for (int64_t size : given) fits = fits && size >= 0;
  fits = fits && Shape(given).numel() == NumElements();
  PKG_CHECK(fits, ValueError, "[shaped] expected ", n, " sizes with ", NumElements(),
            " elements, got ", PartialShape::of(given).str(), " for ", DebugString(), ".");
}

void Tensor::collapse(bool inner, std::span<int64_t> into) const {
  const TensorShape all = shape();
  const auto n = int(into.size()), rank = all.dims();
  std::fill(into.begin(), into.end(), 1);
  for (int d = 0; d < rank; ++d) {
    // What is kept lies at the end, or at the beginning.
    const int at = inner ? std::max(d - rank + n, 0) : std::min(d, n - 1);
    into[size_t(at)] *= all.dim_size(d);
  }
}

HandlePlace::HandlePlace(const Tensor& tensor) : tensor_(tensor.value()) {
  tensor.check_one();
  if (tensor.dtype() != DT_RESOURCE) tensor.refuse_type("scalar", DT_RESOURCE);
}

}  // namespace pkg::framework

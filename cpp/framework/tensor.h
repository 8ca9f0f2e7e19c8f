// SPDX-License-Identifier: Apache-2.0
// framework/tensor.h: a row-major tensor as kernels see it, over ours.
#pragma once

#include <string_view>

#include "framework/tensor_map.h"
#include "framework/tensor_shape.h"
#include "tensor/tensor.h"

namespace pkg::framework {

struct ResourceHandle;

/// Shares its memory with its copies, and keeps it: a kernel may hold one for as long as it
/// likes.  A default one has no elements.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised.  NotImplementedError for a type that tensors do not have.
  Tensor(DataType type, const TensorShape& shape);
  /// Over a row-major tensor of ours.
  Tensor(pkg::Tensor value, DataType type) : value_(std::move(value)), type_(type) {}
  /// 0-d.
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit Tensor(T number) : Tensor(DataTypeToEnum<T>::value, {}) {
    scalar<T>()() = number;
  }

  DataType dtype() const { return type_; }
  /// Of a new tensor, where TensorFlow gives a reference: bind it to a const one.
  TensorShape shape() const {
    return value_.defined() ? TensorShape(value_.sizes()) : TensorShape({0});
  }
  int dims() const { return value_.defined() ? int(value_.ndim()) : 1; }
  int64_t dim_size(int d) const { return shape().dim_size(d); }
  int64_t NumElements() const { return value_.defined() ? value_.numel() : 0; }
  bool IsSameSize(const Tensor& other) const { return shape() == other.shape(); }
  bool IsInitialized() const { return value_.defined(); }
  size_t TotalBytes() const {
    return value_.defined() ? size_t(NumElements() * itemsize(value_.dtype())) : 0;
  }
  size_t AllocatedBytes() const { return TotalBytes(); }
  bool SharesBufferWith(const Tensor& other) const {
    return value_.defined() && other.value_.defined() &&
           value_.impl()->storage == other.value_.impl()->storage;
  }
  void* data() const { return value_.defined() ? value_.data<void>() : nullptr; }
  std::string_view tensor_data() const {
    return {static_cast<const char*>(data()), TotalBytes()};
  }
  /// The tensor of ours.
  const pkg::Tensor& value() const { return value_; }

  // All of these are a TypeError for another element type, and a ValueError where the
  // number of dimensions or elements does not fit.
  template <class T>
  TensorMap<T, 1> flat() {
    return map<T, 1>(elements<T>("flat"), {NumElements()});
  }
  template <class T>
  TensorMap<const T, 1> flat() const {
    return map<const T, 1>(elements<T>("flat"), {NumElements()});
  }
  template <class T>
  TensorMap<T, 1> unaligned_flat() {
    return flat<T>();
  }
  template <class T>
  TensorMap<const T, 1> unaligned_flat() const {
    return flat<T>();
  }
  template <class T>
  TensorMap<T, 1> vec() {
    return tensor<T, 1>();
  }
  template <class T>
  TensorMap<const T, 1> vec() const {
    return tensor<T, 1>();
  }
  template <class T>
  TensorMap<T, 2> matrix() {
    return tensor<T, 2>();
  }
  template <class T>
  TensorMap<const T, 2> matrix() const {
    return tensor<T, 2>();
  }
  template <class T, size_t N>
  TensorMap<T, N> tensor() {
    return map<T, N>(elements<T>("tensor"), sizes<N>());
  }
  template <class T, size_t N>
  TensorMap<const T, N> tensor() const {
    return map<const T, N>(elements<T>("tensor"), sizes<N>());
  }
  /// One element, whatever the number of dimensions.
  template <class T>
  auto scalar() {
    if constexpr (std::is_same_v<T, ResourceHandle>)
      return handle_scalar(static_cast<T*>(nullptr), *this);
    else return check_one(), map<T, 0>(elements<T>("scalar"), {});
  }
  template <class T>
  auto scalar() const {
    if constexpr (std::is_same_v<T, ResourceHandle>)
      return handle_scalar(static_cast<T*>(nullptr), *this);
    else return check_one(), map<const T, 0>(elements<T>("scalar"), {});
  }
  /// With other sizes over the same elements.
  template <class T, size_t N>
  TensorMap<T, N> shaped(std::span<const int64_t> given) {
    return map<T, N>(elements<T>("shaped"), checked<N>(given));
  }
  template <class T, size_t N>
  TensorMap<const T, N> shaped(std::span<const int64_t> given) const {
    return map<const T, N>(elements<T>("shaped"), checked<N>(given));
  }
  template <class T, size_t N>
  TensorMap<T, N> shaped(std::initializer_list<int64_t> given) {
    return shaped<T, N>(std::span<const int64_t>(given.begin(), given.size()));
  }
  template <class T, size_t N>
  TensorMap<const T, N> shaped(std::initializer_list<int64_t> given) const {
    return shaped<T, N>(std::span<const int64_t>(given.begin(), given.size()));
  }
  /// The last N - 1 dimensions as they are, all before them as one.
  template <class T, size_t N = 2>
  TensorMap<T, N> flat_inner_dims() {
    return map<T, N>(elements<T>("flat_inner_dims"), collapsed<N>(true));
  }
  template <class T, size_t N = 2>
  TensorMap<const T, N> flat_inner_dims() const {
    return map<const T, N>(elements<T>("flat_inner_dims"), collapsed<N>(true));
  }
  /// The first N - 1 dimensions as they are, all after them as one.
  template <class T, size_t N = 2>
  TensorMap<T, N> flat_outer_dims() {
    return map<T, N>(elements<T>("flat_outer_dims"), collapsed<N>(false));
  }
  template <class T, size_t N = 2>
  TensorMap<const T, N> flat_outer_dims() const {
    return map<const T, N>(elements<T>("flat_outer_dims"), collapsed<N>(false));
  }

  /// This shows the elements of the other with another shape; false where the numbers of
  /// elements differ.
  [[nodiscard]] bool CopyFrom(const Tensor& other, const TensorShape& shape);
  /// Rows from `start` to before `limit`, which share the memory.
  Tensor Slice(int64_t start, int64_t limit) const;
  /// One row, without the first dimension.
  Tensor SubSlice(int64_t index) const;
  /// "Tensor<type: float shape: [2,3]>"
  std::string DebugString() const;

 private:
  template <class T, size_t N>
  static TensorMap<T, N> map(std::remove_const_t<T>* data,
                             const std::array<int64_t, N>& sizes) {
    return TensorMap<T, N>(data, sizes);
  }
  template <class T>
  T* elements(const char* what) const {
    if (__builtin_expect(DataTypeToEnum<T>::value != type_, 0)) {
      refuse_type(what, DataTypeToEnum<T>::value);
    }
    return static_cast<T*>(data());
  }
  template <size_t N>
  std::array<int64_t, N> sizes() const {
    if (size_t(dims()) != N) refuse_rank(N);
    std::array<int64_t, N> found{};
    if (value_.defined()) std::copy_n(value_.sizes().begin(), N, found.begin());
    return found;
  }
  template <size_t N>
  std::array<int64_t, N> checked(std::span<const int64_t> given) const {
    check_sizes(given, N);
    std::array<int64_t, N> found{};
    std::copy_n(given.begin(), N, found.begin());
    return found;
  }
  template <size_t N>
  std::array<int64_t, N> collapsed(bool inner) const {
    std::array<int64_t, N> found{};
    collapse(inner, found);
    return found;
  }
  void collapse(bool inner, std::span<int64_t> into) const;
  void check_one() const {
    if (NumElements() != 1) refuse_rank(0);
  }
  void check_sizes(std::span<const int64_t> given, size_t n) const;
  [[noreturn, gnu::cold]] void refuse_type(const char* what, DataType wanted) const;
  [[noreturn, gnu::cold]] void refuse_rank(size_t wanted) const;
  friend class HandlePlace;
  friend class OpKernelContext;  // which takes the tensor out of a result

  pkg::Tensor value_;
  DataType type_ = DT_FLOAT;
};

}  // namespace pkg::framework

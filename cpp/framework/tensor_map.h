// SPDX-License-Identifier: Apache-2.0
// framework/tensor_map.h: a tensor's elements as kernels in Eigen's style read them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "base/error.h"

// Whether m(i, j) is checked: by default in builds without optimisation.
#ifndef PKG_CHECKED_MAPS
#ifdef __OPTIMIZE__
#define PKG_CHECKED_MAPS 0
#else
#define PKG_CHECKED_MAPS 1
#endif
#endif

namespace pkg::framework {

/// `N` dimensions over row-major memory that somebody else keeps.  With kChecked an index
/// out of range is an IndexError.  As Eigen's: a copy shows the same elements, and what is
/// assigned goes into the elements.
template <class T, size_t N, bool kChecked = PKG_CHECKED_MAPS>
class TensorMap {
 public:
  using Scalar = std::remove_const_t<T>;
  using Index = int64_t;
  using Dimensions = std::array<Index, N>;

  TensorMap(T* data, const Dimensions& dimensions) : data_(data), dimensions_(dimensions) {
    // The others of an empty one may be too large for their product.
    if (std::count(dimensions_.begin(), dimensions_.end(), Index(0)) > 0) size_ = 0;
    else
      for (Index size : dimensions_) size_ *= size;
  }

  TensorMap(const TensorMap&) = default;
  const TensorMap& operator=(const TensorMap& other) const { return assign(other); }
  TensorMap& operator=(const TensorMap& other) { return assign(other), *this; }
  template <class U>
  const TensorMap& operator=(const TensorMap<U, N, kChecked>& other) const {
    return assign(other);
  }

  T* data() const { return data_; }
  Index size() const { return size_; }
  Index dimension(size_t i) const {
    PKG_CHECK(i < N, IndexError, "[dimension] expected a number below ", N, ", got ", i,
              ".");
    return dimensions_[i];
  }
  const Dimensions& dimensions() const { return dimensions_; }
  static constexpr size_t rank() { return N; }
  // Of a matrix.
  Index rows() const
    requires(N == 2)
  {
    return dimensions_[0];
  }
  Index cols() const
    requires(N == 2)
  {
    return dimensions_[1];
  }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

  template <class... I>
    requires(sizeof...(I) == N)
  T& operator()(I... index) const {
    return data_[place({Index(index)...})];
  }
  T& operator()(const Dimensions& index) const { return data_[place(index)]; }
  /// Of a flat one.
  T& operator[](Index i) const
    requires(N == 1)
  {
    return data_[place({i})];
  }

  const TensorMap& setZero() const { return setConstant(Scalar{}); }
  const TensorMap& setConstant(const Scalar& value) const {
    std::fill(begin(), end(), value);
    return *this;
  }
  /// Copies the elements of a map of the same sizes.
  template <class U>
  const TensorMap& assign(const TensorMap<U, N, kChecked>& other) const {
    return each("=", other, [](T& a, const Scalar& b) { a = b; });
  }
  // Element by element, with a map of the same sizes.
  template <class U>
  const TensorMap& operator+=(const TensorMap<U, N, kChecked>& other) const {
    return each("+=", other, [](T& a, const Scalar& b) { a = Scalar(a + b); });
  }
  template <class U>
  const TensorMap& operator-=(const TensorMap<U, N, kChecked>& other) const {
    return each("-=", other, [](T& a, const Scalar& b) { a = Scalar(a - b); });
  }
  template <class U>
  const TensorMap& operator*=(const TensorMap<U, N, kChecked>& other) const {
    return each("*=", other, [](T& a, const Scalar& b) { a = Scalar(a * b); });
  }
  template <class U>
  const TensorMap& operator/=(const TensorMap<U, N, kChecked>& other) const {
    return each("/=", other, [](T& a, const Scalar& b) { a = quotient(a, b); });
  }

 private:
  template <class U, class F>
  const TensorMap& each(const char* sign, const TensorMap<U, N, kChecked>& other,
                        F f) const {
    static_assert(std::is_same_v<std::remove_const_t<U>, Scalar>,
                  "both maps are of one element type");
    PKG_CHECK(other.dimensions() == dimensions_, ValueError, "[tensor map ", sign,
              "] expected a map of the sizes of this one, [", join(std::span(dimensions_)),
              "], got [", join(std::span(other.dimensions())), "].");
    for (Index i = 0; i < size_; ++i) f(data_[i], other.data()[i]);
    return *this;
  }
  // Of whole numbers as the ops': an error for zero, and the most negative one over -1 wraps.
  // The processor would end the process for either.
  static Scalar quotient(const Scalar& a, const Scalar& b) {
    if constexpr (std::is_integral_v<Scalar>) {
      PKG_CHECK(b != Scalar(0), RuntimeError,
                "ZeroDivisionError: [tensor map /=] integer division by zero.");
      if constexpr (std::is_signed_v<Scalar>) {
        if (b == Scalar(-1)) return Scalar(0 - std::make_unsigned_t<Scalar>(a));
      }
    }
    return Scalar(a / b);
  }
  static std::string join(std::span<const Index> sizes) {
    std::string text;
    for (Index size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
    return text;
  }
  Index place(const Dimensions& index) const {
    Index at = 0;
    for (size_t d = 0; d < N; ++d) {
      if constexpr (kChecked) {
        PKG_CHECK(index[d] >= 0 && index[d] < dimensions_[d], IndexError,
                  "[tensor map] expected an index from 0 to ", dimensions_[d] - 1,
                  " in dimension ", d, ", got ", index[d], ".");
      }
      at = at * dimensions_[d] + index[d];
    }
    return at;
  }

  T* data_;
  Dimensions dimensions_;
  Index size_ = 1;
};

/// TensorFlow's names of them.
template <class T, size_t N = 1>
struct TTypes {
  using Tensor = TensorMap<T, N>;
  using ConstTensor = TensorMap<const T, N>;
  using Flat = TensorMap<T, 1>;
  using ConstFlat = TensorMap<const T, 1>;
  using Vec = TensorMap<T, 1>;
  using ConstVec = TensorMap<const T, 1>;
  using Matrix = TensorMap<T, 2>;
  using ConstMatrix = TensorMap<const T, 2>;
  using Scalar = TensorMap<T, 0>;
  using ConstScalar = TensorMap<const T, 0>;
  using UnalignedFlat = Flat;
  using UnalignedConstFlat = ConstFlat;
};

}  // namespace pkg::framework

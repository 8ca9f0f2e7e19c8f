// SPDX-License-Identifier: Apache-2.0
// framework/tensor_shape.h: TensorFlow's classes of shapes, over ours.
#pragma once

#include <iterator>
#include <span>
#include <string>

#include "framework/attr_value.h"
#include "framework/status.h"

namespace pkg::framework {

/// What a loop over a shape gives: a size, which is also its number.
struct TensorShapeDim {
  int64_t size;
  operator int64_t() const { return size; }
};

/// The sizes of a tensor.
class TensorShape {
 public:
  TensorShape() = default;
  TensorShape(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  TensorShape(std::span<const int64_t> sizes) : sizes_(sizes) {}
  TensorShape(const std::vector<int64_t>& sizes) : sizes_(sizes) {}
  explicit TensorShape(const Shape& sizes) : sizes_(sizes) {}

  int dims() const { return int(sizes_.size()); }
  /// IndexError where there is no such dimension.
  int64_t dim_size(int d) const { return sizes_[place(d)]; }
  /// RuntimeError where the number overflows.
  int64_t num_elements() const { return sizes_.numel(); }
  const Shape& sizes() const { return sizes_; }
  std::vector<int64_t> dim_sizes() const { return {sizes_.begin(), sizes_.end()}; }
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = TensorShapeDim;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = TensorShapeDim;
    explicit Iterator(const int64_t* at) : at_(at) {}
    TensorShapeDim operator*() const { return {*at_}; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const int64_t* at_;
  };
  Iterator begin() const { return Iterator(sizes_.begin()); }
  Iterator end() const { return Iterator(sizes_.end()); }

  void AddDim(int64_t size) { sizes_.push_back(checked(size)); }
  void InsertDim(int d, int64_t size) {
    PKG_CHECK(d >= 0 && d <= dims(), IndexError,
              "[TensorShape] expected a place from 0 to ", dims(), ", got ", d, ".");
    sizes_.insert(size_t(d), checked(size));
  }
  void AppendShape(const TensorShape& other) {
    for (int64_t size : other.sizes_) sizes_.push_back(size);
  }
  void set_dim(int d, int64_t size) { sizes_[place(d)] = checked(size); }
  void RemoveDim(int d) { sizes_.erase(place(d)); }
  void RemoveLastDims(int n) {
    PKG_CHECK(n >= 0 && n <= dims(), IndexError, "[TensorShape] expected to remove 0 to ",
              dims(), " dimensions, got ", n, ".");
    sizes_.resize(size_t(dims() - n));
  }
  void Clear() { sizes_.clear(); }

  bool IsSameSize(const TensorShape& other) const { return sizes_ == other.sizes_; }
  friend bool operator==(const TensorShape& a, const TensorShape& b) {
    return a.sizes_ == b.sizes_;
  }
  /// "[2,3]"
  std::string DebugString() const { return PartialShape::of(sizes_).str(); }
  friend std::ostream& operator<<(std::ostream& out, const TensorShape& shape) {
    return out << shape.DebugString();
  }

 private:
  size_t place(int d) const {
    PKG_CHECK(d >= 0 && d < dims(), IndexError, "[TensorShape] expected a dimension of ",
              DebugString(), ", got ", d, ".");
    return size_t(d);
  }
  static int64_t checked(int64_t size) {
    PKG_CHECK(size >= 0, ValueError, "[TensorShape] expected a size of 0 or more, got ",
              size, ".");
    return size;
  }
  Shape sizes_;
};

/// A shape of which not everything need be known.
class PartialTensorShape : public PartialShape {
 public:
  PartialTensorShape() { known_rank = false; }
  PartialTensorShape(PartialShape shape) : PartialShape(std::move(shape)) {}
  PartialTensorShape(std::initializer_list<int64_t> given) : PartialShape{true, given} {}
  explicit PartialTensorShape(std::span<const int64_t> given) : PartialShape(of(given)) {}
  PartialTensorShape(const TensorShape& shape) : PartialShape(of(shape.sizes())) {}

  bool unknown_rank() const { return !known_rank; }
  /// -1 when unknown.
  int dims() const { return known_rank ? int(sizes.size()) : -1; }
  int64_t dim_size(int d) const {
    PKG_CHECK(d >= 0 && d < dims(), IndexError,
              "[PartialTensorShape] expected a dimension of ", str(), ", got ", d, ".");
    return sizes[size_t(d)];
  }
  bool IsFullyDefined() const {
    return known_rank &&
           std::none_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; });
  }
  bool AsTensorShape(TensorShape* shape) const {
    if (!IsFullyDefined()) return false;
    *shape = TensorShape(sizes);
    return true;
  }
  bool IsCompatibleWith(const TensorShape& shape) const {
    if (!known_rank) return true;
    bool same = sizes.size() == size_t(shape.dims());
    for (size_t d = 0; same && d < sizes.size(); ++d) {
      same = sizes[d] < 0 || sizes[d] == shape.sizes()[d];
    }
    return same;
  }
  std::string DebugString() const { return str(); }
};

struct TensorShapeUtils {
  static bool IsScalar(const TensorShape& shape) { return shape.dims() == 0; }
  static bool IsVector(const TensorShape& shape) { return shape.dims() == 1; }
  static bool IsVectorOrHigher(const TensorShape& shape) { return shape.dims() >= 1; }
  static bool IsMatrix(const TensorShape& shape) { return shape.dims() == 2; }
  static bool IsMatrixOrHigher(const TensorShape& shape) { return shape.dims() >= 2; }
  static bool IsSquareMatrix(const TensorShape& shape) {
    return shape.dims() == 2 && shape.dim_size(0) == shape.dim_size(1);
  }
  template <class T>
  static Status MakeShape(const T* sizes, int64_t n, TensorShape* shape) {
    TensorShape made;
    for (int64_t i = 0; i < n; ++i) {
      if (sizes[i] < 0) {
        return errors::InvalidArgument("Dimension ", int64_t(sizes[i]), " must be >= 0");
      }
      made.AddDim(int64_t(sizes[i]));
    }
    *shape = std::move(made);
    return Status();
  }
  template <class List>
  static Status MakeShape(const List& sizes, TensorShape* shape) {
    return MakeShape(sizes.data(), int64_t(sizes.size()), shape);
  }
  static bool StartsWith(const TensorShape& shape, const TensorShape& prefix) {
    return shape.dims() >= prefix.dims() &&
           std::equal(prefix.sizes().begin(), prefix.sizes().end(), shape.sizes().begin());
  }
  static std::string ShapeListString(std::span<const TensorShape> shapes) {
    std::string text = "[";
    for (const TensorShape& shape : shapes) {
      text += (text.size() > 1 ? ", " : "") + shape.DebugString();
    }
    return text + "]";
  }
};

}  // namespace pkg::framework

// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/types.h: PyTorch's names for element types, devices, options, numbers
// and references to arrays, over the core's.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/device.h"
#include "base/dtype.h"
#include "base/scalar.h"
#include "base/shape.h"
#include "compat/torch/style/check.h"
#include "framework/sixteen_bits.h"

namespace at {

using Half = ::pkg::framework::SixteenBits<::pkg::Half, /*kFromFloats=*/true>;
using BFloat16 = ::pkg::framework::SixteenBits<::pkg::BFloat16, /*kFromFloats=*/true>;

/// The core's element types by PyTorch's names; a static_cast is the conversion.
enum class ScalarType : uint8_t {
  Bool = uint8_t(::pkg::DType::Bool),
  Byte = uint8_t(::pkg::DType::UInt8),
  Char = uint8_t(::pkg::DType::Int8),
  Int = uint8_t(::pkg::DType::Int32),
  Long = uint8_t(::pkg::DType::Int64),
  Half = uint8_t(::pkg::DType::Float16),
  BFloat16 = uint8_t(::pkg::DType::BFloat16),
  Float = uint8_t(::pkg::DType::Float32),
  Double = uint8_t(::pkg::DType::Float64),
};
constexpr ::pkg::DType to_dtype(ScalarType type) { return ::pkg::DType(type); }
constexpr ScalarType to_scalar_type(::pkg::DType dtype) { return ScalarType(dtype); }
inline const char* toString(ScalarType type) { return ::pkg::name_of(to_dtype(type)); }
inline std::ostream& operator<<(std::ostream& out, ScalarType type) {
  return out << toString(type);
}
constexpr int64_t elementSize(ScalarType type) { return ::pkg::itemsize(to_dtype(type)); }
constexpr bool isFloatingType(ScalarType type) {
  return ::pkg::is_floating(to_dtype(type));
}
constexpr bool isIntegralType(ScalarType type, bool with_bool = false) {
  return ::pkg::is_integral(to_dtype(type)) || (with_bool && type == ScalarType::Bool);
}

inline constexpr ScalarType kBool = ScalarType::Bool, kByte = ScalarType::Byte,
                            kChar = ScalarType::Char, kInt = ScalarType::Int,
                            kLong = ScalarType::Long, kHalf = ScalarType::Half,
                            kBFloat16 = ScalarType::BFloat16, kFloat = ScalarType::Float,
                            kDouble = ScalarType::Double;
inline constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt32 = kInt, kInt64 = kLong,
                            kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;

template <class T>
struct CppTypeToScalarType {
  static constexpr ScalarType value = to_scalar_type(::pkg::dtype_of<T>);
};

/// What dtype() gives; it compares with element types.
class TypeMeta {
 public:
  constexpr TypeMeta(ScalarType type = ScalarType::Float) : type_(type) {}
  constexpr ScalarType toScalarType() const { return type_; }
  size_t itemsize() const { return size_t(elementSize(type_)); }
  const char* name() const { return toString(type_); }
  friend constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend std::ostream& operator<<(std::ostream& out, TypeMeta meta) {
    return out << meta.type_;
  }

 private:
  ScalarType type_;
};
inline ScalarType typeMetaToScalarType(TypeMeta meta) { return meta.toScalarType(); }

enum class DeviceType : int8_t { CPU, CUDA, Meta };
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA,
                            kMeta = DeviceType::Meta;
inline std::ostream& operator<<(std::ostream& out, DeviceType type) {
  constexpr const char* names[] = {"cpu", "cuda", "meta"};
  return out << names[int(type)];
}

class Device {
 public:
  Device(DeviceType type, int8_t index = -1) : type_(type), index_(index) {}
  Device(const std::string& text)
      : Device(text.starts_with("cuda")                                     ? kCUDA
               : ::pkg::Device::parse(text).type == ::pkg::DeviceType::Meta ? kMeta
                                                                            : kCPU) {}
  Device(const char* text) : Device(std::string(text)) {}
  explicit Device(::pkg::Device device)
      : Device(device.type == ::pkg::DeviceType::Meta ? kMeta : kCPU) {}

  DeviceType type() const { return type_; }
  int8_t index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_meta() const { return type_ == kMeta; }
  std::string str() const { return detail::join(type_); }
  /// The core's device; RuntimeError for one that this build has not.
  ::pkg::Device unwrap() const {
    if (type_ == kCUDA) {
      throw ::pkg::RuntimeError(
          "[Device] expected cpu or meta, got cuda: this build has no GPU back end.");
    }
    return {type_ == kMeta ? ::pkg::DeviceType::Meta : ::pkg::DeviceType::CPU};
  }
  friend bool operator==(const Device& a, const Device& b) { return a.type_ == b.type_; }
  friend std::ostream& operator<<(std::ostream& out, const Device& device) {
    return out << device.type_;
  }

 private:
  DeviceType type_;
  int8_t index_;
};

enum class Layout : int8_t { Strided };
inline constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve };

/// One number; arithmetic types become one by themselves.
class Scalar {
 public:
  Scalar() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  Scalar(T value) : value_(value) {}
  Scalar(Half value) : value_(float(value)) {}
  Scalar(BFloat16 value) : value_(float(value)) {}
  explicit Scalar(const ::pkg::Scalar& value) : value_(value) {}

  const ::pkg::Scalar& unwrap() const { return value_; }
  template <class T>
  T to() const {
    return value_.to<T>();
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  bool isFloatingPoint() const { return value_.is_float(); }
  bool isBoolean() const { return value_.kind() == ::pkg::Scalar::Kind::Bool; }
  bool isIntegral(bool with_bool) const {
    return value_.kind() == ::pkg::Scalar::Kind::Int || (with_bool && isBoolean());
  }
  ScalarType type() const {
    return isFloatingPoint() ? kDouble : to_scalar_type(value_.dtype());
  }
  friend std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
    return out << scalar.value_;
  }

 private:
  ::pkg::Scalar value_;
};

/// Elements of others, in a row; it does not keep them.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const std::vector<T>& list) : ArrayRef(list.data(), list.size()) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& list) : ArrayRef(list.data(), N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&list)[N]) : ArrayRef(list, N) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // it is a parameter, as a rule
#endif
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(list.begin()), size_(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  ArrayRef(const ::pkg::Shape& shape)
    requires std::is_same_v<T, int64_t>
      : ArrayRef(shape.data(), shape.size()) {}

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    TORCH_CHECK_INDEX(i < size_, "[ArrayRef] expected an index below ", size_, ", got ", i);
    return data_[i];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  ArrayRef slice(size_t start, size_t length) const { return {data_ + start, length}; }
  ArrayRef slice(size_t start) const { return {data_ + start, size_ - start}; }
  std::vector<T> vec() const { return {begin(), end()}; }
  bool equals(ArrayRef other) const { return *this == other; }
  friend bool operator==(ArrayRef a, ArrayRef b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::ostream& operator<<(std::ostream& out, ArrayRef list) {
    out << '[';
    for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
    return out << ']';
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};
using IntArrayRef = ArrayRef<int64_t>;
using OptionalIntArrayRef = std::optional<IntArrayRef>;

inline ::pkg::Shape to_shape(IntArrayRef list) { return {list.data(), list.size()}; }

/// What a new tensor is to be; what is not said has its default.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : dtype_(type) {}
  TensorOptions(TypeMeta type) : dtype_(type.toScalarType()) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType device) : device_(Device(device)) {}

  TensorOptions dtype(ScalarType type) const { return with(&TensorOptions::dtype_, type); }
  TensorOptions dtype(TypeMeta type) const { return dtype(type.toScalarType()); }
  TensorOptions dtype(std::optional<ScalarType> type) const {
    return with(&TensorOptions::dtype_, type);
  }
  TensorOptions device(Device device) const {
    return with(&TensorOptions::device_, std::optional<Device>(device));
  }
  TensorOptions device(DeviceType type, int8_t index = -1) const {
    return device(Device(type, index));
  }
  TensorOptions requires_grad(bool wanted) const {
    return with(&TensorOptions::requires_grad_, wanted);
  }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }

  TypeMeta dtype() const {
    return dtype_ ? *dtype_ : to_scalar_type(::pkg::default_dtype());
  }
  Device device() const { return device_.value_or(Device(kCPU)); }
  bool requires_grad() const { return requires_grad_; }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  ::pkg::DType unwrap_dtype() const { return to_dtype(dtype().toScalarType()); }
  ::pkg::Device unwrap_device() const { return device().unwrap(); }

 private:
  template <class M, class V>
  TensorOptions with(M TensorOptions::* member, V value) const {
    TensorOptions copy = *this;
    copy.*member = std::move(value);
    return copy;
  }
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  bool requires_grad_ = false;
};
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions requires_grad(bool wanted = true) {
  return TensorOptions().requires_grad(wanted);
}

}  // namespace at

namespace c10 {
using namespace at;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;
}  // namespace c10
namespace caffe2 {
using at::TypeMeta;
}
namespace torch {
using namespace at;
using Dtype = at::ScalarType;
using std::nullopt;
using std::optional;
}  // namespace torch

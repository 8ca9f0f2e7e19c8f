// SPDX-License-Identifier: Apache-2.0
// base/dtype.h: element types, their C++ counterparts, and the promotion rules.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/half.h"

namespace pkg {

/// Element type of a tensor.  Order matters: later wins within promotion.
enum class DType : uint8_t {
  Bool,
  UInt8,
  Int8,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};
inline constexpr int kNumDTypes = 9;

// The one list of element types: F(C++ type, enumerator, Python name, NumPy typestr).
#define PKG_FORALL_DTYPES(F)                   \
  F(bool, Bool, "bool", "|b1")                 \
  F(uint8_t, UInt8, "uint8", "|u1")            \
  F(int8_t, Int8, "int8", "|i1")               \
  F(int32_t, Int32, "int32", "<i4")            \
  F(int64_t, Int64, "int64", "<i8")            \
  F(::pkg::Half, Float16, "float16", "<f2")    \
  F(::pkg::BFloat16, BFloat16, "bfloat16", "") \
  F(float, Float32, "float32", "<f4")          \
  F(double, Float64, "float64", "<f8")

// Not inside itemsize(), whose every call would put them on the stack first.
inline constexpr int64_t kItemSizes[kNumDTypes] = {1, 1, 1, 4, 8, 2, 2, 4, 8};

/// Bytes of one element.
constexpr int64_t itemsize(DType dtype) { return kItemSizes[int(dtype)]; }
constexpr bool is_floating(DType dtype) { return dtype >= DType::Float16; }
constexpr bool is_integral(DType dtype) {
  return dtype >= DType::UInt8 && dtype <= DType::Int64;
}
/// Storage-only types: arithmetic on them runs in float32.
constexpr bool is_reduced(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16;
}

/// Name as Python shows it: "float32".
const char* name_of(DType dtype);
/// NumPy array-interface type string ("<f4"); empty for bfloat16, which NumPy lacks.
const char* typestr_of(DType dtype);
/// Reverse of name_of; also accepts PyTorch's aliases float, double, half, int, long.
std::optional<DType> dtype_from_name(std::string_view name);

/// Smallest type that holds both, as in PyTorch but for uint8 with int8: PyTorch gives
/// int16, which we do not have, so the result is int32.
DType promote(DType a, DType b);

/// float32 unless set_default_dtype chose another floating type.
DType default_dtype();
void set_default_dtype(DType dtype);

std::ostream& operator<<(std::ostream& out, DType dtype);

/// A set of element types: what an op or a kernel takes.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType dtype) : bits_(uint16_t(1u << int(dtype))) {}
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) bits_ |= DTypeSet(dtype).bits_;
  }
  constexpr bool has(DType dtype) const { return bits_ >> int(dtype) & 1; }
  constexpr bool has_all(DTypeSet set) const { return (*this | set) == *this; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr DTypeSet operator|(DTypeSet set) const {
    set.bits_ |= bits_;
    return set;
  }
  constexpr DTypeSet without(DTypeSet set) const {
    set.bits_ = uint16_t(bits_ & ~set.bits_);
    return set;
  }
  friend constexpr bool operator==(DTypeSet, DTypeSet) = default;
  /// "integer or bool", "float32, float64 or bool"; "any" for all of them.
  std::string str() const;

 private:
  uint16_t bits_ = 0;
};
inline constexpr DTypeSet kIntegerDTypes{DType::UInt8, DType::Int8, DType::Int32,
                                         DType::Int64};
inline constexpr DTypeSet kFloatDTypes{DType::Float16, DType::BFloat16, DType::Float32,
                                       DType::Float64};
inline constexpr DTypeSet kIntegerOrBoolDTypes = kIntegerDTypes | DType::Bool;
/// For arithmetic that is not defined on bools.
inline constexpr DTypeSet kNumberDTypes = kIntegerDTypes | kFloatDTypes;
inline constexpr DTypeSet kAllDTypes = kNumberDTypes | DType::Bool;

// A type that is no element type fails here, with one line of error.
template <class T>
struct DTypeOf {
  static_assert(!sizeof(T),
                "no dtype has this element type: write bool, uint8_t, int8_t, int32_t, "
                "int64_t, float, double, pkg::Half or pkg::BFloat16; data<void>() gives "
                "the bare address");
  static constexpr DType value = DType::Bool;
};
#define PKG_DEFINE_DTYPE_OF(T, Name, py, np)    \
  template <>                                   \
  struct DTypeOf<T> {                           \
    static constexpr DType value = DType::Name; \
  };
PKG_FORALL_DTYPES(PKG_DEFINE_DTYPE_OF)
#undef PKG_DEFINE_DTYPE_OF

/// The DType of a C++ element type.
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

template <class T>
struct TypeTag {
  using type = T;
};

namespace detail {
[[noreturn]] void unsupported_dtype(const char* what, DType dtype);
}

// The visitors below call f(TypeTag<T>{}) with the C++ type of `dtype`.
#define PKG_VISIT_CASE(T, Name, py, np) \
  case DType::Name: return f(TypeTag<T>{});

/// Every element type.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) { PKG_FORALL_DTYPES(PKG_VISIT_CASE) }
  __builtin_unreachable();
}
#undef PKG_VISIT_CASE

/// The types arithmetic is done in: all but float16 and bfloat16.
template <class F>
decltype(auto) visit_compute(const char* what, DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool: return f(TypeTag<bool>{});
    case DType::UInt8: return f(TypeTag<uint8_t>{});
    case DType::Int8: return f(TypeTag<int8_t>{});
    case DType::Int32: return f(TypeTag<int32_t>{});
    case DType::Int64: return f(TypeTag<int64_t>{});
    case DType::Float32: return f(TypeTag<float>{});
    case DType::Float64: return f(TypeTag<double>{});
    default: detail::unsupported_dtype(what, dtype);
  }
}

/// float32 and float64 only.
template <class F>
decltype(auto) visit_floating(const char* what, DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float32: return f(TypeTag<float>{});
    case DType::Float64: return f(TypeTag<double>{});
    default: detail::unsupported_dtype(what, dtype);
  }
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// framework/types.h: TensorFlow's names of element types.  Those that tensors have are
// DTypes; the others can be named by an op, but no tensor is of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/sixteen_bits.h"

namespace pkg::framework {

using int8 = int8_t;
using int16 = int16_t;
using int32 = int32_t;
using int64 = int64_t;
using uint8 = uint8_t;
using uint16 = uint16_t;
using uint32 = uint32_t;
using uint64 = uint64_t;
using half = SixteenBits<Half, /*kFromFloats=*/false>;
using bfloat16 = SixteenBits<BFloat16, /*kFromFloats=*/false>;
using string = std::string;
using tstring = std::string;

inline constexpr int32 kint32max = INT32_MAX, kint32min = INT32_MIN;
inline constexpr int64 kint64max = INT64_MAX, kint64min = INT64_MIN;
inline constexpr uint32 kuint32max = UINT32_MAX;
inline constexpr uint64 kuint64max = UINT64_MAX;
inline constexpr uint8 kuint8max = UINT8_MAX;
inline constexpr int8 kint8max = INT8_MAX, kint8min = INT8_MIN;

/// The numbers are those of TensorFlow's files.
enum DataType : int {
  DT_INVALID = 0,
  DT_FLOAT = 1,
  DT_DOUBLE = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 5,
  DT_INT8 = 6,
  DT_STRING = 7,
  DT_COMPLEX64 = 8,
  DT_INT64 = 9,
  DT_BOOL = 10,
  DT_QINT8 = 11,
  DT_QUINT8 = 12,
  DT_QINT32 = 13,
  DT_BFLOAT16 = 14,
  DT_QINT16 = 15,
  DT_QUINT16 = 16,
  DT_UINT16 = 17,
  DT_COMPLEX128 = 18,
  DT_HALF = 19,
  DT_RESOURCE = 20,
  DT_VARIANT = 21,
  DT_UINT32 = 22,
  DT_UINT64 = 23,
};
using DataTypeVector = std::vector<DataType>;

/// Our name: "float32"; TensorFlow's of what tensors do not have: "complex64", "resource".
const char* dtype_name(DataType type);
/// TensorFlow's name, which errors and kernels use: "float".
std::string DataTypeString(DataType type);
/// "float, int32"
std::string DataTypeVectorString(const DataTypeVector& types);
using DataTypeSlice = std::span<const DataType>;
std::string DataTypeSliceString(DataTypeSlice types);
/// Of "float", "float32" or "DT_FLOAT".
std::optional<DataType> data_type_from_name(std::string_view name);

/// What a tensor of the type is here: resources and variants are int64 (resource.h).
std::optional<DType> dtype_of_data_type(DataType type);
DataType data_type_of(DType dtype);

/// The sets of the attr language: "numbertype", "realnumbertype", "quantizedtype", in the
/// order in which errors list them; null for another word.
const DataTypeVector* type_set(std::string_view word);

/// DataTypeToEnum<T>::value and EnumToDataType<DT_FLOAT>::Type.
template <class T>
struct DataTypeToEnum {
  static_assert(!sizeof(T), "no DataType has this C++ type");
};
template <DataType kType>
struct EnumToDataType {};
#define PKG_DATA_TYPE(T, type)                      \
  template <>                                       \
  struct DataTypeToEnum<T> {                        \
    static constexpr DataType value = type;         \
    static constexpr DataType v() { return value; } \
  };                                                \
  template <>                                       \
  struct EnumToDataType<type> {                     \
    using Type = T;                                 \
  };
PKG_DATA_TYPE(float, DT_FLOAT)
PKG_DATA_TYPE(double, DT_DOUBLE)
PKG_DATA_TYPE(int32, DT_INT32)
PKG_DATA_TYPE(uint8, DT_UINT8)
PKG_DATA_TYPE(int16, DT_INT16)
PKG_DATA_TYPE(int8, DT_INT8)
PKG_DATA_TYPE(std::string, DT_STRING)
PKG_DATA_TYPE(int64, DT_INT64)
PKG_DATA_TYPE(bool, DT_BOOL)
PKG_DATA_TYPE(bfloat16, DT_BFLOAT16)
PKG_DATA_TYPE(uint16, DT_UINT16)
PKG_DATA_TYPE(half, DT_HALF)
PKG_DATA_TYPE(uint32, DT_UINT32)
PKG_DATA_TYPE(uint64, DT_UINT64)
#undef PKG_DATA_TYPE
// `long long` is another type than int64_t of the same size.
template <>
struct DataTypeToEnum<long long> : DataTypeToEnum<int64> {};

}  // namespace pkg::framework

// SPDX-License-Identifier: Apache-2.0
// framework/types.cc: the table of names.
#include "framework/types.h"

namespace pkg::framework {
namespace {

struct Row {
  DataType type;
  const char* tf;
  const char* ours;
  std::optional<DType> dtype;
};
const Row kRows[] = {
    {DT_FLOAT, "float", "float32", DType::Float32},
    {DT_DOUBLE, "double", "float64", DType::Float64},
    {DT_INT32, "int32", "int32", DType::Int32},
    {DT_UINT8, "uint8", "uint8", DType::UInt8},
    {DT_INT16, "int16", "int16", {}},
    {DT_INT8, "int8", "int8", DType::Int8},
    {DT_STRING, "string", "string", {}},
    {DT_COMPLEX64, "complex64", "complex64", {}},
    {DT_INT64, "int64", "int64", DType::Int64},
    {DT_BOOL, "bool", "bool", DType::Bool},
    {DT_QINT8, "qint8", "qint8", {}},
    {DT_QUINT8, "quint8", "quint8", {}},
    {DT_QINT32, "qint32", "qint32", {}},
    {DT_BFLOAT16, "bfloat16", "bfloat16", DType::BFloat16},
    {DT_QINT16, "qint16", "qint16", {}},
    {DT_QUINT16, "quint16", "quint16", {}},
    {DT_UINT16, "uint16", "uint16", {}},
    {DT_COMPLEX128, "complex128", "complex128", {}},
    {DT_HALF, "half", "float16", DType::Float16},
    {DT_RESOURCE, "resource", "resource", DType::Int64},
    {DT_VARIANT, "variant", "variant", DType::Int64},
    {DT_UINT32, "uint32", "uint32", {}},
    {DT_UINT64, "uint64", "uint64", {}},
};

const Row* row_of(DataType type) {
  // The rows stand in the order of the numbers, from 1 on.
  if (type >= DT_FLOAT && type <= DT_UINT64) return &kRows[type - DT_FLOAT];
  return nullptr;
}

}  // namespace

const char* dtype_name(DataType type) {
  const Row* row = row_of(type);
  return row ? row->ours : "invalid";
}

std::string DataTypeString(DataType type) {
  const Row* row = row_of(type);
  return row ? row->tf : "INVALID";
}

std::string DataTypeVectorString(const DataTypeVector& types) {
  return DataTypeSliceString(types);
}

std::string DataTypeSliceString(DataTypeSlice types) {
  std::string text;
  for (DataType type : types) text += (text.empty() ? "" : ", ") + DataTypeString(type);
  return text;
}

std::optional<DataType> data_type_from_name(std::string_view name) {
  std::string lower;
  if (name.starts_with("DT_")) {
    for (char c : name.substr(3)) lower += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    name = lower;
  }
  for (const Row& row : kRows) {
    if (name == row.tf || name == row.ours) return row.type;
  }
  return std::nullopt;
}

std::optional<DType> dtype_of_data_type(DataType type) {
  const Row* row = row_of(type);
  return row ? row->dtype : std::nullopt;
}

DataType data_type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return DT_BOOL;
    case DType::UInt8: return DT_UINT8;
    case DType::Int8: return DT_INT8;
    case DType::Int32: return DT_INT32;
    case DType::Int64: return DT_INT64;
    case DType::Float16: return DT_HALF;
    case DType::BFloat16: return DT_BFLOAT16;
    case DType::Float32: return DT_FLOAT;
    case DType::Float64: return DT_DOUBLE;
  }
  return DT_INVALID;
}

const DataTypeVector* type_set(std::string_view word) {
  static const DataTypeVector numbers{
      DT_FLOAT,     DT_DOUBLE,     DT_INT32, DT_UINT8,  DT_INT16,  DT_INT8,
      DT_COMPLEX64, DT_INT64,      DT_QINT8, DT_QUINT8, DT_QINT32, DT_BFLOAT16,
      DT_UINT16,    DT_COMPLEX128, DT_HALF,  DT_UINT32, DT_UINT64};
  static const DataTypeVector real_numbers{DT_FLOAT,  DT_DOUBLE, DT_INT32,  DT_UINT8,
                                           DT_INT16,  DT_INT8,   DT_INT64,  DT_BFLOAT16,
                                           DT_UINT16, DT_HALF,   DT_UINT32, DT_UINT64};
  static const DataTypeVector quantized{DT_QINT8, DT_QUINT8, DT_QINT32, DT_QINT16,
                                        DT_QUINT16};
  if (word == "numbertype" || word == "numerictype") return &numbers;
  if (word == "realnumbertype" || word == "realnumerictype") return &real_numbers;
  if (word == "quantizedtype") return &quantized;
  return nullptr;
}

}  // namespace pkg::framework

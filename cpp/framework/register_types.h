// SPDX-License-Identifier: Apache-2.0
// framework/register_types.h: TF_CALL_float(m) is m(float), TF_CALL_ALL_TYPES(m) is m of
// each type that tensors have.
#pragma once

#include "framework/types.h"

#define TF_CALL_float(m) m(float)
#define TF_CALL_double(m) m(double)
#define TF_CALL_int32(m) m(::pkg::framework::int32)
#define TF_CALL_uint8(m) m(::pkg::framework::uint8)
#define TF_CALL_int8(m) m(::pkg::framework::int8)
#define TF_CALL_int64(m) m(::pkg::framework::int64)
#define TF_CALL_bool(m) m(bool)
#define TF_CALL_half(m) m(::pkg::framework::half)
#define TF_CALL_bfloat16(m) m(::pkg::framework::bfloat16)
// No tensors are of these.
#define TF_CALL_uint16(m)
#define TF_CALL_int16(m)
#define TF_CALL_uint32(m)
#define TF_CALL_uint64(m)
#define TF_CALL_string(m)
#define TF_CALL_tstring(m)
#define TF_CALL_resource(m)
#define TF_CALL_variant(m)
#define TF_CALL_complex64(m)
#define TF_CALL_complex128(m)
#define TF_CALL_qint8(m)
#define TF_CALL_quint8(m)
#define TF_CALL_qint32(m)

#define TF_CALL_INTEGRAL_TYPES(m) \
  TF_CALL_int64(m) TF_CALL_int32(m) TF_CALL_uint8(m) TF_CALL_int8(m)
#define TF_CALL_FLOAT_TYPES(m) \
  TF_CALL_float(m) TF_CALL_double(m) TF_CALL_half(m) TF_CALL_bfloat16(m)
#define TF_CALL_REAL_NUMBER_TYPES(m) TF_CALL_INTEGRAL_TYPES(m) TF_CALL_FLOAT_TYPES(m)
#define TF_CALL_REAL_NUMBER_TYPES_NO_INT32(m) \
  TF_CALL_int64(m) TF_CALL_uint8(m) TF_CALL_int8(m) TF_CALL_FLOAT_TYPES(m)
#define TF_CALL_REAL_NUMBER_TYPES_NO_BFLOAT16(m) \
  TF_CALL_INTEGRAL_TYPES(m) TF_CALL_float(m) TF_CALL_double(m) TF_CALL_half(m)
#define TF_CALL_NUMBER_TYPES(m) TF_CALL_REAL_NUMBER_TYPES(m)
#define TF_CALL_POD_TYPES(m) TF_CALL_NUMBER_TYPES(m) TF_CALL_bool(m)
#define TF_CALL_ALL_TYPES(m) TF_CALL_POD_TYPES(m)
#define TF_CALL_GPU_NUMBER_TYPES(m) TF_CALL_half(m) TF_CALL_float(m) TF_CALL_double(m)

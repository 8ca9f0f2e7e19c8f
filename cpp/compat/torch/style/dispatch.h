// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/dispatch.h: AT_DISPATCH_*: one call of a lambda, in which scalar_t is the
// C++ type of the tensor's elements.
#pragma once

#include "compat/torch/style/types.h"

#define PKG_TORCH_CASE_(Type, cpp, ...)    \
  case ::at::ScalarType::Type: {           \
    using scalar_t [[maybe_unused]] = cpp; \
    return __VA_ARGS__();                  \
  }
#define AT_DISPATCH_CASE(enumerator, ...)                                  \
  case enumerator: {                                                       \
    using scalar_t [[maybe_unused]] = ::at::detail::CppTypeOf<enumerator>; \
    return __VA_ARGS__();                                                  \
  }
#define AT_DISPATCH_SWITCH(type, name, ...)                                             \
  [&] {                                                                                 \
    const auto& pkg_given_type = type;                                                  \
    const ::at::ScalarType pkg_type = ::at::detail::scalar_type(pkg_given_type);        \
    switch (pkg_type) {                                                                 \
      __VA_ARGS__                                                                       \
      default:                                                                          \
        throw ::pkg::NotImplementedError(                                               \
            ::at::detail::join("\"", name, "\" not implemented for '", pkg_type, "'")); \
    }                                                                                   \
  }()

#define PKG_TORCH_FLOATING_(...)               \
  PKG_TORCH_CASE_(Double, double, __VA_ARGS__) \
  PKG_TORCH_CASE_(Float, float, __VA_ARGS__)
#define PKG_TORCH_INTEGRAL_(...)              \
  PKG_TORCH_CASE_(Byte, uint8_t, __VA_ARGS__) \
  PKG_TORCH_CASE_(Char, int8_t, __VA_ARGS__)  \
  PKG_TORCH_CASE_(Int, int32_t, __VA_ARGS__)  \
  PKG_TORCH_CASE_(Long, int64_t, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, PKG_TORCH_FLOATING_(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name, PKG_TORCH_INTEGRAL_(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,               \
                     PKG_TORCH_FLOATING_(__VA_ARGS__) PKG_TORCH_INTEGRAL_(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                             \
                     PKG_TORCH_FLOATING_(__VA_ARGS__)        \
                         PKG_TORCH_CASE_(Half, ::at::Half, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(more, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                              \
                     PKG_TORCH_FLOATING_(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(more, other, type, name, ...)                     \
  AT_DISPATCH_SWITCH(type, name,                                                          \
                     PKG_TORCH_FLOATING_(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__) \
                         AT_DISPATCH_CASE(other, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(more, type, name, ...)                               \
  AT_DISPATCH_SWITCH(type, name,                                                       \
                     PKG_TORCH_FLOATING_(__VA_ARGS__) PKG_TORCH_INTEGRAL_(__VA_ARGS__) \
                         AT_DISPATCH_CASE(more, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(more, other, type, name, ...)                       \
  AT_DISPATCH_SWITCH(type, name,                                                       \
                     PKG_TORCH_FLOATING_(__VA_ARGS__) PKG_TORCH_INTEGRAL_(__VA_ARGS__) \
                         AT_DISPATCH_CASE(more, __VA_ARGS__)                           \
                             AT_DISPATCH_CASE(other, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(more, other, third, type, name, ...)                \
  AT_DISPATCH_SWITCH(type, name,                                                       \
                     PKG_TORCH_FLOATING_(__VA_ARGS__) PKG_TORCH_INTEGRAL_(__VA_ARGS__) \
                         AT_DISPATCH_CASE(more, __VA_ARGS__) AT_DISPATCH_CASE(         \
                             other, __VA_ARGS__) AT_DISPATCH_CASE(third, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(more, type, name, ...) \
  AT_DISPATCH_SWITCH(type, name,                              \
                     PKG_TORCH_INTEGRAL_(__VA_ARGS__) AT_DISPATCH_CASE(more, __VA_ARGS__))

namespace at::detail {
inline ScalarType scalar_type(ScalarType type) { return type; }
inline ScalarType scalar_type(const TypeMeta& type) { return type.toScalarType(); }
template <ScalarType>
struct CppTypeOfImpl;
#define PKG_CPP_TYPE(cpp, Enumerator, ...)                         \
  template <>                                                      \
  struct CppTypeOfImpl<to_scalar_type(::pkg::DType::Enumerator)> { \
    using type = cpp;                                              \
  };
PKG_FORALL_DTYPES(PKG_CPP_TYPE)
#undef PKG_CPP_TYPE
// What a kernel calculates with.
template <class T>
struct Calculated {
  using type = T;
};
template <>
struct Calculated<::pkg::Half> {
  using type = Half;
};
template <>
struct Calculated<::pkg::BFloat16> {
  using type = BFloat16;
};
template <ScalarType type>
using CppTypeOf = typename Calculated<typename CppTypeOfImpl<type>::type>::type;
}  // namespace at::detail

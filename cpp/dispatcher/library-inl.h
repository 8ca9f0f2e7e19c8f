// SPDX-License-Identifier: Apache-2.0
// dispatcher/library-inl.h: templates of library.h that compare C++ and schema types.
#pragma once

#include "dispatcher/library.h"

namespace pkg::detail {

template <class T>
struct SchemaType;
#define PKG_SCHEMA_TYPE(T, Type, List, Optional)   \
  template <>                                      \
  struct SchemaType<T> {                           \
    static constexpr ArgType type = ArgType::Type; \
    static constexpr bool list = List;             \
    static constexpr bool optional = Optional;     \
  };
PKG_SCHEMA_TYPE(Tensor, Tensor, false, false)
PKG_SCHEMA_TYPE(TensorList, Tensor, true, false)
PKG_SCHEMA_TYPE(Scalar, Scalar, false, false)
PKG_SCHEMA_TYPE(int64_t, Int, false, false)
PKG_SCHEMA_TYPE(Shape, Int, true, false)
PKG_SCHEMA_TYPE(double, Float, false, false)
PKG_SCHEMA_TYPE(std::vector<double>, Float, true, false)
PKG_SCHEMA_TYPE(bool, Bool, false, false)
PKG_SCHEMA_TYPE(std::string, Str, false, false)
PKG_SCHEMA_TYPE(DType, DType, false, false)
PKG_SCHEMA_TYPE(Device, Device, false, false)
#undef PKG_SCHEMA_TYPE
template <class T>
struct SchemaType<std::optional<T>> : SchemaType<T> {
  static constexpr bool optional = true;
};

template <class T>
bool matches(const Argument& argument) {
  using S = SchemaType<T>;
  // An optional Tensor is an undefined one, so both spellings are `const Tensor&`.
  const bool tensor = S::type == ArgType::Tensor;
  return argument.type == S::type && argument.list == S::list &&
         (tensor || argument.optional == S::optional);
}

template <class... A>
bool signature_matches(const Schema& schema) {
  if (schema.arguments.size() != sizeof...(A)) return false;
  size_t i = 0;
  return (matches<std::remove_cvref_t<A>>(schema.arguments[i++]) && ...);
}

}  // namespace pkg::detail

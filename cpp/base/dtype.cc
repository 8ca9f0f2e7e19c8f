// SPDX-License-Identifier: Apache-2.0
// base/dtype.cc: names and promotion of element types.
#include "base/dtype.h"

#include <atomic>
#include <ostream>
#include <vector>

namespace pkg {

const char* name_of(DType dtype) {
#define PKG_NAME(T, Name, py, np) \
  case DType::Name: return py;
  switch (dtype) { PKG_FORALL_DTYPES(PKG_NAME) }
#undef PKG_NAME
  return "?";
}

const char* typestr_of(DType dtype) {
#define PKG_TYPESTR(T, Name, py, np) \
  case DType::Name: return np;
  switch (dtype) { PKG_FORALL_DTYPES(PKG_TYPESTR) }
#undef PKG_TYPESTR
  return "";
}

std::optional<DType> dtype_from_name(std::string_view name) {
#define PKG_MATCH(T, Name, py, np) \
  if (name == py) return DType::Name;
  PKG_FORALL_DTYPES(PKG_MATCH)
#undef PKG_MATCH
  if (name == "float") return DType::Float32;
  if (name == "double") return DType::Float64;
  if (name == "half") return DType::Float16;
  if (name == "int") return DType::Int32;
  if (name == "long") return DType::Int64;
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  if (a == DType::UInt8 && b == DType::Int8) return DType::Int32;
  if (a == DType::Float16 && b == DType::BFloat16) return DType::Float32;
  return b;
}

static std::atomic<DType> g_default_dtype{DType::Float32};

DType default_dtype() { return g_default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(DType dtype) {
  PKG_CHECK(is_floating(dtype), TypeError,
            "[set_default_dtype] expected a floating type, got ", dtype, ".");
  g_default_dtype = dtype;
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

std::string DTypeSet::str() const {
  if (*this == kAllDTypes) return "any";
  std::vector<std::string> words;
  DTypeSet rest = *this;
  const auto take = [&](DTypeSet set, const char* word) {
    if (!rest.has_all(set)) return;
    words.push_back(word);
    rest = rest.without(set);
  };
  take(kIntegerDTypes, "integer");
  take(kFloatDTypes, "floating");
  for (int i = kNumDTypes - 1; i >= 0; --i) take(DType(i), name_of(DType(i)));
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

namespace detail {
void unsupported_dtype(const char* what, DType dtype) {
  throw NotImplementedError(
      str("[", what, "] is not implemented for ", dtype,
          ". Convert the tensor first, for example with .to(pkg.float32)."));
}
}  // namespace detail

}  // namespace pkg

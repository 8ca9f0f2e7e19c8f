// SPDX-License-Identifier: Apache-2.0
// dispatcher/cpp_signature.h: the C++ signatures that fit a schema, for dispatcher/library.h.
// What fits none is one line of error: from the compiler where it can know, else from
// the registration.
#pragma once

#include <span>
#include <tuple>

#include "dispatcher/operator.h"

namespace pkg::detail {

template <class R, class... A>
struct Adapter;  // dispatcher/adapter.h

// What a C++ type stands for in schemas, and how it is written.
template <class T>
struct SchemaType {
  static constexpr bool known = false;
  static constexpr const char* name = "?";
  static constexpr ArgType type = ArgType::Tensor;
  static constexpr bool list = false, optional = false;
};
#define PKG_SCHEMA_TYPE(T, Type, List)             \
  template <>                                      \
  struct SchemaType<T> {                           \
    static constexpr bool known = true;            \
    static constexpr const char* name = #T;        \
    static constexpr ArgType type = ArgType::Type; \
    static constexpr bool list = List;             \
    static constexpr bool optional = false;        \
  };
PKG_SCHEMA_TYPE(Tensor, Tensor, false)
PKG_SCHEMA_TYPE(TensorList, Tensor, true)
PKG_SCHEMA_TYPE(Scalar, Scalar, false)
PKG_SCHEMA_TYPE(int64_t, Int, false)
PKG_SCHEMA_TYPE(Shape, Int, true)
PKG_SCHEMA_TYPE(double, Float, false)
PKG_SCHEMA_TYPE(std::vector<double>, Float, true)
PKG_SCHEMA_TYPE(bool, Bool, false)
PKG_SCHEMA_TYPE(std::vector<bool>, Bool, true)
PKG_SCHEMA_TYPE(std::string, Str, false)
PKG_SCHEMA_TYPE(std::vector<std::string>, Str, true)
PKG_SCHEMA_TYPE(DType, DType, false)
PKG_SCHEMA_TYPE(Device, Device, false)
#undef PKG_SCHEMA_TYPE
template <class T>
struct SchemaType<std::optional<T>> : SchemaType<T> {
  static constexpr bool optional = true;
};

/// A parameter or a result as the text of errors has it.
struct CppType {
  const char* name;
  ArgType type;
  bool list, optional, is_const, reference;

  template <class A>
  static constexpr CppType of() {
    using S = SchemaType<std::remove_cvref_t<A>>;
    return {S::name,
            S::type,
            S::list,
            S::optional,
            std::is_const_v<std::remove_reference_t<A>>,
            std::is_lvalue_reference_v<A>};
  }
};

// Results: how many, and whether they are a list or what a shape rule says of them.
template <class R>
struct ReturnType {
  static constexpr int count = 0;
};
#define PKG_RETURN_TYPE(R, Count, List)     \
  template <>                               \
  struct ReturnType<R> {                    \
    static constexpr int count = Count;     \
    static constexpr bool list = List;      \
    static constexpr const char* name = #R; \
  };
PKG_RETURN_TYPE(Tensor, 1, false)
PKG_RETURN_TYPE(TensorList, 1, true)
PKG_RETURN_TYPE(Scalar, 1, false)
PKG_RETURN_TYPE(bool, 1, false)
PKG_RETURN_TYPE(int64_t, 1, false)
PKG_RETURN_TYPE(double, 1, false)
PKG_RETURN_TYPE(Spec, 1, false)
#undef PKG_RETURN_TYPE
template <class... T>
  requires(std::is_same_v<T, Tensor> && ...)
struct ReturnType<std::tuple<T...>> : ReturnType<Tensor> {
  static constexpr int count = sizeof...(T) <= kMaxResults ? int(sizeof...(T)) : 0;
};
template <size_t N>
struct ReturnType<std::array<Spec, N>> : ReturnType<Spec> {
  static constexpr int count = N <= kMaxResults ? int(N) : 0;
};

/// A C++ function as the registration looks at it.
struct Signature {
  std::span<const CppType> parameters;  // without the results of a kernel
  const char* result;                   // "void" of a kernel beside a shape rule
  int n_results;
  bool list;
};
/// Throws the ValueError about `stage`, ".cpu" for one, unless the signature is that of
/// the schema; of a kernel beside a shape rule, that of the rule (`same_as_rule`).
void check_signature(const Operator& op, const char* stage, const char* where,
                     const Signature& given, bool same_as_rule);
/// Throws the InternalError of a handle that is not of the op's signature.
void check_handle(const Operator& op, const Signature& given);

template <class F>
concept PlainFunction =
    requires(F f) { +f; } && std::is_pointer_v<decltype(+std::declval<F>())> &&
    std::is_function_v<std::remove_pointer_t<decltype(+std::declval<F>())>>;

// Splits void(Tensor&, Tensor&, A...) into its result count and A...
template <int N, class... A>
struct StripOutputs {
  static constexpr int count = N;
  using Args = std::tuple<A...>;
};
template <int N, class... A>
struct StripOutputs<N, Tensor&, A...> : StripOutputs<N + 1, A...> {};
template <class Indices>
struct TensorTuple;
template <size_t... I>
struct TensorTuple<std::index_sequence<I...>> {
  using type = std::tuple<std::remove_cvref_t<decltype((I, std::declval<Tensor>()))>...>;
};
template <int N>
struct ResultsOf : TensorTuple<std::make_index_sequence<size_t(N)>> {};
template <>
struct ResultsOf<1> {
  using type = Tensor;
};

template <class Args>
struct Parameters;
template <class... A>
struct Parameters<std::tuple<A...>> {
  static constexpr bool known = (SchemaType<std::remove_cvref_t<A>>::known && ...);
  static constexpr bool written = ((std::is_lvalue_reference_v<A> &&
                                    !std::is_const_v<std::remove_reference_t<A>>) ||
                                   ...);
  static std::span<const CppType> types() {
    static constexpr std::array<CppType, sizeof...(A)> all{CppType::of<A>()...};
    return all;
  }
  template <class R>
  using AdapterFor = Adapter<R, A...>;
};

// One line of error each for what cannot be a shape rule or a kernel.
template <class Args>
constexpr bool check_parameters() {
  static_assert(
      Parameters<Args>::known,
      "a parameter has a type that schemas do not know: write const Tensor& (for "
      "Tensor), const TensorList& (Tensor[]), const Scalar& (Scalar), int64_t "
      "(int), const Shape& (int[]), double (float), const std::vector<double>& "
      "(float[]), bool, const std::vector<bool>& (bool[]), const std::string& (str), "
      "const std::vector<std::string>& (str[]), DType, Device, or "
      "std::optional of one of these");
  static_assert(
      !Parameters<Args>::written,
      "a parameter is a reference to something not const: the results of a "
      "kernel beside a shape rule come first, as Tensor& out; after them come the "
      "arguments, as const Tensor&");
  return Parameters<Args>::known && !Parameters<Args>::written;
}
template <class F>
constexpr bool check_function() {
  static_assert(PlainFunction<F>,
                "expected a function, or a lambda that captures nothing and whose "
                "parameters have types (no auto)");
  return PlainFunction<F>;
}
template <class Return, bool Rule>
constexpr bool check_return() {
  constexpr bool ok = [] {
    if constexpr (ReturnType<Return>::count > 0) {
      return (std::string_view(ReturnType<Return>::name) == "Spec") == Rule;
    } else {
      return false;
    }
  }();
  static_assert(ok || !Rule,
                "a shape rule returns Spec, or std::array<Spec, N> for N results");
  static_assert(ok || Rule,
                "a kernel returns Tensor, TensorList, std::tuple<Tensor, Tensor>, Scalar, "
                "bool, int64_t or double; or it returns nothing and its first parameter is "
                "the result, Tensor& out");
  return ok;
}
template <class Stripped>
constexpr bool check_outputs() {
  constexpr int count = Stripped::count;
  static_assert(count >= 1 && count <= int(kMaxResults),
                "a kernel that returns nothing writes one to eight results, which come "
                "first: void(Tensor& out, const Tensor& self, ...)");
  return count >= 1 && count <= int(kMaxResults);
}

}  // namespace pkg::detail

// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/signature.h: C++ functions of PyTorch's types, as schemas and the
// dispatcher see them.
//
// Each parameter has a canonical type, the one that the core's kernels use for it:
// const pkg::Tensor& for every spelling of a tensor, const pkg::Shape& for one of int[].  It
// follows from the schema alone, so a typed call and a kernel that both fit one schema agree.
#pragma once

#include "compat/torch/style/methods.h"
#include "dispatcher/schema.h"

namespace at::detail {

/// A parameter or a result as an error spells it, and what it stands for in a schema.
struct CppType {
  std::string name;
  ::pkg::ArgType type;
  bool list = false, optional = false;
};

/// A tensor of the core for the time of a call, without counting a reference.
class Lent {
 public:
  explicit Lent(const ::pkg::Tensor& tensor)
      : tensor_(::pkg::Tensor(::pkg::Ref<::pkg::TensorImpl>::adopt(tensor.impl()))) {}
  ~Lent() {}  // nothing: the reference is the owner's
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  const Tensor& get() { return tensor_; }

 private:
  union {
    Tensor tensor_;
  };
};

/// What is passed as it is.
template <class T>
struct Plain {
  using Canonical = T;
  struct Held {
    T value;
    explicit Held(T given) : value(given) {}
    T& get() { return value; }
  };
  static const T& unwrap(const T& value) { return value; }
};

/// A parameter of type T (without const and &): the canonical type, what a call holds of it,
/// and the way back.
template <class T>
struct Param {
  static constexpr bool known = false;
};
#define PKG_PARAM(T, Type, List)                                     \
  static constexpr bool known = true, list = List, optional = false; \
  static constexpr ::pkg::ArgType type = ::pkg::ArgType::Type;       \
  static constexpr const char* name = #T;

template <>
struct Param<Tensor> {
  PKG_PARAM(at::Tensor, Tensor, false)
  using Canonical = const ::pkg::Tensor&;
  using Held = Lent;
  static Canonical unwrap(const Tensor& tensor) { return tensor.unwrap(); }
};
template <>
struct Param<std::vector<Tensor>> {
  PKG_PARAM(std::vector<at::Tensor>, Tensor, true)
  using Canonical = const ::pkg::TensorList&;
  struct Held {
    std::vector<Tensor> value;
    explicit Held(Canonical list) : value(wrap(list)) {}
    std::vector<Tensor>& get() { return value; }
  };
  static ::pkg::TensorList unwrap(TensorList list) { return detail::unwrap(list); }
};
template <>
struct Param<TensorList> : Param<std::vector<Tensor>> {
  static constexpr const char* name = "at::TensorList";
};
template <>
struct Param<Scalar> {
  PKG_PARAM(at::Scalar, Scalar, false)
  using Canonical = const ::pkg::Scalar&;
  struct Held {
    Scalar value;
    explicit Held(Canonical scalar) : value(scalar) {}
    Scalar& get() { return value; }
  };
  static Canonical unwrap(const Scalar& scalar) { return scalar.unwrap(); }
};
#define PKG_NUMBER(T, Type)    \
  template <>                  \
  struct Param<T> : Plain<T> { \
    PKG_PARAM(T, Type, false)  \
  };
PKG_NUMBER(int64_t, Int)
PKG_NUMBER(double, Float)
PKG_NUMBER(bool, Bool)
#undef PKG_NUMBER
template <>
struct Param<ScalarType> {
  PKG_PARAM(at::ScalarType, DType, false)
  using Canonical = ::pkg::DType;
  struct Held {
    ScalarType value;
    explicit Held(Canonical dtype) : value(to_scalar_type(dtype)) {}
    ScalarType& get() { return value; }
  };
  static Canonical unwrap(ScalarType type) { return to_dtype(type); }
};
template <>
struct Param<Device> {
  PKG_PARAM(at::Device, Device, false)
  using Canonical = ::pkg::Device;
  struct Held {
    Device value;
    explicit Held(Canonical device) : value(device) {}
    Device& get() { return value; }
  };
  static Canonical unwrap(const Device& device) { return device.unwrap(); }
};
/// Lists of plain values: PyTorch's has the items of the core's.
template <class T, class C>
struct ListParam {
  using Canonical = const C&;
  struct Held {
    T value;
    explicit Held(Canonical list) : value(list.begin(), list.end()) {}
    T& get() { return value; }
  };
  static C unwrap(const T& list) { return C(list.begin(), list.end()); }
};
template <>
struct Param<IntArrayRef> {
  PKG_PARAM(at::IntArrayRef, Int, true)
  using Canonical = const ::pkg::Shape&;
  struct Held {
    IntArrayRef value;
    explicit Held(Canonical list) : value(list) {}
    IntArrayRef& get() { return value; }
  };
  static ::pkg::Shape unwrap(IntArrayRef list) { return to_shape(list); }
};
template <>
struct Param<std::vector<int64_t>> {
  PKG_PARAM(std::vector<int64_t>, Int, true)
  using Canonical = const ::pkg::Shape&;
  struct Held {
    std::vector<int64_t> value;
    explicit Held(Canonical list) : value(list.begin(), list.end()) {}
    std::vector<int64_t>& get() { return value; }
  };
  static ::pkg::Shape unwrap(const std::vector<int64_t>& list) { return list; }
};
template <>
struct Param<std::vector<double>> : ListParam<std::vector<double>, std::vector<double>> {
  PKG_PARAM(std::vector<double>, Float, true)
};
template <>
struct Param<ArrayRef<double>> {
  PKG_PARAM(at::ArrayRef<double>, Float, true)
  using Canonical = const std::vector<double>&;
  struct Held {
    ArrayRef<double> value;
    explicit Held(Canonical list) : value(list) {}
    ArrayRef<double>& get() { return value; }
  };
  static std::vector<double> unwrap(ArrayRef<double> list) { return list.vec(); }
};
template <>
struct Param<std::vector<bool>> : ListParam<std::vector<bool>, std::vector<bool>> {
  PKG_PARAM(std::vector<bool>, Bool, true)
};
template <>
struct Param<std::vector<std::string>>
    : ListParam<std::vector<std::string>, std::vector<std::string>> {
  PKG_PARAM(std::vector<std::string>, Str, true)
};
template <>
struct Param<std::string> {
  PKG_PARAM(std::string, Str, false)
  using Canonical = const std::string&;
  struct Held {
    std::string value;
    explicit Held(Canonical text) : value(text) {}
    std::string& get() { return value; }
  };
  static Canonical unwrap(const std::string& text) { return text; }
};
template <>
struct Param<std::string_view> {
  PKG_PARAM(std::string_view, Str, false)
  using Canonical = const std::string&;
  struct Held {
    std::string_view value;
    explicit Held(Canonical text) : value(text) {}
    std::string_view& get() { return value; }
  };
  static std::string unwrap(std::string_view text) { return std::string(text); }
};
#undef PKG_PARAM

/// An optional tensor is an undefined one in the core; other optionals are optionals there.
template <>
struct Param<std::optional<Tensor>> : Param<Tensor> {
  static constexpr bool optional = true;
  struct Held {
    std::optional<Tensor> value;
    explicit Held(Canonical tensor) {
      if (tensor.defined()) value.emplace(tensor);
    }
    std::optional<Tensor>& get() { return value; }
  };
  static ::pkg::Tensor unwrap(const std::optional<Tensor>& tensor) {
    return tensor ? tensor->unwrap() : ::pkg::Tensor();
  }
};
template <class T>
struct Param<std::optional<T>> : Param<T> {
  static constexpr bool optional = true;
  using Item = std::remove_cvref_t<typename Param<T>::Canonical>;
  using Optional = std::optional<Item>;
  // By value where the core's kernels have it so.
  using Canonical = std::conditional_t<std::is_reference_v<typename Param<T>::Canonical>,
                                       const Optional&, Optional>;
  struct Held {
    std::optional<typename Param<T>::Held> item;
    std::optional<T> value;
    explicit Held(Canonical given) {
      if (given) value.emplace(item.emplace(*given).get());
    }
    std::optional<T>& get() { return value; }
  };
  static Optional unwrap(const std::optional<T>& value) {
    return value ? Optional(Param<T>::unwrap(*value)) : std::nullopt;
  }
};

/// A parameter as it is written: one that may be assigned to holds a reference of its own.
template <class A>
struct ParamOf : Param<std::remove_cvref_t<A>> {};
template <>
struct ParamOf<Tensor&> : Param<Tensor> {
  struct Held {
    Tensor value;
    explicit Held(Canonical tensor) : value(tensor) {}
    Tensor& get() { return value; }
  };
};

template <class A>
CppType cpp_type() {
  using P = Param<std::remove_cvref_t<A>>;
  std::string name = P::name;
  if (P::optional) name = "std::optional<" + name + ">";
  if (std::is_const_v<std::remove_reference_t<A>>) name = "const " + name;
  if (std::is_lvalue_reference_v<A>) name += "&";
  return {std::move(name), P::type, P::list, P::optional};
}

/// Results: the canonical type, and the way there and back.
template <class R>
struct Return {
  static constexpr bool known = false;
};
template <>
struct Return<void> {
  static constexpr bool known = true;
  static constexpr int count = 0;
  using Canonical = std::tuple<>;
  static void wrap(Canonical) {}
};
template <>
struct Return<Tensor> {
  static constexpr bool known = true;
  static constexpr int count = 1;
  using Canonical = ::pkg::Tensor;
  static Canonical unwrap(Tensor tensor) { return std::move(tensor).unwrap(); }
  static Tensor wrap(Canonical tensor) { return Tensor(std::move(tensor)); }
};
template <>
struct Return<std::vector<Tensor>> {
  static constexpr bool known = true;
  static constexpr int count = 1;
  using Canonical = ::pkg::TensorList;
  static Canonical unwrap(const std::vector<Tensor>& list) { return detail::unwrap(list); }
  static std::vector<Tensor> wrap(const Canonical& list) { return detail::wrap(list); }
};
template <class T>
  requires(std::is_same_v<T, int64_t> || std::is_same_v<T, double> ||
           std::is_same_v<T, bool>)
struct Return<T> {
  static constexpr bool known = true;
  static constexpr int count = 1;
  using Canonical = T;
  static T unwrap(T value) { return value; }
  static T wrap(T value) { return value; }
};
template <>
struct Return<Scalar> {
  static constexpr bool known = true;
  static constexpr int count = 1;
  using Canonical = ::pkg::Scalar;
  static Canonical unwrap(const Scalar& value) { return value.unwrap(); }
  static Scalar wrap(const Canonical& value) { return Scalar(value); }
};
template <class... T>
  requires((Return<std::remove_cvref_t<T>>::count == 1) && ...)
struct Return<std::tuple<T...>> {
  static constexpr bool known = true;
  static constexpr int count = int(sizeof...(T));
  template <class Part>
  using Of = Return<std::remove_cvref_t<Part>>;
  using Canonical = std::tuple<typename Of<T>::Canonical...>;
  static Canonical unwrap(std::tuple<T...> tuple) {
    return std::apply([](auto&... part) { return Canonical(Of<T>::unwrap(part)...); },
                      tuple);
  }
  static std::tuple<T...> wrap(Canonical tuple) {
    return std::apply(
        [](auto&... part) { return std::tuple<T...>(Of<T>::wrap(std::move(part))...); },
        tuple);
  }
};

/// What a C++ function says of itself.
struct Signature {
  std::vector<CppType> parameters;
  std::vector<CppType> results;
  std::string str() const;
};
template <class R>
struct ResultTypes {
  static std::vector<CppType> all() { return {cpp_type<R>()}; }
};
template <>
struct ResultTypes<void> {
  static std::vector<CppType> all() { return {}; }
};
template <class... T>
struct ResultTypes<std::tuple<T...>> {
  static std::vector<CppType> all() { return {cpp_type<T>()...}; }
};
template <class R>
std::vector<CppType> result_types() {
  return ResultTypes<std::remove_cv_t<R>>::all();
}

/// Empty if it is the schema's, else what was expected.
inline std::string misfit(const Signature& given, const ::pkg::Schema& schema);
/// "name(Tensor _0, float _1) -> Tensor": a schema for a function that came without one.
inline std::string schema_of(std::string_view name, const Signature& signature);

}  // namespace at::detail

#include "compat/torch/style/signature_text.h"

// SPDX-License-Identifier: Apache-2.0
// dispatcher/library.h: how ops are declared.
//
//   PKG_LIBRARY_FRAGMENT(pkg, m) {
//     m.def("relu(Tensor self) -> Tensor")
//         .doc("max(x, 0) for each element.")
//         .shape([](const Tensor& self) { return self.spec(); })
//         .grad("result", [](const GradContext& g) { return TensorList{...}; });
//   }
//   PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("relu", relu_kernel); }
//
// Blocks run when the registry is first used, so their errors are ordinary exceptions.
#pragma once

#include <string_view>

#include "dispatcher/typed.h"

namespace pkg {
namespace detail {

// Does the C++ parameter type T stand for this schema argument?
template <class T>
bool matches(const Argument& argument);
template <class... A>
bool signature_matches(const Schema& schema);
void check_signature(const Operator& op, bool ok, const std::type_info* given);

template <class F>
struct FunctionTraits : FunctionTraits<decltype(+std::declval<F>())> {};
template <class R, class... A>
struct FunctionTraits<R (*)(A...)> {
  using Return = R;
  using Args = std::tuple<A...>;
  using AdapterType = Adapter<R, A...>;
  static bool matches(const Schema& schema) { return signature_matches<A...>(schema); }
};

// Spec -> Tensor, array<Spec, N> -> tuple of N Tensors.
template <class S>
struct ResultOf;
template <>
struct ResultOf<Spec> {
  using type = Tensor;
};
template <>
struct ResultOf<std::array<Spec, 2>> {
  using type = std::tuple<Tensor, Tensor>;
};
template <>
struct ResultOf<std::array<Spec, 3>> {
  using type = std::tuple<Tensor, Tensor, Tensor>;
};
template <class R, class Args>
struct AdapterOf;
template <class R, class... A>
struct AdapterOf<R, std::tuple<A...>> {
  using type = Adapter<R, A...>;
};

// Splits void(Tensor&, Tensor&, A...) into its result count and A...
template <int N, class... A>
struct StripOutputs {
  static constexpr int count = N;
  using Args = std::tuple<A...>;
};
template <int N, class... A>
struct StripOutputs<N, Tensor&, A...> : StripOutputs<N + 1, A...> {};
template <class Args>
struct ComputeTraits;
template <class... A>
struct ComputeTraits<std::tuple<A...>> : StripOutputs<0, A...> {};

template <int N>
struct TupleOf;
template <>
struct TupleOf<1> {
  using type = Tensor;
};
template <>
struct TupleOf<2> {
  using type = std::tuple<Tensor, Tensor>;
};
template <>
struct TupleOf<3> {
  using type = std::tuple<Tensor, Tensor, Tensor>;
};

}  // namespace detail

/// Fluent description of one op.
class OpBuilder {
 public:
  explicit OpBuilder(Operator& op) : op_(op) {}

  OpBuilder& doc(const char* text) {
    op_.doc = text;
    return *this;
  }
  /// The shape rule `Spec(Args...)` (or array<Spec, N>); makes the op structured.
  template <class F>
  OpBuilder& shape(F rule) {
    using T = detail::FunctionTraits<F>;
    using R = typename detail::ResultOf<typename T::Return>::type;
    using A = typename detail::AdapterOf<R, typename T::Args>::type;
    detail::check_signature(op_, T::matches(op_.schema), &typeid(typename T::Args));
    op_.kind = OpKind::Structured;
    op_.shape = reinterpret_cast<void*>(+rule);
    op_.shape_boxed = &A::shape_boxed;
    op_.signature = &typeid(typename T::Args);
    Kernel meta;
    meta.boxed = &A::template boxed<&A::meta>;
    meta.unboxed = reinterpret_cast<void*>(&A::meta);
    return kernel(DispatchKey::Meta, meta);
  }
  /// A kernel: `void(Tensor& out, Args...)` beside a shape rule, else `R(Args...)`.
  template <class F>
  OpBuilder& impl(DispatchKey key, F function) {
    using T = detail::FunctionTraits<F>;
    Kernel made;
    made.function = reinterpret_cast<void*>(+function);
    if constexpr (std::is_void_v<typename T::Return>) {
      using C = detail::ComputeTraits<typename T::Args>;
      using R = typename detail::TupleOf<C::count>::type;
      using A = typename detail::AdapterOf<R, typename C::Args>::type;
      detail::check_signature(op_, op_.signature && *op_.signature == typeid(typename C::Args),
                              &typeid(typename C::Args));
      made.boxed = &A::template boxed<&A::structured>;
      made.unboxed = reinterpret_cast<void*>(&A::structured);
      made.compute = &A::compute;
    } else {
      using A = typename T::AdapterType;
      detail::check_signature(op_, T::matches(op_.schema), &typeid(typename T::Args));
      made.boxed = &A::template boxed<&A::plain>;
      made.unboxed = reinterpret_cast<void*>(&A::plain);
    }
    return kernel(key, made);
  }
  template <class F>
  OpBuilder& cpu(F function) {
    return impl(DispatchKey::CPU, function);
  }
  /// Written with other ops: gradients, scheduling and devices come from those.
  template <class F>
  OpBuilder& composite(F function) {
    set_kind(OpKind::Composite);
    skip(DispatchKey::Autograd);
    skip(DispatchKey::Async);
    return impl(DispatchKey::CPU, function).impl(DispatchKey::Meta, function);
  }
  /// Shares the input's storage; touches shape and strides only.
  template <class F>
  OpBuilder& view(F function) {
    set_kind(OpKind::View);
    skip(DispatchKey::Async);
    return impl(DispatchKey::CPU, function).impl(DispatchKey::Meta, function);
  }
  /// The gradient and what it needs saved, by name: "self result" always,
  /// "self?other" only when `other` wants a gradient.  Of several results "result" is the
  /// first, and "result1" and "result2" are the others.
  OpBuilder& grad(std::string_view saves, Gradient::Formula formula);
  /// Gradient::second_is_zero, said after grad().
  OpBuilder& second_is_zero() {
    op_.gradient.second_is_zero = true;
    return *this;
  }
  OpBuilder& non_differentiable() {
    op_.non_differentiable = true;
    return *this;
  }
  OpBuilder& pointwise() {
    op_.pointwise = true;
    return *this;
  }
  /// The kernel runs while the call lasts, so that a program that draws random numbers
  /// gets the same ones however its work is scheduled.
  OpBuilder& in_program_order() {
    op_.in_program_order = true;
    return *this;
  }
  /// The in-place form may write tensors whose elements share memory (expanded ones).
  OpBuilder& writes_one_value() {
    op_.writes_one_value = true;
    return *this;
  }
  /// Estimated nanoseconds: of one call, or per element.
  OpBuilder& cost(double (*estimate)(const Value* args, const Spec* specs)) {
    op_.cost = estimate;
    return *this;
  }
  OpBuilder& element_cost(double nanoseconds) {
    op_.element_cost = nanoseconds;
    return *this;
  }
  /// Also defines `name_`, which writes its result into the first argument.
  OpBuilder& in_place();

  OpBuilder& kernel(DispatchKey key, Kernel kernel);
  const Operator& record() const { return op_; }

 private:
  void set_kind(OpKind kind) { op_.kind = kind; }
  void skip(DispatchKey key) {
    Kernel none;
    none.fallthrough = true;
    kernel(key, none);
  }
  Operator& op_;
};

/// The `m` of a registration block.
class Library {
 public:
  enum class Kind { Definition, Fragment, Implementation };
  Library(Kind kind, const char* ns, std::optional<DispatchKey> key, const char* where);

  /// Declares an op of this namespace.
  OpBuilder def(std::string_view schema);
  /// Adds a kernel for the block's key to an op declared anywhere.
  template <class F>
  void impl(std::string_view name, F function) {
    impl_builder(name).impl(*key_, function);
  }
  /// One boxed function for every op without a kernel of its own at the block's key;
  /// allowed in namespace `_` only.
  void fallback(Kernel::Boxed function);

 private:
  OpBuilder impl_builder(std::string_view name);
  Kind kind_;
  const char* ns_;
  std::optional<DispatchKey> key_;
  const char* where_;
};

/// Puts a block on the list of those to run; used by the macros below.
struct Registration {
  Registration(Library::Kind kind, const char* ns, const char* key, const char* where,
               void (*block)(Library&));
};
/// Runs the blocks added since the last call, definitions first.  All or nothing: an
/// error undoes what these blocks registered and reaches the caller.
void run_pending_registrations(Dispatcher& dispatcher);

/// Opens a shared library and runs its registration blocks.  Again for the same file:
/// nothing happens.  ImportError when it cannot be opened, RuntimeError with the path
/// when a block fails; nothing of it is registered then.
void load_library(const std::string& path);

}  // namespace pkg

#define PKG_CONCAT_(a, b) a##b
#define PKG_CONCAT(a, b) PKG_CONCAT_(a, b)
#define PKG_STR_(x) #x
#define PKG_STR(x) PKG_STR_(x)
#define PKG_BLOCK_(kind, ns, key, m, id)                                            \
  static void PKG_CONCAT(pkg_block_, id)(::pkg::Library&);                          \
  static const ::pkg::Registration PKG_CONCAT(pkg_registration_, id)(              \
      ::pkg::Library::Kind::kind, #ns, key, __FILE__ ":" PKG_STR(__LINE__),         \
      &PKG_CONCAT(pkg_block_, id));                                                 \
  static void PKG_CONCAT(pkg_block_, id)(::pkg::Library & m)

/// The definitions of a namespace: once in the process.
#define PKG_LIBRARY(ns, m) PKG_BLOCK_(Definition, ns, nullptr, m, __COUNTER__)
/// More definitions for a namespace.
#define PKG_LIBRARY_FRAGMENT(ns, m) PKG_BLOCK_(Fragment, ns, nullptr, m, __COUNTER__)
/// Kernels for one dispatch key.
#define PKG_LIBRARY_IMPL(ns, key, m) \
  PKG_BLOCK_(Implementation, ns, #key, m, __COUNTER__)

#include "dispatcher/library-inl.h"

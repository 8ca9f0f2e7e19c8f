// SPDX-License-Identifier: Apache-2.0
// dispatcher/library.h: how ops are declared.
//
//   PKG_LIBRARY_FRAGMENT(pkg, m) {
//     m.def("relu(Tensor self) -> Tensor")
//         .doc("max(x, 0) for each element.")
//         .shape([](const Tensor& self) { return self.spec(); })
//         .derivative("self", "result", [](auto& grad, auto& y) { return ...; });
//   }
//   PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("relu", relu_kernel); }
//
// Blocks run when the registry is first used, so their errors are ordinary exceptions.
#pragma once

#include <string_view>

#include "dispatcher/abi.h"
#include "dispatcher/adapter.h"
#include "dispatcher/derivative.h"
#include "dispatcher/row_major.h"

namespace pkg {

/// How a kernel takes tensors.  RowMajor: data<T>()[i] is element i, and no argument
/// shares memory with a result; the dispatcher copies where that is not so.  Strided: as
/// they lie in memory, so the kernel looks at strides() and may write where it reads.
/// The default is RowMajor for kernels from outside the core, Strided inside.
enum class MemoryOrder : uint8_t { Default, RowMajor, Strided };
inline constexpr MemoryOrder kRowMajor = MemoryOrder::RowMajor,
                             kStrided = MemoryOrder::Strided;

/// Where a registration stands.
struct Origin {
  const char* where = "";  ///< "file:line"
  bool outside = true;     ///< of the core
};

/// Fluent description of one op.
class OpBuilder {
 public:
  explicit OpBuilder(Operator& op, Origin origin = {}) : op_(op), origin_(origin) {}

  OpBuilder& doc(const char* text);
  /// The dtypes that the op takes: of its tensor arguments together, which is their
  /// common dtype.  Others are an error that comes before anything else happens.
  OpBuilder& dtypes(DTypeSet common);
  /// Of a parameter that stands alone, such as an index: not part of the common dtype.
  OpBuilder& dtypes(std::string_view parameter, DTypeSet own);
  /// The shape rule `Spec(Args...)` (or array<Spec, N>); makes the op structured.
  template <class F>
  OpBuilder& shape(F rule) {
    if constexpr (detail::check_function<F>()) return add_rule(+rule);
    return *this;
  }
  /// A kernel: `void(Tensor& out, Args...)` beside a shape rule, else `R(Args...)`.
  template <class F>
  OpBuilder& impl(DispatchKey key, F function, MemoryOrder order = MemoryOrder::Default) {
    return add(stage_of(key), key, function, order);
  }
  template <class F>
  OpBuilder& cpu(F function, MemoryOrder order = MemoryOrder::Default) {
    return impl(DispatchKey::CPU, function, order);
  }
  /// Written with other ops: gradients, scheduling and devices come from those.
  template <class F>
  OpBuilder& composite(F function) {
    return of_kind(OpKind::Composite)
        .add(".composite", DispatchKey::CPU, function, kStrided)
        .add(".composite", DispatchKey::Meta, function, kStrided);
  }
  /// Shares the input's storage; touches shape and strides only.
  template <class F>
  OpBuilder& view(F function) {
    return of_kind(OpKind::View)
        .add(".view", DispatchKey::CPU, function, kStrided)
        .add(".view", DispatchKey::Meta, function, kStrided);
  }
  /// The gradient of one argument: a function of the gradient of the result and of what
  /// `inputs` names, in this order.  A name is a parameter, "result", "result1", "grad1",
  /// or a parameter's "self.shape" or "self.dtype", for which nothing is saved; the rest is
  /// saved for backward when this argument wants a gradient.  Where a pointwise op
  /// broadcast the argument, the sum over the repetitions follows by itself.
  ///
  ///   .derivative("self", "other", [](auto& grad, auto& other) { return grad * other; })
  ///
  /// The formula may be a handle, too, or a function.
  template <class F>
  OpBuilder& derivative(std::string_view argument, std::string_view inputs,
                        const F& formula) {
    using T = detail::DerivativeTraits<F>;
    return derivative(argument, inputs, T::address(formula), &T::evaluate, T::inputs());
  }
  template <class S>
  OpBuilder& derivative(std::string_view, std::string_view, const Op<S>&& dies) = delete;
  template <class F>
  OpBuilder& derivative(std::string_view argument, std::string_view inputs, F* formula) {
    using T = detail::DerivativeTraits<F*>;
    return derivative(argument, inputs, T::address(formula), &T::evaluate, T::inputs());
  }
  /// The gradients of all arguments by one formula, and what it needs saved, by name:
  /// "self result" always, "self?other" only when `other` wants a gradient.  For gradients
  /// that share their work, and for lists of tensors.
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
  /// Each element of the result depends on the elements at its place only.  Of an op of
  /// the core the result keeps their order, too, where keeps_order() does not say else.
  OpBuilder& pointwise() {
    op_.pointwise = true;
    return order_is_said_ ? *this : keeps_order(!origin_.outside);
  }
  /// The result lies in memory as the operands do, and not row-major whatever they are:
  /// see tensor/layout.h.  A kernel that takes rows gets row-major results even so.
  OpBuilder& keeps_order(bool keeps = true) {
    op_.keeps_order = keeps;
    order_is_said_ = true;
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
  /// It reads a part of its first argument, whose size then says nothing of the cost.
  OpBuilder& reads_part() {
    op_.reads_part = true;
    return *this;
  }
  /// Also defines `name_`, which writes its result into the first argument.
  OpBuilder& in_place();

  OpBuilder& kernel(DispatchKey key, Kernel kernel);
  const Operator& record() const { return op_; }

 private:
  template <class F>
  OpBuilder& add(const char* stage, DispatchKey key, F function, MemoryOrder order) {
    if constexpr (detail::check_function<F>())
      return add_kernel(stage, key, +function, order);
    return *this;
  }
  // For each signature, not for each function.
  template <class S, class... A>
  OpBuilder& add_rule(S (*rule)(A...));
  template <class R, class... A>
  OpBuilder& add_kernel(const char* stage, DispatchKey key, R (*function)(A...),
                        MemoryOrder order);
  // The same without types.
  OpBuilder& add_rule(const detail::Signature& given, const std::type_info& args,
                      void* rule, void (*boxed)(void*, const Value*, Spec*));
  OpBuilder& add_kernel(const char* stage, const detail::Signature& given,
                        const std::type_info* args, DispatchKey key, const Kernel& made,
                        MemoryOrder order);
  // Composite or view: it is not scheduled itself; the ops that it calls may be.
  OpBuilder& of_kind(OpKind kind);
  static const char* stage_of(DispatchKey key);
  OpBuilder& derivative(std::string_view argument, std::string_view inputs,
                        const void* formula, Derivative::Evaluate evaluate,
                        std::span<const detail::CppType> types);
  Operator& op_;
  Origin origin_;
  bool order_is_said_ = false;
};

template <class S, class... A>
OpBuilder& OpBuilder::add_rule(S (*rule)(A...)) {
  using Args = std::tuple<A...>;
  if constexpr (detail::check_parameters<Args>() && detail::check_return<S, true>()) {
    constexpr int n = detail::ReturnType<S>::count;
    using Adapter = detail::Adapter<typename detail::ResultsOf<n>::type, A...>;
    return add_rule(
        {detail::Parameters<Args>::types(), detail::ReturnType<S>::name, n, false},
        typeid(Args), reinterpret_cast<void*>(rule), &Adapter::shape_boxed);
  }
  return *this;
}

template <class R, class... A>
OpBuilder& OpBuilder::add_kernel(const char* stage, DispatchKey key, R (*function)(A...),
                                 MemoryOrder order) {
  Kernel made;
  made.function = reinterpret_cast<void*>(function);
  if constexpr (std::is_void_v<R>) {
    using C = detail::StripOutputs<0, A...>;
    using Args = typename C::Args;
    if constexpr (detail::check_outputs<C>() && detail::check_parameters<Args>()) {
      using P = detail::Parameters<Args>;
      using Adapter =
          typename P::template AdapterFor<typename detail::ResultsOf<C::count>::type>;
      made.boxed = &Adapter::boxed_structured;
      made.unboxed = reinterpret_cast<void*>(&Adapter::structured);
      made.compute = &Adapter::compute;
      return add_kernel(stage, {P::types(), "void", C::count, false}, &typeid(Args), key,
                        made, order);
    }
  } else if constexpr (detail::check_parameters<std::tuple<A...>>() &&
                       detail::check_return<R, false>()) {
    using T = detail::ReturnType<R>;
    using Adapter = detail::Adapter<R, A...>;
    made.boxed = &Adapter::boxed_plain;
    made.unboxed = reinterpret_cast<void*>(&Adapter::plain);
    return add_kernel(
        stage, {detail::Parameters<std::tuple<A...>>::types(), T::name, T::count, T::list},
        nullptr, key, made, order);
  }
  return *this;
}

// Those of PKG_USUAL_SIGNATURES are compiled once, in builder.cc.
#define PKG_COMPILED_ELSEWHERE(R, ...)                                     \
  extern template OpBuilder& OpBuilder::add_rule<Spec, __VA_ARGS__>(       \
      Spec (*)(__VA_ARGS__));                                              \
  extern template OpBuilder& OpBuilder::add_kernel<R, __VA_ARGS__>(        \
      const char*, DispatchKey, R (*)(__VA_ARGS__), MemoryOrder);          \
  extern template OpBuilder& OpBuilder::add_kernel<void, R&, __VA_ARGS__>( \
      const char*, DispatchKey, void (*)(R&, __VA_ARGS__), MemoryOrder);
PKG_USUAL_SIGNATURES(PKG_COMPILED_ELSEWHERE)
#undef PKG_COMPILED_ELSEWHERE

/// The `m` of a registration block.
class Library {
 public:
  enum class Kind { Definition, Fragment, Implementation };
  Library(Kind kind, const char* ns, std::optional<DispatchKey> key, Origin origin);

  /// Declares an op of this namespace.
  OpBuilder def(std::string_view schema);
  /// Adds a kernel for the block's key to an op declared anywhere.
  template <class F>
  void impl(std::string_view name, F function, MemoryOrder order = MemoryOrder::Default) {
    impl_builder(name).impl(*key_, function, order);
  }
  /// Gives an op that has none its gradient, wherever it is declared: as OpBuilder::grad.
  /// An error if it has one, which may be that of the ops that it calls.
  void gradient(std::string_view name, std::string_view saves, Gradient::Formula formula);
  /// One boxed function for every op without a kernel of its own at the block's key;
  /// allowed in namespace `_` only.
  void fallback(Kernel::Boxed function);

 private:
  OpBuilder impl_builder(std::string_view name);
  Kind kind_;
  const char* ns_;
  std::optional<DispatchKey> key_;
  Origin origin_;
};

/// Puts a block on the list of those to run; used by the macros below.
struct Registration {
  /// stamp: of dispatcher/abi.h; null in the core.
  Registration(Library::Kind kind, const char* ns, const char* key, Origin origin,
               void (*block)(Library&), const char* stamp);
};
/// Runs the blocks added since the last call, definitions first.  All or nothing: an
/// error undoes what these blocks registered and reaches the caller.
void run_pending_registrations(Dispatcher& dispatcher);

/// Opens a shared library and runs its registration blocks.  Again for the same file:
/// nothing happens.  ImportError when it cannot be opened or was compiled for another
/// core, RuntimeError with the path when a block fails; nothing of it is registered then.
void load_library(const std::string& path);

}  // namespace pkg

#define PKG_CONCAT_(a, b) a##b
#define PKG_CONCAT(a, b) PKG_CONCAT_(a, b)
#define PKG_STR_(x) #x
#define PKG_STR(x) PKG_STR_(x)
#ifdef PKG_BUILDS_CORE
#define PKG_OUTSIDE_ false
#else
#define PKG_OUTSIDE_ true
#endif
#define PKG_BLOCK_(kind, ns, key, m, id)                              \
  static void PKG_CONCAT(pkg_block_, id)(::pkg::Library&);            \
  static const ::pkg::Registration PKG_CONCAT(pkg_registration_, id)( \
      ::pkg::Library::Kind::kind, #ns, key,                           \
      ::pkg::Origin{__FILE__ ":" PKG_STR(__LINE__), PKG_OUTSIDE_},    \
      &PKG_CONCAT(pkg_block_, id), PKG_STAMP_);                       \
  static void PKG_CONCAT(pkg_block_, id)(::pkg::Library & m)

/// The definitions of a namespace: once in the process.
#define PKG_LIBRARY(ns, m) PKG_BLOCK_(Definition, ns, nullptr, m, __COUNTER__)
/// More definitions for a namespace.
#define PKG_LIBRARY_FRAGMENT(ns, m) PKG_BLOCK_(Fragment, ns, nullptr, m, __COUNTER__)
/// Kernels for one dispatch key.
#define PKG_LIBRARY_IMPL(ns, key, m) PKG_BLOCK_(Implementation, ns, #key, m, __COUNTER__)

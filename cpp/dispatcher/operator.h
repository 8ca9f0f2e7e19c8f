// SPDX-License-Identifier: Apache-2.0
// dispatcher/operator.h: everything known about one op, in one record.
#pragma once

#include <atomic>
#include <string>
#include <typeinfo>

#include "dispatcher/gradient.h"

namespace pkg {

/// The results of a boxed call; those that are not there cost nothing.
class ResultValues {
 public:
  ResultValues() = default;
  ResultValues(const ResultValues&) = delete;
  ResultValues& operator=(const ResultValues&) = delete;
  ~ResultValues() {
    for (size_t i = 0; i < size_; ++i) (*this)[i].~Value();
  }
  size_t size() const { return size_; }
  Value& operator[](size_t i) { return begin()[i]; }
  const Value& operator[](size_t i) const { return begin()[i]; }
  Value* begin() { return reinterpret_cast<Value*>(memory_); }
  Value* end() { return begin() + size_; }
  const Value* begin() const { return reinterpret_cast<const Value*>(memory_); }
  const Value* end() const { return begin() + size_; }
  void push(Value&& value) {
    PKG_ASSERT(size_ < kMaxResults);
    new (begin() + size_++) Value(std::move(value));
  }

 private:
  alignas(Value) std::byte memory_[kMaxResults * sizeof(Value)];
  size_t size_ = 0;
};

/// Arguments and results of a boxed call; lives on the caller's stack.
struct Stack {
  std::span<Value> args;
  ResultValues results;

  Stack() = default;
  explicit Stack(std::span<Value> args_in) : args(args_in) {}
  void push(Value&& value) { results.push(std::move(value)); }
};

/// The dtypes that an op or a kernel takes: of the tensor parameters together, which is
/// their common dtype, and of those that stand alone, such as an index.
struct Domain {
  DTypeSet common = kAllDTypes;
  std::array<DTypeSet, kMaxParameters> own{};  ///< empty: counts for the common dtype
  bool declared = false;

  /// "integer or bool, index: int64"; "any" when nothing was declared.
  std::string str(const Schema& schema) const;
};

/// What runs for one (op, key).  `boxed` always works; `unboxed`, if there, is an
/// `R (*)(const Operator&, const Kernel&, KeySet, Args...)` of the op's C++ signature.
struct Kernel {
  using Boxed = void (*)(const Operator&, const Kernel&, KeySet, Stack&);

  Boxed boxed = nullptr;
  void* unboxed = nullptr;
  void* function = nullptr;  ///< the registered function itself
  /// Structured kernels only: run `function` on boxed arguments into given results.
  void (*compute)(void* function, const Value* args, Tensor* results) = nullptr;
  bool fallthrough = false;
  /// It takes tensors as they lie in memory.  Otherwise `boxed` is the entry of
  /// dispatcher/row_major.h, which brings them into row-major order first.
  bool strided = true;
  /// It converts tensors of several dtypes and bare numbers itself, and finds out where its
  /// results lie, as loops over strides do.  Otherwise it gets one dtype, and row-major
  /// results of the rule's dtypes that share no memory with an argument.
  bool converts = true;
  Boxed rows = nullptr;            ///< the boxed entry for row-major arguments
  const Domain* domain = nullptr;  ///< of a kernel that takes less than the op
  const char* where = "";          ///< "file:line" of the registration
};

enum class OpKind : uint8_t {
  Structured,  ///< shape rule + kernels that fill given results; can be scheduled
  Composite,   ///< calls other ops: needs no key of its own
  View,        ///< shares its input's storage, touches no data
  Function,    ///< plain function of ready tensors (results of unknown shape)
};

class Operator {
 public:
  Operator(std::string ns, Schema schema);

  Schema schema;
  std::string ns;
  std::string doc;
  const char* where = "";
  OpKind kind = OpKind::Function;
  Gradient gradient;
  Domain domain;
  bool non_differentiable = false;
  bool pointwise = false;
  bool keeps_order = false;       ///< results lie in memory as operands do: tensor/layout.h
  bool in_program_order = false;  ///< never scheduled: it draws from a common stream
  bool writes_one_value = false;  ///< so the elements that it writes may share memory
  const Operator* base = nullptr;  ///< of an in-place op: the op it is a form of

  // Structured ops: the shape rule, typed `Spec (*)(Args...)` and boxed.
  void* shape = nullptr;
  void (*shape_boxed)(void* shape, const Value* args, Spec* specs) = nullptr;
  const std::type_info* signature = nullptr;
  /// Estimated nanoseconds of one call on one core; null: by element count.
  double (*cost)(const Value* args, const Spec* specs) = nullptr;
  double element_cost = 0.25;
  bool reads_part = false;  ///< of its first argument, whose size says nothing of the cost

  bool in_place() const { return base != nullptr; }
  /// The record that holds formula, shape rule and kernels: itself, or its base.
  const Operator& definition() const { return base ? *base : *this; }
  /// "structured", ..., as the records of ops say it.
  const char* kind_name() const;
  /// Where the gradient comes from: "formula", "composed", "none" or "missing".
  const char* gradient_name() const;
  /// Schema, documentation and dtypes as help() shows them.
  std::string help() const;
  /// The dtypes that it takes, in words.
  std::string dtypes() const { return definition().domain.str(schema); }
  /// Whether it is a function of one tensor alone, with one tensor as its result.
  bool is_unary() const;
  /// Whether a call has dtypes to check; see dispatcher/domain.h.
  bool restricted() const {
    return definition().restricted_.load(std::memory_order_relaxed);
  }
  /// Whether Tensor has it as a method: the first argument is a tensor named self.
  bool is_method() const;
  std::string qualified_name() const { return ns + "::" + schema.full_name(); }

  /// Kernel that a call arriving at `key` runs; never null (a missing one raises).
  const Kernel& kernel(DispatchKey key) const {
    return *table_[size_t(key)].load(std::memory_order_acquire);
  }
  /// Keys at which this op has anything to do.
  KeySet mask() const { return KeySet::from_bits(mask_.load(std::memory_order_acquire)); }
  bool has_kernel(DispatchKey key) const { return own_[size_t(key)] != nullptr; }

  /// Called by the registry under its lock.  Returns the kernel replaced, or null.
  const Kernel* set_kernel(DispatchKey key, const Kernel* kernel);
  void refresh(std::span<const Kernel* const, kNumKeys> fallbacks);

 private:
  std::array<std::atomic<const Kernel*>, kNumKeys> table_;
  std::array<const Kernel*, kNumKeys> own_{};
  std::atomic<uint16_t> mask_;
  std::atomic<bool> restricted_{false};
};

inline void* GradContext::object_of(const Operator& op) { return op.gradient.object; }

/// Throws NotImplementedError: the op has no kernel at `key`.
[[noreturn]] void missing_kernel(const Operator& op, DispatchKey key);

}  // namespace pkg

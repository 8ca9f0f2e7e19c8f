// SPDX-License-Identifier: Apache-2.0
// dispatcher/dispatcher.h: the registry of ops and the single path of every call.
#pragma once

#include <string_view>
#include <vector>

#include "base/thread_local.h"
#include "dispatcher/operator.h"

namespace pkg {

/// What a thread adds to and takes from every call's key set.
struct LocalKeys {
  KeySet included;
  KeySet excluded;
};
PKG_FAST_TLS extern thread_local constinit LocalKeys t_local_keys;

/// Makes `keys` those of this thread for its lifetime: work on behalf of another thread.
class UseKeys {
 public:
  explicit UseKeys(const LocalKeys& keys) : saved_(std::exchange(t_local_keys, keys)) {}
  ~UseKeys() { t_local_keys = saved_; }
  UseKeys(const UseKeys&) = delete;
  UseKeys& operator=(const UseKeys&) = delete;

 private:
  LocalKeys saved_;
};

/// Excludes keys for its lifetime; grad mode off is `ExcludeKeys(Autograd)`.
class ExcludeKeys {
 public:
  explicit ExcludeKeys(KeySet keys) : saved_(t_local_keys) {
    t_local_keys.excluded |= keys;
  }
  ~ExcludeKeys() { t_local_keys = saved_; }
  ExcludeKeys(const ExcludeKeys&) = delete;
  ExcludeKeys& operator=(const ExcludeKeys&) = delete;

 private:
  LocalKeys saved_;
};

inline bool grad_enabled() { return !t_local_keys.excluded.has(DispatchKey::Autograd); }
/// Switches recording on this thread; returns what it was.
bool set_grad_enabled(bool enabled);

inline KeySet with_local_keys(KeySet keys) {
  return (keys | t_local_keys.included).without(t_local_keys.excluded);
}

/// Key set of boxed arguments, before the thread's sets are applied.
KeySet keys_of(std::span<const Value> args);

class Dispatcher {
 public:
  /// The one registry of the process; runs registration blocks not run yet, so an
  /// error in one surfaces here as an exception.
  static Dispatcher& get() {
    Dispatcher* settled = settled_.load(std::memory_order_acquire);
    return __builtin_expect(settled != nullptr, 1) ? *settled : settle();
  }

  /// The op "name" or "name.overload" of a namespace ("pkg::add.Tensor" is accepted
  /// too); LookupError that names what is near otherwise.
  const Operator& find(std::string_view name, std::string_view ns = "pkg") const;
  const Operator* find_or_null(std::string_view name, std::string_view ns = "pkg") const;
  /// Every op, sorted by name.
  std::vector<const Operator*> all() const;
  /// Overloads of one name, in the order of their definition.
  std::vector<const Operator*> overloads(std::string_view name,
                                         std::string_view ns = "pkg") const;

  /// Calls through the highest key of the arguments.
  void call_boxed(const Operator& op, Stack& stack) const {
    redispatch_boxed(op, with_local_keys(keys_of(stack.args)), stack);
  }
  /// Calls through the highest key of `keys`.
  void redispatch_boxed(const Operator& op, KeySet keys, Stack& stack) const;

  // For dispatcher/library.h.
  Operator& define(std::string ns, Schema schema, const char* where);
  Operator& find_mutable(std::string_view name, std::string_view ns);
  void set_kernel(Operator& op, DispatchKey key, Kernel kernel);
  /// ValueError where it has one, or cannot have one; `where` is where this one is given.
  void set_gradient(Operator& op, const Saves& saves, Gradient::Formula formula,
                    const char* where);
  /// After a change of its record.
  void refresh(Operator& op);
  void set_fallback(DispatchKey key, Kernel kernel);
  void claim_namespace(std::string_view ns, const char* where);
  /// What is registered between them is taken back unless kept.  Ops that another
  /// thread has found meanwhile stay valid; they just cannot be found any more.
  void begin_registration();
  void end_registration(bool keep);
  /// Whether blocks wait to be run, so that get() has to look.
  static bool unsettled() { return !settled_.load(std::memory_order_acquire); }
  static void set_unsettled() { settled_.store(nullptr, std::memory_order_release); }
  void set_settled() { settled_.store(this, std::memory_order_release); }

 private:
  Dispatcher();
  [[gnu::cold]] static Dispatcher& settle();
  static std::atomic<Dispatcher*> settled_;  // null while blocks wait to be run

  struct State;
  State* state_;  // leaked on purpose: ops are called until the process is gone
};

/// Where a call with these keys goes for this op.
inline KeySet effective_keys(const Operator& op, KeySet keys) {
  keys = keys & op.mask();
  return keys.empty() ? KeySet(DispatchKey::CPU) : keys;
}

}  // namespace pkg

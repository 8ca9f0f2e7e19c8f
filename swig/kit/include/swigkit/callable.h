// SPDX-License-Identifier: Apache-2.0
// swigkit/callable.h: a Python callable that C++ keeps and calls from any thread.
#pragma once

#include "error.h"

#include <atomic>
#include <utility>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Copies share one reference, which is given back under the GIL whoever drops it.
class PyCallable {
 public:
  PyCallable() = default;
  /// Needs the GIL.
  explicit PyCallable(PyObject* object) : held_(hold(object)) {}
  PyCallable(const PyCallable& other) : held_(other.held_) {
    if (held_) held_->shares.fetch_add(1, std::memory_order_relaxed);
  }
  PyCallable(PyCallable&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  PyCallable& operator=(PyCallable other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~PyCallable() {
    if (held_ && held_->shares.fetch_sub(1, std::memory_order_acq_rel) == 1) release(held_);
  }
  PyObject* get() const { return held_ ? held_->object : nullptr; }

  /// Calls it with the arguments (null: an error is set, which is thrown).  Needs the GIL.
  template <class... Args>
  PyRef operator()(Args... args) const {
    if ((!args || ...)) throw_python_error();
    PyObject* all[] = {nullptr, args...};  // the first place is the callee's
    return check(call_python([&] {
      return PyObject_Vectorcall(get(), all + 1,
                                 sizeof...(args) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    }));
  }
  /// Calls it on any thread where nobody can be told what it raises: sys.unraisablehook
  /// shows that.  Nothing once Python is going away.
  void call_alone() const {
    if (!interpreter_alive()) return;
    GilAcquire gil;
    const ErrorAside aside;
    const PyRef done(call_python(PyObject_CallNoArgs, get()));
    if (!done) call_python(PyErr_WriteUnraisable, get());
  }

 private:
  struct Held {
    std::atomic<long> shares{1};
    PyObject* object;
    Held* next = nullptr;  // of those that wait for their next use
  };
  // A callback is mostly made for one call: its memory is there for the next one.
#ifdef Py_GIL_DISABLED
  static constexpr int kMaxFree = 0;
#else
  static constexpr int kMaxFree = kReuses ? 32 : 0;
#endif
  static inline Held* g_free = nullptr;  // guarded by the GIL
  static inline int g_n_free = 0;

  static Held* hold(PyObject* object) {
    if (!g_free) return new Held{.object = new_ref(object)};
    Held* held = std::exchange(g_free, g_free->next);
    --g_n_free;
    return new (held) Held{.object = new_ref(object)};
  }
  static void release(Held* held) {
    if (!interpreter_alive()) return;
    GilAcquire gil;
    drop(held->object);  // may make and drop callables itself
    if (g_n_free >= kMaxFree) return delete held;
    held->next = std::exchange(g_free, held);
    ++g_n_free;
  }

  Held* held_ = nullptr;
};

}  // namespace swigkit

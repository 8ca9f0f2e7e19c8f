// SPDX-License-Identifier: Apache-2.0
// swigkit/ref.h: owning pointer to a Python object, and the GIL guard.  Used by
// every hand-written file of the binding; includes Python.h before anything else.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace [[gnu::visibility("hidden")]] swigkit {

/// Calls `function`, which may run Python code or wait for the GIL: a function of the C API
/// that asks an object something (its __index__, its items), or any other callable.
///
/// Note [Python code while Python ends]
/// Before 3.14 CPython ends a thread that wants the GIL of an ending interpreter with
/// pthread_exit(), which unwinds its stack: through destructors that touch Python without
/// the GIL, and through noexcept functions and catch (...), where it aborts the process.
/// So the thread sleeps here, as from 3.14 on it does in CPython, and goes with the
/// process.  The unwinding has to end in the innermost frame of ours, which is why every
/// call that can come to Python code goes through here, and not the entries alone.
template <class F, class... Args>
auto call_python(F&& function, Args... args) {
  try {
    return function(args...);
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// Whether memory that is free is kept to be used again: AddressSanitizer would not see who
/// uses what has ended.  GCC tells by a macro, Clang by a feature.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SWIGKIT_SEES_ADDRESSES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SWIGKIT_SEES_ADDRESSES)
inline constexpr bool kReuses = false;
#else
inline constexpr bool kReuses = true;
#endif

/// Gives a reference back; null is allowed.  The object's destruction may run Python code.
inline void drop(PyObject* object) {
  call_python([object] { Py_XDECREF(object); });
}

/// Owns one reference; null means "an error is set".  Needs the GIL.
class PyRef {
 public:
  PyRef() = default;
  /// Takes over the reference.
  explicit PyRef(PyObject* object) : object_(object) {}
  static PyRef borrow(PyObject* object) {
    Py_XINCREF(object);
    return PyRef(object);
  }
  PyRef(const PyRef& other) : object_(other.object_) { Py_XINCREF(object_); }
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() { drop(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Gives the GIL up for its lifetime, for work that blocks or takes long.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { call_python(PyEval_RestoreThread, state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// The same where nobody knows whether this thread has it.
class GilReleaseIfHeld {
 public:
  GilReleaseIfHeld() : state_(PyGILState_Check() ? PyEval_SaveThread() : nullptr) {}
  ~GilReleaseIfHeld() {
    if (state_) call_python(PyEval_RestoreThread, state_);
  }
  GilReleaseIfHeld(const GilReleaseIfHeld&) = delete;
  GilReleaseIfHeld& operator=(const GilReleaseIfHeld&) = delete;

 private:
  PyThreadState* state_;
};

/// False once the interpreter is going away: then objects are leaked, not released.
inline bool interpreter_alive() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

/// The same as two hooks of a library: the first one's result is for the second.  A thread
/// without the GIL (a worker, or an outer region) has nothing to give up.
inline void* give_gil_up() {
  return interpreter_alive() && PyGILState_Check() ? PyEval_SaveThread() : nullptr;
}
inline void take_gil_back(void* state) {
  if (state) call_python(PyEval_RestoreThread, static_cast<PyThreadState*>(state));
}

/// Threads that are about to take the GIL.
///
/// Note [Threads at Python's end]
/// A thread that saw a living interpreter may be stopped right before it asks for the GIL,
/// and go on when the interpreter's memory is free.  So the interpreter waits for such
/// threads: its dictionary, which it clears when nobody sees it alive any more and all of
/// it is still there, has an object whose destructor does.  CPython lets none of them have
/// the GIL then: they end, see call_python(), or from 3.14 on sleep in CPython.
class Entering {
 public:
  Entering() { ++g_count; }
  ~Entering() { --g_count; }
  Entering(const Entering&) = delete;
  Entering& operator=(const Entering&) = delete;

  /// Called when the module begins; false with an error set when that fails.
  static bool watch() {
    const std::string key = "swigkit.entering " + std::to_string(uintptr_t(&g_count));
    PyObject* all = PyInterpreterState_GetDict(PyInterpreterState_Get());
    PyRef capsule(PyCapsule_New(&g_count, nullptr, [](PyObject*) { wait(); }));
    return all && capsule && !PyDict_SetItemString(all, key.c_str(), capsule.get());
  }

 private:
  static void wait() {
    using std::chrono::milliseconds;
    const bool sleeps = Py_Version >= 0x030E0000;  // some count for ever
    const auto most = milliseconds(sleeps ? 100 : 5000);
    const auto end = std::chrono::steady_clock::now() + most;
    while (g_count && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  static inline std::atomic<int> g_count = 0;
};

/// A worker's state for Python, which lasts as long as the worker.
///
/// Note [Thread states of workers]
/// PyGILState_Ensure() makes one for a thread that has none, and the last release deletes
/// it.  For every task that would cost more than most tasks, and it takes a lock of the
/// interpreter without the GIL: a child that another thread forks in that moment hangs.
class WorkerState {
 public:
  /// Tells workers from other threads; null: there are none (other users of this file).
  static inline bool (*on_worker)() = nullptr;

  /// Called before this thread, a worker or not, takes the GIL.
  static void keep() {
    if (t_kept || !on_worker || !on_worker()) return;
    if (PyGILState_GetThisThreadState()) return;
    PyGILState_Ensure();
    PyEval_SaveThread();
    t_kept = true;
  }
  /// The hook for the end of a worker.
  static void give_back() {
    if (!std::exchange(t_kept, false) || !interpreter_alive()) return;
    call_python(PyGILState_Ensure);
    // What is destroyed now may want the GIL itself, so it must not find the state in its
    // last release; or it stores something new, though not for ever.
    for (int i = 0; i < 3; ++i) {
      PyObject* locals = PyThreadState_GetDict();
      if (locals) call_python(PyDict_Clear, locals);
    }
    call_python(PyGILState_Release, PyGILState_LOCKED);    // this one, and
    call_python(PyGILState_Release, PyGILState_UNLOCKED);  // that of keep()
  }

 private:
  static inline thread_local constinit bool t_kept = false;
};

/// Holds the GIL for its lifetime, on any thread.
class GilAcquire {
 public:
  GilAcquire() : held_(has_gil()) {
    if (held_) return;  // a quarter of the price
    if (!enter()) end_thread();
  }
  ~GilAcquire() {
    if (!held_) PyGILState_Release(state_);
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  // Of an interpreter that has ended PyGILState_Check() says true on every thread.
  static bool has_gil() {
#if PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GetUnchecked() && PyGILState_Check();
#else
    return _PyThreadState_UncheckedGet() && PyGILState_Check();
#endif
  }
  // False when Python ends or has ended.
  bool enter() {
    try {
      const Entering entering;
      if (!interpreter_alive()) return false;
      WorkerState::keep();
      state_ = PyGILState_Ensure();
      return true;
    } catch (const abi::__forced_unwind&) {
      for (;;) pause();
    }
  }
  // The process goes with its first thread, and only with that.
  [[gnu::cold]] static void end_thread() {
    if (gettid() == getpid()) throw std::runtime_error("Python has ended");
    for (;;) pause();
  }

  const bool held_;  // by the caller
  PyGILState_STATE state_{};
};

inline PyObject* new_ref(PyObject* object) {
  Py_INCREF(object);
  return object;
}

}  // namespace swigkit

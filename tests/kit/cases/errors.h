// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/errors.h: exceptions of all kinds, and threads on both sides.
#pragma once

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

namespace errors {

// --- exceptions -----------------------------------------------------------------------------

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text) : std::runtime_error("geometry: " + text) {}
};
/// One that Python knows, too, and one that it does not.
class DeepError : public Error {
 public:
  explicit DeepError(const std::string& text) : Error("deep " + text) {}
};
class UnknownError : public Error {
 public:
  explicit UnknownError(const std::string& text) : Error("unknown " + text) {}
};
/// Not of the standard's family.
struct Odd {
  int code = 7;
};

inline void fail(const std::string& kind, const std::string& text) {
  if (kind == "invalid_argument") throw std::invalid_argument(text);
  if (kind == "domain_error") throw std::domain_error(text);
  if (kind == "out_of_range") throw std::out_of_range(text);
  if (kind == "length_error") throw std::length_error(text);
  if (kind == "overflow_error") throw std::overflow_error(text);
  if (kind == "range_error") throw std::range_error(text);
  if (kind == "runtime_error") throw std::runtime_error(text);
  if (kind == "logic_error") throw std::logic_error(text);
  if (kind == "bad_alloc") throw std::bad_alloc();
  if (kind == "bad_cast") throw std::bad_cast();
  if (kind == "Error") throw Error(text);
  if (kind == "DeepError") throw DeepError(text);
  if (kind == "UnknownError") throw UnknownError(text);
  if (kind == "Odd") throw Odd();
  if (kind == "int") throw 3;
}
inline int fail_noent(const std::string& path) {
  throw std::system_error(ENOENT, std::generic_category(), path);
}
inline int empty_optional() { return std::optional<int>().value(); }
inline int wrong_variant() { return std::get<int>(std::variant<int, std::string>("a")); }
inline int too_large() { return std::vector<int>().at(1); }

/// Fails wherever it can.
class Fragile {
 public:
  static inline int alive = 0;
  static int count() { return alive; }
  explicit Fragile(const std::string& kind = "") {
    fail(kind, "constructor");
    ++alive;
  }
  Fragile(const Fragile& other) : value_(other.value_) { ++alive; }
  ~Fragile() { --alive; }
  int get_value() const {
    if (value_ < 0) throw Error("negative");
    return value_;
  }
  void set_value(int value) {
    if (value == 0) throw std::invalid_argument("zero");
    value_ = value;
  }
  Fragile operator+(const Fragile&) const { throw DeepError("sum"); }
  static void stop() { throw Error("stopped"); }

 private:
  int value_ = 1;
};

// --- exceptions of Python that pass through C++ -----------------------------------------------

inline int call(const std::function<int()>& function) { return function(); }
/// What C++ makes of it.
inline std::string call_or_error(const std::function<int()>& function) {
  try {
    return std::to_string(function());
  } catch (const std::exception& error) { return std::string("caught ") + error.what(); }
}
inline int call_and_replace(const std::function<int()>& function) {
  try {
    return function();
  } catch (const std::exception&) { throw Error("replaced"); }
}
/// The destructor of what is on the stack calls Python meanwhile.
inline int call_and_clean(const std::function<int()>& function,
                          const std::function<void()>& clean) {
  struct Cleaner {
    const std::function<void()>& clean;
    ~Cleaner() {
      try {
        clean();
      } catch (const std::exception&) {}
    }
  } cleaner{clean};
  return function();
}
inline int call_twice(const std::function<int()>& first,
                      const std::function<int()>& second) {
  try {
    return first();
  } catch (...) { return second(); }
}

// --- threads --------------------------------------------------------------------------------

/// Whether another thread came here, too, while this one waited.
inline bool meet(int milliseconds) {
  static std::mutex mutex;
  static std::condition_variable changed;
  static int waiting = 0;
  static int meetings = 0;
  std::unique_lock lock(mutex);
  if (waiting) {
    ++meetings;
    changed.notify_all();
    return true;
  }
  ++waiting;
  const int before = meetings;
  const bool met = changed.wait_for(lock, std::chrono::milliseconds(milliseconds),
                                    [&] { return meetings != before; });
  --waiting;
  return met;
}
inline void wait(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}
/// With a method that waits.
class Worker {
 public:
  bool meet(int milliseconds) { return errors::meet(milliseconds); }
};
inline int sum_on_threads(const std::function<int(int)>& function, int n) {
  std::vector<std::future<int>> results;
  for (int i = 0; i < n; ++i)
    results.push_back(std::async(std::launch::async, function, i));
  int total = 0;
  for (auto& result : results) total += result.get();
  return total;
}
/// On a thread of its own; the caller goes on meanwhile.
inline std::thread background;
inline void start(std::function<void(int)> function, int n) {
  background = std::thread([function = std::move(function), n] {
    for (int i = 0; i < n; ++i) function(i);
  });
}
inline void join() { background.join(); }
struct End {};
struct Missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// An iterator of Python's.
class Countdown {
 public:
  explicit Countdown(int from) : left_(from) {}
  Countdown& __iter__() { return *this; }
  int __next__() {
    if (left_ == 0) throw End();
    return left_--;
  }
  int weight() const { throw Missing("no weight"); }

 private:
  int left_;
};
/// Whatever Python asks, it throws.
struct Faulty {
  [[noreturn]] static void refuse() { throw std::runtime_error("refused"); }
  size_t __len__() const { refuse(); }
  bool __contains__(int) const { refuse(); }
  std::string __repr__() const { refuse(); }
  long __hash__() const { refuse(); }
  bool __bool__() const { refuse(); }
  double __float__() const { refuse(); }
  int __index__() const { refuse(); }
  int __getitem__(int) const { refuse(); }
  bool operator==(const Faulty&) const { refuse(); }
  const double* data() const { refuse(); }
  size_t size() const { return 1; }
};
/// Tells the callable how it went: nothing, or what was thrown.
inline void report(const std::string& kind,
                   const std::function<void(std::exception_ptr)>& done) {
  std::exception_ptr error;
  try {
    fail(kind, "reported");
  } catch (...) { error = std::current_exception(); }
  done(error);
}
/// An exception that C++ keeps for later.
inline std::exception_ptr held;
inline void hold(std::exception_ptr error) { held = error; }
inline std::exception_ptr get_held() { return held; }
inline void throw_held() {
  if (held) std::rethrow_exception(std::exchange(held, nullptr));
}
/// A text, which need not be text, with its end where it ends.
inline void throw_text(const std::string& text) { throw text; }
/// Fails on a thread of C++.
inline int fail_on_thread(const std::string& kind) {
  return std::async(std::launch::async,
                    [&] {
                      fail(kind, "on a thread");
                      return 0;
                    })
      .get();
}

}  // namespace errors

// SPDX-License-Identifier: Apache-2.0
// base/error.h: the exceptions of the whole runtime and the two check macros.
//
// Every class here becomes the Python class of the same name (one table in
// swig/python/py_error.cc).  PKG_CHECK is for the caller's mistakes, PKG_ASSERT for
// ours.  Messages read "[op] expected X, got Y (name=value). Hint."
#pragma once

#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace pkg {

// Exceptions have one type in the process, whatever the flags of who throws or catches.
#define PKG_EXCEPTION [[gnu::visibility("default")]]

/// Root of all errors thrown on purpose.
class PKG_EXCEPTION Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  Error(const Error&) = default;
  ~Error() override;  // this and the ones below are in error.cc: compiled once
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }
  /// Adds where it happened, while the error is on its way to the caller.
  virtual void append(const std::string& text);
  /// Puts this op's name in the place of "[op]": one formula may serve several ops.
  void rename(const std::string& op);
  /// The same for a text that names no public op yet: one that begins with "[op]" itself,
  /// with a function below all ops ("[empty]", "[allocate]") or a private op ("[_...").
  void claim(std::string_view op);
  /// Its text is final from now on: every wait for the failed work throws this same
  /// object, perhaps on several threads at once.
  void settle() noexcept { settled_ = true; }

 private:
  std::string message_;
  bool settled_ = false;
};

namespace detail {
// Out of line and cold, so that a check costs its caller one compare and one jump.
template <class E>
[[noreturn, gnu::noinline, gnu::cold]] void raise_text(
    std::initializer_list<TextPart> parts) {
  throw E(join(parts));
}
}  // namespace detail

#define PKG_DEFINE_ERROR(Name)                                            \
  class PKG_EXCEPTION Name : public Error {                               \
   public:                                                                \
    using Error::Error;                                                   \
    Name(const Name&) = default;                                          \
    ~Name() override;                                                     \
  };                                                                      \
  namespace detail {                                                      \
  extern template void raise_text<Name>(std::initializer_list<TextPart>); \
  }                                                                       \
  static_assert(true)

PKG_DEFINE_ERROR(ValueError);
PKG_DEFINE_ERROR(TypeError);
PKG_DEFINE_ERROR(IndexError);
PKG_DEFINE_ERROR(KeyError);
PKG_DEFINE_ERROR(LookupError);
PKG_DEFINE_ERROR(RuntimeError);
PKG_DEFINE_ERROR(NotImplementedError);
PKG_DEFINE_ERROR(OverflowError);
PKG_DEFINE_ERROR(BufferError);
PKG_DEFINE_ERROR(ImportError);
PKG_DEFINE_ERROR(OutOfMemoryError);
/// Work that was cancelled.
PKG_DEFINE_ERROR(CancelledError);
/// A broken promise of this library: please report it.
PKG_DEFINE_ERROR(InternalError);

#undef PKG_DEFINE_ERROR

/// The one text for an argument of the wrong type:
/// "[scale] expected a number for 'factor', got str".
std::string wrong_argument(std::string_view function, std::string_view parameter,
                           std::string_view expected, std::string_view got);

namespace detail {

template <class E, class... Parts>
[[noreturn]] void raise(const Parts&... parts) {
  raise_text<E>({parts...});
}

[[noreturn]] void assert_failed(const char* condition, const char* file, int line);

}  // namespace detail
}  // namespace pkg

/// Throws `pkg::ErrorClass` with the joined message unless `condition` holds.
#define PKG_CHECK(condition, ErrorClass, ...)                      \
  do {                                                             \
    if (__builtin_expect(!(condition), 0))                         \
      ::pkg::detail::raise_text<::pkg::ErrorClass>({__VA_ARGS__}); \
  } while (0)

/// Throws InternalError unless `condition` holds: the fault is in this library.
#define PKG_ASSERT(condition)                                       \
  do {                                                              \
    if (__builtin_expect(!(condition), 0))                          \
      ::pkg::detail::assert_failed(#condition, __FILE__, __LINE__); \
  } while (0)

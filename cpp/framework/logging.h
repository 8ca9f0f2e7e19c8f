// SPDX-License-Identifier: Apache-2.0
// framework/logging.h: CHECK and LOG as kernels in TensorFlow's style use them.  A CHECK
// that fails throws InternalError, which becomes the error of the call; with
// PKG_CHECK_ABORTS defined it ends the process, as there.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <utility>

#include "framework/status.h"

namespace pkg::framework::internal {

/// Throws at the end of the statement, with what was written to stream().
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const std::string& what) {
    text_ << file << ':' << line << ": " << what << ' ';
  }
  std::ostream& stream() { return text_; }
  [[noreturn]] ~CheckFailure() noexcept(false) {
#ifdef PKG_CHECK_ABORTS
    std::fprintf(stderr, "%s\n", text_.str().c_str());
    std::abort();
#else
    throw InternalError(text_.str());
#endif
  }

 private:
  std::ostringstream text_;
};

/// A line on stderr for WARNING and ERROR; nothing for INFO.
class LogLine {
 public:
  LogLine(const char* file, int line, bool shown) : shown_(shown) {
    text_ << file << ':' << line << ": ";
  }
  ~LogLine() {
    if (shown_) std::cerr << text_.str() + "\n";
  }
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
  const bool shown_;
};

/// The text of two values that should have compared otherwise; null where they did.
template <class A, class B, class Compare>
std::unique_ptr<std::string> compare(const A& a, const B& b, const char* text,
                                     Compare holds) {
  if (__builtin_expect(holds(a, b), 1)) return nullptr;
  std::ostringstream out;
  out << "Check failed: " << text << " (" << a << " vs. " << b << ")";
  return std::make_unique<std::string>(out.str());
}
// Of an int and a size by value, as their authors mean it.
template <class A, class B>
constexpr int order(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> &&
                !std::is_same_v<A, bool> && !std::is_same_v<B, bool>) {
    return std::cmp_less(a, b) ? -1 : std::cmp_less(b, a);
  } else {
    return a < b ? -1 : b < a;
  }
}
template <class A, class B>
constexpr bool equal(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> &&
                !std::is_same_v<A, bool> && !std::is_same_v<B, bool>) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

// The pointer, which may be a smart one.
template <class P>
P&& check_not_null(const char* file, int line, const char* text, P&& pointer) {
  if (pointer == nullptr) CheckFailure(file, line, str("Check failed: ", text)).stream();
  return std::forward<P>(pointer);
}

}  // namespace pkg::framework::internal

#ifndef CHECK
#define CHECK(condition)                                                    \
  switch (0)                                                                \
  case 0:                                                                   \
    if (__builtin_expect(bool(condition), 1)) {                             \
    } else                                                                  \
      ::pkg::framework::internal::CheckFailure(__FILE__, __LINE__,          \
                                               "Check failed: " #condition) \
          .stream()
#define PKG_CHECK_COMPARED_(a, b, text, ...)                                            \
  while (const auto pkg_failed_ = ::pkg::framework::internal::compare(                  \
             (a), (b), text, [](const auto& x, const auto& y) { return __VA_ARGS__; })) \
  ::pkg::framework::internal::CheckFailure(__FILE__, __LINE__, *pkg_failed_).stream()
#define CHECK_EQ(a, b) \
  PKG_CHECK_COMPARED_(a, b, #a " == " #b, ::pkg::framework::internal::equal(x, y))
#define CHECK_NE(a, b) \
  PKG_CHECK_COMPARED_(a, b, #a " != " #b, !::pkg::framework::internal::equal(x, y))
#define CHECK_LT(a, b) \
  PKG_CHECK_COMPARED_(a, b, #a " < " #b, ::pkg::framework::internal::order(x, y) < 0)
#define CHECK_LE(a, b) \
  PKG_CHECK_COMPARED_(a, b, #a " <= " #b, ::pkg::framework::internal::order(x, y) <= 0)
#define CHECK_GT(a, b) \
  PKG_CHECK_COMPARED_(a, b, #a " > " #b, ::pkg::framework::internal::order(x, y) > 0)
#define CHECK_GE(a, b) \
  PKG_CHECK_COMPARED_(a, b, #a " >= " #b, ::pkg::framework::internal::order(x, y) >= 0)
#ifdef NDEBUG
#define PKG_DCHECKS_ false&&
#else
#define PKG_DCHECKS_
#endif
#define DCHECK(condition) CHECK(!(PKG_DCHECKS_ !(condition)))
#define DCHECK_EQ(a, b) DCHECK((a) == (b))
#define DCHECK_NE(a, b) DCHECK((a) != (b))
#define DCHECK_LT(a, b) DCHECK((a) < (b))
#define DCHECK_LE(a, b) DCHECK((a) <= (b))
#define DCHECK_GT(a, b) DCHECK((a) > (b))
#define DCHECK_GE(a, b) DCHECK((a) >= (b))
#endif

#ifndef CHECK_NOTNULL
#define CHECK_NOTNULL(pointer)                                                           \
  ::pkg::framework::internal::check_not_null(__FILE__, __LINE__, #pointer " != nullptr", \
                                             (pointer))
#endif

#ifndef LOG
#define PKG_LOG_INFO ::pkg::framework::internal::LogLine(__FILE__, __LINE__, false)
#define PKG_LOG_WARNING ::pkg::framework::internal::LogLine(__FILE__, __LINE__, true)
#define PKG_LOG_ERROR PKG_LOG_WARNING
#define PKG_LOG_FATAL ::pkg::framework::internal::CheckFailure(__FILE__, __LINE__, "")
#define LOG(severity) PKG_LOG_##severity.stream()
#define VLOG(level) PKG_LOG_INFO.stream()
#define VLOG_IS_ON(level) false
#endif

#ifndef TF_CHECK_OK
#define TF_CHECK_OK(...)                                                                 \
  if (const ::pkg::framework::Status pkg_status_ = (__VA_ARGS__); pkg_status_.ok()) {    \
  } else                                                                                 \
    ::pkg::framework::internal::CheckFailure(__FILE__, __LINE__, pkg_status_.ToString()) \
        .stream()
#define TF_RETURN_IF_ERROR(...) PKG_RETURN_IF_ERROR(__VA_ARGS__)
#define TF_RETURN_WITH_CONTEXT_IF_ERROR(status, ...)                                   \
  do {                                                                                 \
    const ::pkg::framework::Status pkg_status_ = (status);                             \
    if (__builtin_expect(!pkg_status_.ok(), 0)) {                                      \
      return ::pkg::framework::Status(                                                 \
          pkg_status_.code(), ::pkg::str(pkg_status_.message(), "\n\t", __VA_ARGS__)); \
    }                                                                                  \
  } while (0)
#define TF_PREDICT_FALSE(x) (__builtin_expect(!!(x), 0))
#define TF_PREDICT_TRUE(x) (__builtin_expect(!!(x), 1))
#define TF_DISALLOW_COPY_AND_ASSIGN(Class) \
  Class(const Class&) = delete;            \
  void operator=(const Class&) = delete
#define TF_ATTRIBUTE_UNUSED [[maybe_unused]]
#define TF_MUST_USE_RESULT [[nodiscard]]
#define TF_GUARDED_BY(x)
#define TF_EXCLUSIVE_LOCKS_REQUIRED(...)
#define TF_LOCKS_EXCLUDED(...)
#endif

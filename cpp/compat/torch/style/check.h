// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/check.h: PyTorch's check macros.  A failed one throws an error of the
// core; its text has the condition and the place beside what the caller says.
#pragma once

#include <iostream>
#include <sstream>

#include "base/error.h"

namespace at::detail {

template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream out;
  ((out << parts), ...);
  return out.str();
}

template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void check_failed(const char* condition,
                                                         const char* where,
                                                         const Parts&... parts) {
  std::string text = join(parts...);
  if (!text.empty() && !text.ends_with('.')) text += '.';
  throw E((text.empty() ? "" : text + " ") + "Expected " + condition +
          " to be true, but got false (at " + where + ").");
}

}  // namespace at::detail

namespace c10 {
/// What TORCH_CHECK throws, and what sources catch.
using Error = ::pkg::RuntimeError;
using IndexError = ::pkg::IndexError;
using ValueError = ::pkg::ValueError;
using TypeError = ::pkg::TypeError;
using NotImplementedError = ::pkg::NotImplementedError;
}  // namespace c10

#define PKG_TORCH_STR_(x) #x
#define PKG_TORCH_STR(x) PKG_TORCH_STR_(x)
#define PKG_TORCH_WHERE_ __FILE__ ":" PKG_TORCH_STR(__LINE__)
#define PKG_TORCH_CHECK_(Class, condition, ...)                     \
  do {                                                              \
    if (__builtin_expect(!(condition), 0))                          \
      ::at::detail::check_failed<::pkg::Class>(                     \
          #condition, PKG_TORCH_WHERE_ __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)

#define TORCH_CHECK(condition, ...) \
  PKG_TORCH_CHECK_(RuntimeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  PKG_TORCH_CHECK_(ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  PKG_TORCH_CHECK_(IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  PKG_TORCH_CHECK_(TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  PKG_TORCH_CHECK_(NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) \
  PKG_TORCH_CHECK_(InternalError, condition,  \
                   "INTERNAL ASSERT FAILED" __VA_OPT__(, ": ", ) __VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  do {                                        \
  } while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define TORCH_WARN(...)                                                     \
  (::std::cerr << "Warning: " << ::at::detail::join(__VA_ARGS__) << " (at " \
               << PKG_TORCH_WHERE_ << ")\n")
#define AT_ERROR(...) \
  throw ::pkg::RuntimeError(::at::detail::join(__VA_ARGS__) + " (at " PKG_TORCH_WHERE_ ")")
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_INTERNAL_ASSERT(condition, __VA_ARGS__)
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#define C10_UNUSED [[maybe_unused]]

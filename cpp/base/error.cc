// SPDX-License-Identifier: Apache-2.0
// base/error.cc: the cold half of checks.
#include "base/error.h"

namespace pkg {

Error::~Error() = default;

void Error::append(const std::string& text) {
  if (!settled_) message_ += text;
}

#define PKG_ERROR(Name)    \
  Name::~Name() = default; \
  template void detail::raise_text<Name>(std::initializer_list<TextPart>)
PKG_ERROR(ValueError);
PKG_ERROR(TypeError);
PKG_ERROR(IndexError);
PKG_ERROR(KeyError);
PKG_ERROR(LookupError);
PKG_ERROR(RuntimeError);
PKG_ERROR(NotImplementedError);
PKG_ERROR(OverflowError);
PKG_ERROR(BufferError);
PKG_ERROR(ImportError);
PKG_ERROR(OutOfMemoryError);
PKG_ERROR(CancelledError);
PKG_ERROR(InternalError);
#undef PKG_ERROR

void Error::rename(const std::string& op) {
  if (settled_) return;
  // The name of a Python exception class, which our errors lack, may come first.
  constexpr std::string_view kDivision = "ZeroDivisionError: ";
  const size_t begin = message_.starts_with(kDivision) ? kDivision.size() : 0;
  const size_t end = message_.find(']');
  if (message_.size() > begin && message_[begin] == '[' && end != std::string::npos) {
    message_.replace(begin + 1, end - begin - 1, op);
  }
}

void Error::claim(std::string_view op) {
  for (const std::string_view nobody : {"[op]", "[empty]", "[allocate]", "[_"}) {
    if (message_.starts_with(nobody)) return rename(std::string(op));
  }
}

std::string wrong_argument(std::string_view function, std::string_view parameter,
                           std::string_view expected, std::string_view got) {
  return str('[', function, "] expected ", expected, " for '", parameter, "', got ", got);
}

void detail::assert_failed(const char* condition, const char* file, int line) {
  throw InternalError(str("internal check failed: ", condition, " (", file, ":", line,
                          "). This is a bug in pkg, please report it."));
}

}  // namespace pkg

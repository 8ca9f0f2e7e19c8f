// SPDX-License-Identifier: Apache-2.0
// base/scalar.cc: text form of a Scalar, as Python writes the number.
#include "base/scalar.h"

#include <charconv>
#include <ostream>
#include <string_view>

namespace pkg {

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return out << (scalar.to<bool>() ? "True" : "False");
    case Scalar::Kind::Int: return out << scalar.to<int64_t>();
    case Scalar::Kind::Float: break;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, scalar.to<double>()).ptr;
  const std::string_view digits(text, size_t(end - text));
  out << digits;
  // "1" would read back as an integer.
  if (digits.find_first_of(".en") == digits.npos) out << ".0";
  return out;
}

}  // namespace pkg

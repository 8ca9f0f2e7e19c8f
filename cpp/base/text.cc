// SPDX-License-Identifier: Apache-2.0
// base/text.cc: how the parts of a text are printed.
#include "base/text.h"

#include <sstream>

namespace pkg {

void TextPart::print_text(std::ostream& out, const TextPart& part) {
  out << std::string_view(static_cast<const char*>(part.object_), part.size_);
}
void TextPart::print_bool(std::ostream& out, const TextPart& part) {
  out << (part.uint_ ? "true" : "false");
}
void TextPart::print_char(std::ostream& out, const TextPart& part) {
  out << char(part.int_);
}
void TextPart::print_int(std::ostream& out, const TextPart& part) { out << part.int_; }
void TextPart::print_uint(std::ostream& out, const TextPart& part) { out << part.uint_; }
void TextPart::print_double(std::ostream& out, const TextPart& part) { out << part.float_; }

std::string join(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  for (const TextPart& part : parts) out << part;
  return out.str();
}

}  // namespace pkg

// SPDX-License-Identifier: Apache-2.0
// base/json.h: texts as JSON has them.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace pkg {

/// In quotes, with escapes for what may not stand there as it is.
inline std::string json_quoted(std::string_view text) {
  std::string made = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      made += '\\';
      made += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
      made += code;
    } else {
      made += c;
    }
  }
  return made + '"';
}

}  // namespace pkg

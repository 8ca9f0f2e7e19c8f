// SPDX-License-Identifier: Apache-2.0
// framework/scanner.h: reads the small texts of the attr language from left to right.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pkg::framework {

class Scanner {
 public:
  /// `what` names the text in errors: "attr", "input".
  Scanner(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }
  bool done() {
    skip();
    return at_ == text_.size();
  }
  bool accept(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(pkg::str("'", token, "'"));
  }
  bool peek(char c) {
    skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  /// A letter, then letters, digits and underscores.
  std::string identifier(std::string_view expected) {
    skip();
    const size_t start = at_;
    const auto letter = [&](size_t i) {
      return i < text_.size() &&
             (std::isalpha(static_cast<unsigned char>(text_[i])) || text_[i] == '_');
    };
    const auto digit = [&](size_t i) {
      return i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i]));
    };
    if (letter(at_)) {
      while (letter(at_) || digit(at_)) ++at_;
    }
    if (at_ == start) fail(expected);
    return std::string(text_.substr(start, at_ - start));
  }
  bool try_identifier(std::string* word) {
    skip();
    if (at_ == text_.size() ||
        (!std::isalpha(static_cast<unsigned char>(text_[at_])) && text_[at_] != '_')) {
      return false;
    }
    *word = identifier("a word");
    return true;
  }
  /// 'text' or "text", with backslash escapes.
  std::string quoted() {
    skip();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) fail("a string");
    const char quote = text_[at_++];
    std::string found;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const char c = text_[++at_];
        found += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      } else {
        found += text_[at_];
      }
      ++at_;
    }
    if (at_ == text_.size()) fail("the end of the string");
    ++at_;
    return found;
  }
  /// Up to one of the characters, brackets within balanced, spaces at the end left out.
  std::string until(std::string_view ends) {
    skip();
    const size_t start = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && ends.find(c) != ends.npos) break;
      if (c == '{' || c == '[' || c == '(') ++depth;
      if (c == '}' || c == ']' || c == ')') --depth;
      if (depth < 0) break;
    }
    size_t end = at_;
    while (end > start && std::isspace(static_cast<unsigned char>(text_[end - 1]))) --end;
    return std::string(text_.substr(start, end - start));
  }
  std::string rest() { return until(""); }

  [[noreturn]] void fail(std::string_view expected) const {
    pkg::detail::raise<ValueError>("[REGISTER_OP] expected ", expected, " in the ", what_,
                                   ":\n", text_, "\n", std::string(at_, ' '),
                                   "^ <--- HERE");
  }

 private:
  std::string what_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace pkg::framework

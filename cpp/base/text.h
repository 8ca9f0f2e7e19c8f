// SPDX-License-Identifier: Apache-2.0
// base/text.h: texts joined from parts of any type.
//
// A check that does not fail costs its caller a few bytes of code: it only notes where the
// parts are, and one function for all checks prints them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

namespace pkg {

/// A value and how it is printed; it does not own what it points to.
class TextPart {
 public:
  TextPart(const char* text) : TextPart(std::string_view(text ? text : "")) {}
  TextPart(const std::string& text) : TextPart(std::string_view(text)) {}
  TextPart(std::string_view text)
      : print_(&print_text), object_(text.data()), size_(text.size()) {}
  TextPart(bool value) : print_(&print_bool), uint_(value) {}
  TextPart(char value) : print_(&print_char), int_(value) {}
  TextPart(signed char value) : TextPart(char(value)) {}
  TextPart(unsigned char value) : TextPart(char(value)) {}
  TextPart(int value) : TextPart((long long)value) {}
  TextPart(unsigned value) : TextPart((unsigned long long)value) {}
  TextPart(long value) : TextPart((long long)value) {}
  TextPart(unsigned long value) : TextPart((unsigned long long)value) {}
  TextPart(long long value) : print_(&print_int), int_(value) {}
  TextPart(unsigned long long value) : print_(&print_uint), uint_(value) {}
  TextPart(double value) : print_(&print_double), float_(value) {}
  /// Whatever has an operator<<.
  template <class T>
    requires(!std::is_arithmetic_v<T> && !std::is_convertible_v<const T&, std::string_view>)
  TextPart(const T& value)
      : print_([](std::ostream& out, const TextPart& part) {
          out << *static_cast<const T*>(part.object_);
        }),
        object_(&value) {}

  friend std::ostream& operator<<(std::ostream& out, const TextPart& part) {
    part.print_(out, part);
    return out;
  }

 private:
  using Print = void (*)(std::ostream&, const TextPart&);
  static void print_text(std::ostream& out, const TextPart& part);
  static void print_bool(std::ostream& out, const TextPart& part);
  static void print_char(std::ostream& out, const TextPart& part);
  static void print_int(std::ostream& out, const TextPart& part);
  static void print_uint(std::ostream& out, const TextPart& part);
  static void print_double(std::ostream& out, const TextPart& part);

  Print print_;
  union {
    const void* object_;
    long long int_;
    unsigned long long uint_;
    double float_;
  };
  size_t size_ = 0;
};

std::string join(std::initializer_list<TextPart> parts);

/// Joins the parts as text: str("got ", 3) == "got 3".
template <class... Parts>
std::string str(const Parts&... parts) {
  return join({TextPart(parts)...});
}

}  // namespace pkg

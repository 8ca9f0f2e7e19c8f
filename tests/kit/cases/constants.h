// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/constants.h: enums of every kind, flags, constants, global variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define CONSTANTS_ANSWER 42
#define CONSTANTS_NAME "constants"

namespace constants {

// --- enums ----------------------------------------------------------------------------------

/// Colours of light.
enum class Color : uint8_t { Red = 1, Green = 2, Blue = 4 };
enum Weekday { Monday, Tuesday, Sunday = 6 };
enum class Level : int { Low = -1, Middle, High = Middle + 5 };
enum class Big : uint64_t { Zero = 0, Top = 0xffffffffffffffffu };
enum class Small : int64_t { Bottom = INT64_MIN };
/// Two names of one value.
enum class Side { Left, Right, Default = Left };

inline Color next(Color color) {
  return color == Color::Red     ? Color::Green
         : color == Color::Green ? Color::Blue
                                 : Color::Red;
}
inline int number_of(Color color) { return int(color); }
inline Color no_color() { return Color(9); }
inline Weekday day_after(Weekday day) {
  return day == Monday ? Tuesday : day == Tuesday ? Sunday : Monday;
}
inline Level raised(Level level) {
  return level == Level::Low ? Level::Middle : Level::High;
}
inline Big same_big(Big value) { return value; }
inline Small same_small(Small value) { return value; }
inline Side other_side(Side side = Side::Default) {
  return side == Side::Left ? Side::Right : Side::Left;
}

inline std::vector<Color> all_colors() { return {Color::Red, Color::Green, Color::Blue}; }
inline std::map<Color, std::string> names(const std::vector<Color>& colors) {
  std::map<Color, std::string> result;
  for (const Color color : colors) result[color] = "color " + std::to_string(int(color));
  return result;
}
inline std::optional<Color> color_of(const std::string& name) {
  if (name == "red") return Color::Red;
  return std::nullopt;
}
inline std::string kind(Color) { return "Color"; }
inline std::string kind(Level) { return "Level"; }
inline std::string kind(int) { return "int"; }

/// With enums of its own.
class Lamp {
 public:
  enum class State { Off, On };
  enum Shape { Round, Square };
  static constexpr int kMaxWatts = 60;
  static const int kMinWatts = 5;  // no object, as C++ before 17 had it
  Color color = Color::Red;
  explicit Lamp(State state = State::Off) : state_(state) {}
  State state() const { return state_; }
  void turn(State state) { state_ = state; }
  Shape shape() const { return Square; }

 private:
  State state_;
};

/// How a file is opened.
enum class Mode : uint32_t { None = 0, Read = 1, Write = 2, Append = 8 };
inline Mode operator|(Mode a, Mode b) { return Mode(uint32_t(a) | uint32_t(b)); }
inline bool may_read(Mode mode) { return uint32_t(mode) & uint32_t(Mode::Read); }
inline Mode with_write(Mode mode) { return mode | Mode::Write; }

// --- constants and variables ------------------------------------------------------------------

constexpr int kLimit = 100;
constexpr double kHalf = 0.5;
constexpr int64_t kMask = (int64_t(1) << 40) | kLimit;
constexpr bool kReady = true;
constexpr const char* kVersion = "1.2";

inline int64_t hits = 3;
inline double rate = 0.25;
inline std::string title = "untitled";
inline Color favourite = Color::Green;
inline std::vector<int> history = {1, 2};
inline int64_t hit() { return ++hits; }

// --- variables of all kinds -----------------------------------------------------------------

struct Spot {
  int x = 1;
};
inline int counter = 3;
inline int& counter_too = counter;
inline std::string caption = "t";
inline const std::string& caption_too = caption;
inline Spot spot;
inline Spot& spot_too = spot;
inline Spot* spot_at = &spot;
inline Spot* const spot_fixed = &spot;
inline void* address = nullptr;
inline int* number_at = &counter;
inline int row[3] = {1, 2, 3};
inline double square[2][2] = {{1, 2}, {3, 4}};
inline char word[8] = "word";
inline volatile int changing = 6;
inline const wchar_t* wide_word = L"wide";
struct Place {
  static inline int row[3] = {1, 2, 3};
  static inline const int fixed[2] = {4, 5};
  static inline Spot* at = nullptr;
  static inline Spot own;
  Spot* part = nullptr;
  const char* names[2] = {"x", nullptr};
  volatile int changing = 3;
};

// --- enums without a name -------------------------------------------------------------------

enum { kFirst = 1, kLetter = 'c', kHigh = 1u << 31 };
struct Signal {
  enum { kKey, kMouse = 'm' } type = kMouse;
  enum { kMost = 4 };
};
template <class T>
struct Sized {
  enum { kBytes = sizeof(T) };
};

// --- texts of other characters --------------------------------------------------------------

inline std::u32string louder(std::u32string_view text) {
  return std::u32string(text) + U"!";
}
inline int units(const char16_t* text = nullptr) {
  return text ? int(std::u16string_view(text).size()) : -1;
}
inline int bytes_of(const char8_t* text) { return int(std::u8string_view(text).size()); }
inline std::byte byte_after(std::byte value) { return std::byte(unsigned(value) + 1); }

}  // namespace constants

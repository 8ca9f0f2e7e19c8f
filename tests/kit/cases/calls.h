// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/calls.h: overloads, default arguments, names of arguments, comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace calls {

/// A box with a width and a height.
class Box {
 public:
  Box() = default;
  /// A square.
  explicit Box(int side) : width_(side), height_(side) {}
  Box(int width, int height) : width_(width), height_(height) {}
  explicit Box(const std::string& text) : width_(int(text.size())), height_(1) {}
  /// Width times height.
  int area() const { return width_ * height_; }
  /// Makes it larger in both directions.
  void grow(int by) { grow(by, by); }
  void grow(int width, int height) {
    width_ += width;
    height_ += height;
  }
  /// Whether it is at least as large.
  bool holds(const Box& other, bool turned = false) const {
    if (turned) return width_ >= other.height_ && height_ >= other.width_;
    return width_ >= other.width_ && height_ >= other.height_;
  }
  bool holds(int width) const { return width_ >= width; }

 private:
  int width_ = 0;
  int height_ = 0;
};

struct Circle {
  double radius = 1;
  explicit Circle(double radius = 1) : radius(radius) {}
};

// --- overloads ------------------------------------------------------------------------------

inline std::string kind(bool) { return "bool"; }
inline std::string kind(int64_t) { return "int"; }
inline std::string kind(double) { return "double"; }
inline std::string kind(const std::string&) { return "string"; }
inline std::string kind(const std::vector<double>&) { return "vector"; }
inline std::string kind(const Box&) { return "Box"; }
inline std::string kind(const Circle&) { return "Circle"; }

/// The one without a number for it is not there: others are converted.
inline std::string near(double) { return "double"; }
/// A bool is nearer to an int, as in Python and C++.
inline std::string nearer(float) { return "float"; }
inline std::string nearer(int) { return "int"; }
inline std::string near(const std::string&) { return "string"; }

inline std::string empty(const Box* box = nullptr) { return box ? "Box" : "no Box"; }
inline std::string empty(const std::string&) { return "string"; }

inline std::string many(const std::vector<int64_t>&) { return "ints"; }
inline std::string many(const std::vector<std::string>&) { return "strings"; }
inline std::string many(const std::vector<Box>&) { return "boxes"; }

inline double area(double side) { return side * side; }
inline double area(double width, double height) { return width * height; }
inline double area(const Circle& circle) { return 3 * circle.radius * circle.radius; }

/// A number of NumPy's is a number, though it has memory to look at.
inline std::string one_or_many(std::span<const double>) { return "many"; }
inline std::string one_or_many(double) { return "one"; }
/// From the end, where it is less than 0.
inline int place(std::ptrdiff_t at, std::size_t of) { return int(at < 0 ? at + of : at); }

// --- default arguments ----------------------------------------------------------------------

/**
 * Joins words.
 *
 * The last one may have another text before it.
 */
inline std::string join(const std::vector<std::string>& words,
                        const std::string& between = ", ",
                        const std::optional<std::string>& last = std::nullopt) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i) result += i + 1 == words.size() && last ? *last : between;
    result += words[i];
  }
  return result;
}
/// All kinds of defaults.
inline std::string defaults(int a, int64_t b = -2, double c = 1.5, bool d = true,
                            const std::string& e = "e", const std::vector<int>& f = {1, 2},
                            const Box& g = Box(2, 3), const Box* h = nullptr) {
  return std::to_string(a) + " " + std::to_string(b) + " " +
         std::to_string(c).substr(0, 3) + (d ? " true " : " false ") + e + " " +
         std::to_string(f.size()) + " " + std::to_string(g.area()) + " " +
         std::to_string(h ? h->area() : -1);
}
inline constexpr int kThree = 3;
inline int times(int a, int b = 2 * kThree + 1) { return a * b; }

// --- names ----------------------------------------------------------------------------------

/// The sum of both.
inline int add(int first, int second) { return first + second; }
/// Names that are words of Python.
inline int span(int from, int to) { return to - from; }
inline int unnamed(int, int b) { return b; }
inline int none_at_all() { return 1; }

}  // namespace calls

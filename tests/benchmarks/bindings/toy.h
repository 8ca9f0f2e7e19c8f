// SPDX-License-Identifier: Apache-2.0
// toy.h: the one small surface that compare.py binds in every way.  Each function
// stands for a kind of call; the bodies do as little as they can, so that the call is
// measured.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace toy {

/// Sum of two numbers.
inline double add(double a, double b) { return a + b; }

/// `n` times two.
inline int twice(int n) { return 2 * n; }

/// `value`, but not below `low` nor above `high`.
inline double clamp(double value, double low = 0.0, double high = 1.0) {
  return value < low ? low : value > high ? high : value;
}

/// A greeting.
inline std::string greet(const std::string& name) { return "Hello, " + name; }

/// Each value times `by`.
inline std::vector<double> scaled(const std::vector<double>& values, double by) {
  std::vector<double> result(values);
  for (double& v : result) v *= by;
  return result;
}

/// `a` divided by `b`; throws std::invalid_argument when `b` is zero.
inline double divide(double a, double b) {
  if (b == 0.0) throw std::invalid_argument("[divide] expected b != 0, got 0");
  return a / b;
}

/// `f(x)`, where `f` comes from Python.
inline double apply(const std::function<double(double)>& f, double x) { return f(x); }

/// A point of the plane.
class Point {
 public:
  Point(double x, double y) : x(x), y(y) {}
  /// Square of the distance from the origin.
  double norm2() const { return x * x + y * y; }
  /// Scalar product.
  double dot(const Point& other) const { return x * other.x + y * other.y; }
  /// Moves the point in place.
  void move(double dx, double dy) {
    x += dx;
    y += dy;
  }
  Point operator+(const Point& other) const { return {x + other.x, y + other.y}; }
  bool operator==(const Point& other) const { return x == other.x && y == other.y; }

  double x;
  double y;
};

}  // namespace toy

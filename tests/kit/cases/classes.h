// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/classes.h: members, properties, statics, nested classes, templates,
// copies and pickles.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace classes {

/// A member of each kind of number.
struct Numbers {
  int8_t i8 = -1;
  int16_t i16 = -1;
  int32_t i32 = -1;
  int64_t i64 = -1;
  uint8_t u8 = 1;
  uint16_t u16 = 1;
  uint32_t u32 = 1;
  uint64_t u64 = 1;
  float f32 = 0.5f;
  double f64 = 0.5;
  bool flag = true;
  std::string text = "text";
  const int fixed = 7;
};

/// Copied, compared and pickled.
struct Point {
  double x = 0;
  double y = 0;
  Point(double x = 0, double y = 0) : x(x), y(y) {}
  double get_length() const { return std::sqrt(x * x + y * y); }
  void set_length(double length) {
    if (length < 0) throw std::invalid_argument("expected 0 or more");
    const double by = get_length() ? length / get_length() : 0;
    x *= by;
    y *= by;
  }
  double get_sum() const { return x + y; }
};
inline bool operator==(const Point& a, const Point& b) { return a.x == b.x && a.y == b.y; }
inline std::vector<double> to_state(const Point& point) { return {point.x, point.y}; }
inline Point from_state(const std::vector<double>& state) {
  return {state.at(0), state.at(1)};
}
inline double length_of(const Point& point) { return point.get_length(); }

/// Whose method that makes one of a state is called by a word of Python's.
struct Seed {
  int grown = 0;
  int state() const { return grown; }
  static Seed from(int grown) { return {grown}; }
};
/// With a class as member, and a method pair that pickles.
class Line {
 public:
  Point start;
  Point end;
  Line(const Point& start, const Point& end) : start(start), end(end) {}
  double length() const { return Point(end.x - start.x, end.y - start.y).get_length(); }
  std::map<std::string, double> state() const {
    return {{"a", start.x}, {"b", start.y}, {"c", end.x}, {"d", end.y}};
  }
  static Line restored(const std::map<std::string, double>& state) {
    return {{state.at("a"), state.at("b")}, {state.at("c"), state.at("d")}};
  }
};

/// Counts how many there are.
class Counter {
 public:
  static inline int64_t alive = 0;
  static inline std::string label = "counter";
  static constexpr double kStep = 0.5;
  explicit Counter(int64_t start) : value_(start) {
    if (start < 0) throw std::invalid_argument("[Counter] expected 0 or more");
    ++alive;
  }
  Counter(const Counter& other) : value_(other.value_) { ++alive; }
  ~Counter() { --alive; }
  Counter& operator=(const Counter&) = default;
  int64_t next() { return ++value_; }
  int64_t value() const { return value_; }
  static int64_t sum(const Counter& a, const Counter& b) { return a.value_ + b.value_; }
  static Counter from_text(const std::string& text) {
    return Counter(int64_t(text.size()));
  }

 private:
  int64_t value_;
};

/// Neither copied nor moved.
class Fixed {
 public:
  int value = 1;
  Fixed() = default;
  Fixed(const Fixed&) = delete;
  Fixed& operator=(const Fixed&) = delete;
  Fixed& add(int by) {
    value += by;
    return *this;
  }
};

/// No constructor for users.
class Hidden {
 public:
  static Hidden make(int value) { return Hidden(value); }
  int value() const { return value_; }

 private:
  explicit Hidden(int value) : value_(value) {}
  int value_;
};

class Tree {
 public:
  /// One of a tree's.
  class Leaf {
   public:
    struct Vein {
      int width = 2;
    };
    std::string color = "green";
    Vein vein;
  };
  void add(const Leaf& leaf) { leaves_.push_back(leaf); }
  const std::vector<Leaf>& leaves() const { return leaves_; }

 private:
  std::vector<Leaf> leaves_;
};

template <class T>
class Stack {
 public:
  void push(const T& value) { values_.push_back(value); }
  T pop() {
    if (values_.empty()) throw std::out_of_range("the stack is empty");
    T value = values_.back();
    values_.pop_back();
    return value;
  }
  int size() const { return int(values_.size()); }

 private:
  std::vector<T> values_;
};
inline int sizes(const Stack<int>& a, const Stack<Point>& b) { return a.size() + b.size(); }

template <class T>
T larger(const T& a, const T& b) {
  return a < b ? b : a;
}

}  // namespace classes

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/operators.h: operators, and the slots of Python that have none in C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace operators {

/// Arithmetic, in place and not, with numbers on either side.
class Vec {
 public:
  double x = 0;
  double y = 0;
  Vec(double x, double y) : x(x), y(y) {}
  Vec operator+(const Vec& other) const { return {x + other.x, y + other.y}; }
  Vec operator-(const Vec& other) const { return {x - other.x, y - other.y}; }
  Vec operator-() const { return {-x, -y}; }
  Vec operator*(double by) const { return {x * by, y * by}; }
  /// The scalar product.
  double operator*(const Vec& other) const { return x * other.x + y * other.y; }
  Vec operator/(double by) const {
    if (by == 0) throw std::domain_error("division by zero");
    return {x / by, y / by};
  }
  Vec& operator+=(const Vec& other) {
    x += other.x;
    y += other.y;
    return *this;
  }
  Vec& operator*=(double by) {
    x *= by;
    y *= by;
    return *this;
  }
  bool operator==(const Vec& other) const { return x == other.x && y == other.y; }
  bool operator!=(const Vec& other) const { return !(*this == other); }
  explicit operator bool() const { return x != 0 || y != 0; }
};
inline Vec operator*(double by, const Vec& vec) { return vec * by; }
inline Vec operator-(double from, const Vec& vec) { return {from - vec.x, from - vec.y}; }

/// The operators of whole numbers.
class Bits {
 public:
  explicit Bits(int64_t value) : value_(value) {}
  int64_t value() const { return value_; }
  Bits operator&(const Bits& other) const { return Bits(value_ & other.value_); }
  Bits operator|(const Bits& other) const { return Bits(value_ | other.value_); }
  Bits operator^(const Bits& other) const { return Bits(value_ ^ other.value_); }
  Bits operator~() const { return Bits(~value_); }
  Bits operator<<(int by) const { return Bits(value_ << by); }
  Bits operator>>(int by) const { return Bits(value_ >> by); }
  Bits operator%(int64_t by) const { return Bits(value_ % by); }
  Bits operator+() const { return Bits(value_ < 0 ? -value_ : value_); }
  Bits& operator|=(const Bits& other) {
    value_ |= other.value_;
    return *this;
  }
  Bits& operator<<=(int by) {
    value_ <<= by;
    return *this;
  }

 private:
  int64_t value_;
};

/// Ordered, and a key of sets.
class Version {
 public:
  Version(int major, int minor) : major_(major), minor_(minor) {}
  bool operator==(const Version& other) const { return code() == other.code(); }
  bool operator!=(const Version& other) const { return code() != other.code(); }
  bool operator<(const Version& other) const { return code() < other.code(); }
  bool operator<=(const Version& other) const { return code() <= other.code(); }
  bool operator>(const Version& other) const { return code() > other.code(); }
  bool operator>=(const Version& other) const { return code() >= other.code(); }
  std::string text() const { return std::to_string(major_) + "." + std::to_string(minor_); }
  int64_t code() const { return major_ * 1000 + minor_; }

 private:
  int major_;
  int minor_;
};
inline size_t hash_of(const Version& version) { return size_t(version.code()); }

/// Called, with and without overloads.
struct Linear {
  double a = 1;
  double b = 0;
  Linear(double a, double b) : a(a), b(b) {}
  double operator()(double x) const { return a * x + b; }
  std::vector<double> operator()(const std::vector<double>& xs) const {
    std::vector<double> result;
    for (const double x : xs) result.push_back((*this)(x));
    return result;
  }
};

/// A sequence: indices count from the end, too.
class Row {
 public:
  explicit Row(const std::vector<int>& values) : values_(values) {}
  int at(int64_t i) const { return values_.at(index(i)); }
  void set(int64_t i, int value) { values_.at(index(i)) = value; }
  size_t size() const { return values_.size(); }
  bool holds(int value) const {
    for (const int one : values_) {
      if (one == value) return true;
    }
    return false;
  }
  std::string text() const { return "Row of " + std::to_string(values_.size()); }

 private:
  size_t index(int64_t i) const {
    const int64_t n = int64_t(values_.size());
    if (i < -n || i >= n) throw std::out_of_range("index " + std::to_string(i));
    return size_t(i < 0 ? i + n : i);
  }
  std::vector<int> values_;
};

/// By name.
class Table {
 public:
  double& operator[](const std::string& name) { return values_[name]; }
  double get(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::out_of_range(name);
    return found->second;
  }
  void erase(const std::string& name) { values_.erase(name); }
  size_t size() const { return values_.size(); }

 private:
  std::map<std::string, double> values_;
};

/// Items of two kinds that C++ gives references to.
class Shelf {
 public:
  double& operator[](size_t i) { return numbers_.at(i); }
  const double& operator[](size_t i) const { return numbers_.at(i); }
  std::string& operator[](const std::string& name) { return texts_[name]; }
  size_t count() const { return texts_.size(); }

 private:
  std::vector<double> numbers_ = {1, 2, 3};
  std::map<std::string, std::string> texts_;
};
class Path {
 public:
  Vec& operator[](int value) { return points_.at(size_t(value)); }

 private:
  std::vector<Vec> points_ = {Vec(0, 0), Vec(0, 0)};
};
/// Of which C++ has a comma of its own.
struct Listed {
  int number = 1;
  Listed operator,(const Listed&) const { return *this; }
};
struct Holder {
  Listed listed;
};
/// Python only reads it.
class Fixed {
 public:
  const int& operator[](int i) const { return numbers_.at(size_t(i)); }

 private:
  std::vector<int> numbers_ = {7, 8};
};

/// Is printed, as are those derived from it.
struct Label {
  std::string text = "a";
  Label pow(int n) const { return {text + "^" + std::to_string(n)}; }
};
struct Wide : Label {};
inline std::ostream& operator<<(std::ostream& out, const Label& label) {
  if (label.text.empty()) throw std::invalid_argument("no text");
  return out << "[" << label.text << "]";
}
template <class T>
struct Pair {
  T first{}, second{};
};
template <class T>
std::ostream& operator<<(std::ostream& out, const Pair<T>& pair) {
  return out << pair.first << " and " << pair.second;
}

/// Ends the loop over a Countdown.
struct Done : std::runtime_error {
  Done() : std::runtime_error("done") {}
};
class Countdown {
 public:
  explicit Countdown(int from) : left_(from) {}
  int next() {
    if (left_ == 0) throw Done();
    return left_--;
  }

 private:
  int left_;
};

/// Opened and closed.
class Door {
 public:
  bool open = false;
  void enter() { open = true; }
  void leave() { open = false; }
};

}  // namespace operators

/// The same sign in another namespace, and as a friend.
namespace OTHER {  // in capitals, as SWIG joins names
struct Sum {
  int n = 1;
};
inline Sum operator+(const Sum& a, const Sum& b) { return {a.n + b.n}; }
class Difference {
 public:
  int n = 5;
  friend Difference operator-(const Difference& a, int b) { return Difference{a.n - b}; }
};
}  // namespace OTHER
inline operators::Label operator|(const operators::Label& a, const operators::Label& b) {
  return {a.text + "|" + b.text};
}

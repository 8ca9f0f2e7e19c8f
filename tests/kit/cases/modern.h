// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/modern.h: what stands in headers of C++ beyond plain declarations.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace modern {

class Widget;
enum class Kind : int;
static_assert(sizeof(int) == 4, "the cases are for four bytes");

// --- namespaces and names for types -----------------------------------------------------------

inline namespace v1 {
[[nodiscard]] inline int versioned() noexcept { return 1; }
}  // namespace v1
namespace left {
struct Same {
  int side() const { return -1; }
};
}  // namespace left
namespace right {
struct Same {
  int side() const { return 1; }
};
inline int side_of(const Same& same, const left::Same& other) {
  return same.side() + 10 * other.side();
}
}  // namespace right

enum class Kind : int { One = 1, Two };
using Names = std::vector<std::string>;
typedef std::map<std::string, int> Counts;
template <class T>
using List = std::vector<T>;
inline Names names(const Counts& counts) {
  Names result;
  for (const auto& [name, count] : counts) result.push_back(name);
  return result;
}
inline List<int> doubled(List<int> values) {
  for (int& value : values) value *= 2;
  return values;
}
inline auto listed(int value) -> std::vector<int> { return {value}; }
inline std::string moved(std::string&& text) { return std::move(text); }
inline int total(const std::vector<int>& values = {}, Kind kind = Kind::Two) {
  int sum = static_cast<int>(kind);
  for (const int value : values) sum += value;
  return sum;
}

// --- classes --------------------------------------------------------------------------------

/// No default constructor; its operators are friends.
class Size final {
 public:
  constexpr Size(int width, int height) noexcept : width_{width}, height_{height} {}
  Size(const Size&) = default;
  Size(Size&&) noexcept = default;
  Size& operator=(const Size&) = default;
  ~Size() = default;
  [[nodiscard]] constexpr int width() const noexcept { return width_; }
  constexpr auto height() const -> int { return height_; }
  static constexpr Size unit() { return {1, 1}; }
  friend bool operator==(const Size& a, const Size& b) {
    return a.width_ == b.width_ && a.height_ == b.height_;
  }
  friend Size operator+(const Size& a, const Size& b) {
    return {a.width_ + b.width_, a.height_ + b.height_};
  }
  friend Size operator*(int by, const Size& size) {
    return {by * size.width_, by * size.height_};
  }

 private:
  int width_;
  int height_;
};
inline std::map<std::string, Size> sizes() { return {{"a", Size(1, 2)}}; }
inline std::pair<Size, std::optional<Size>> pair() { return {Size(1, 2), std::nullopt}; }
inline int area(Size size = {2, 3}) { return size.width() * size.height(); }
inline int areas(std::array<Size, 2> both) { return area(both[0]) + area(both[1]); }

class Base {
 public:
  explicit Base(int value) : value_(value) {}
  Base(int a, int b) : value_(a + b) {}
  virtual ~Base() = default;
  int value() const { return value_; }
  std::string over(int) const { return "int"; }
  virtual std::string who() const { return "base"; }

 protected:
  int value_;
};
/// Takes constructors and an overload from its base.
class Derived : public Base {
 public:
  using Base::Base;
  using Base::over;
  std::string over(const std::string&) const { return "string"; }
  std::string who() const final { return "derived"; }
};

/// Members of many kinds, methods for const and other objects, templates.
class Widget {
 public:
  std::function<int(int)> on_click;
  std::optional<Size> size;
  std::shared_ptr<Base> base;
  std::optional<std::string> title;
  Kind kind = Kind::One;
  Names names{"a", "b"};
  std::pair<int, std::string> pair{1, "x"};
  Widget() = default;
  Widget(const Widget&) = delete;
  Widget& operator=(const Widget&) = delete;
  int click(int x) const { return on_click ? on_click(x) : -1; }
  std::string& text() { return text_; }
  const std::string& text() const { return text_; }
  int constness() const { return 1; }
  int constness() { return 0; }  // which is called, though it is the second
  const Names& all() const& { return names; }
  template <class T>
  T to() const {
    return T(pair.first);
  }
  template <class... Args>
  size_t count(Args&&...) const {
    return sizeof...(Args);
  }

 private:
  std::string text_ = "text";
};
inline int call(const std::function<int(int)>& function = nullptr) {
  return function ? function(1) : -1;
}

template <class T, int N = 3>
struct Fixed {
  std::array<T, N> items{};
  static constexpr int size() { return N; }
};
inline double first(const Fixed<double>& fixed) { return fixed.items[0]; }

struct Outer {
  struct Inner;
  int x = 1;
};
struct Outer::Inner {
  int y = 2;
};
inline Outer::Inner make_inner() { return {}; }

/// Refers to another one, which C++ does not own.
struct Link {
  int value = 0;
  Link* next = nullptr;
};

/// Friends that are declared again outside.
class Secret {
  friend int reveal(const Secret& secret);
  friend Secret hide(int value);

 private:
  int value_ = 0;
};
int reveal(const Secret& secret);
Secret hide(int value);
inline int reveal(const Secret& secret) { return secret.value_; }
inline Secret hide(int value) {
  Secret secret;
  secret.value_ = value;
  return secret;
}

/// Plain values by reference, as templates take them.
inline double half(const double& value) { return value / 2; }
inline std::string kind(const int&) { return "int"; }
inline std::string kind(const std::string&) { return "text"; }
inline std::string kind(const std::vector<int>&) { return "list"; }
inline const int& same(const int& value) {
  static int kept;
  return kept = value;
}

/// A key may be there twice.
inline std::multimap<std::string, int> twice(const std::multimap<std::string, int>& map) {
  std::multimap<std::string, int> result = map;
  result.insert(map.begin(), map.end());
  return result;
}
inline std::multiset<int> sorted(const std::multiset<int>& values) { return values; }

/// Assignment means something else than making a copy; items have no end.
class Cell {
 public:
  explicit Cell(int value = 0) : value_(value) {}
  Cell(const Cell&) = default;
  Cell& operator=(const Cell&) { throw std::logic_error("a cell is not assigned"); }
  Cell next() const { return Cell(value_ + 1); }
  Cell operator[](int index) const { return Cell(value_ + index); }
  int size() const { return 3; }
  int value() const { return value_; }
  int reset(const Cell& to = Cell()) {
    value_ = to.value_;
    return value_;
  }

 private:
  int value_;
};

}  // namespace modern

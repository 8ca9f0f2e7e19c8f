// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/templates.h: templates as bases, instances with names, modern C++ that SWIG
// does not read, and lists of initial values.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace templates {

// --- bases, in the header of what is derived from them --------------------------------------

template <class T>
class Shape {
 public:
  virtual ~Shape() = default;
  virtual T area() const = 0;
  T twice() const { return 2 * area(); }
};

/// A square.
class Square final : public Shape<double> {
 public:
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  double side;
};
class Half : public Shape<double> {
 public:
  virtual double factor() const { return 0.5; }
};
inline double area_of(const Shape<double>& shape) { return shape.area(); }

/// Counts the objects of a class.
template <class Derived>
struct Counted {
  static inline int alive = 0;
  ~Counted() { --alive; }
  int number() const { return static_cast<const Derived*>(this)->no; }

 protected:
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
};
struct Thing : Counted<Thing> {
  int no = 4;
};
struct Other : public Counted<Other> {
  int no = 5;
};
template <class T>
struct Named : T {
  std::string name;
};
struct NamedThing : Named<Thing> {};
typedef Shape<int> IntShape;
struct Unit : IntShape {
  int area() const override { return 1; }
};

// --- instances ------------------------------------------------------------------------------

template <class T, template <class, class> class C = std::vector>
struct Holder {
  C<T, std::allocator<T>> items;
  void add(const T& item) { items.push_back(item); }
};
template <class T>
struct Trait {
  static int id() { return 0; }
  T zero() const { return T(); }
};
template <>
struct Trait<int> {
  static int id() { return 1; }
  int zero() const { return 100; }
};
template <class T>
struct Trait<T*> {
  static int id() { return 2; }
};
template <class... Ts>
struct Pack {
  static int count() { return int(sizeof...(Ts)); }
  std::tuple<Ts...> values{};
};
template <class... Ts>
int count_of(Ts...) {
  return int(sizeof...(Ts));
}
template <std::integral T>
T doubled(T x) {
  return 2 * x;
}
template <class T>
  requires std::floating_point<T>
T doubled(T x) {
  return 2 * x;
}
template <class T>
auto negated(T x) -> decltype(-x) {
  return -x;
}
template <class T>
struct Outer {
  struct Inner {
    T x;
  };
  Inner make(T x) const { return Inner{x}; }
};
using Numbers = std::vector<int>;
typedef Numbers Digits;
inline int total(const Digits& digits) {
  int sum = 0;
  for (int digit : digits) sum += digit;
  return sum;
}

// --- what SWIG does not read ----------------------------------------------------------------

constexpr long kMillion = 1'000'000;
constinit inline int started = 3;
constexpr bool kStrict = true;
struct Strict {
  int value;
  explicit(kStrict && sizeof(int) == 4) Strict(int value) : value(value) {}
  decltype(auto) reference() { return (value); }
};
const auto same = [](int a) -> int { return a; };
inline std::function<int(int)> rule = [](int x) {
  if (x) { return same(x); }
  return 7;
};
inline int ruled(int x, std::function<int(int)> by = [](int y) { return y + 1; }) {
  return by(x);
}
inline auto sum(int a, double b) -> decltype(a + b) { return a + b; }
inline int first(int* __restrict value) { return *value; }
struct Thrower {
  virtual ~Thrower() = default;
  virtual int plain(int x) throw() { return x; }
  virtual int quiet(int x) const noexcept { return x; }
};
inline int quiet_of(const Thrower& thrower, int x) { return thrower.quiet(x); }
inline int plain_of(Thrower& thrower, int x) { return thrower.plain(x); }

/// Its objects are not on the heap.
class Singleton {
 public:
  static Singleton& instance() {
    static Singleton made;
    return made;
  }
  int uses = 0;
  void* operator new(std::size_t) = delete;
};

// --- lists of initial values ----------------------------------------------------------------

struct Bag {
  std::vector<int> items;
  Bag() = default;
  Bag(std::initializer_list<int> items) : items(items) {}
  Bag(int a, int b) : items{a, b} {}
};
inline std::string joined(const std::initializer_list<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}
inline int numbers_of(std::initializer_list<Thing> things) {
  int sum = 0;
  for (const Thing& thing : things) sum += thing.no;
  return sum;
}

// --- private methods that are to be overridden ----------------------------------------------

struct Recipe {
  virtual ~Recipe() = default;
  std::string cook(int portions) const {
    return "with " + ingredients(portions) + " on " + std::to_string(heat({portions, 2}));
  }

 private:
  virtual std::string ingredients(int portions) const = 0;
  virtual int heat(std::pair<int, int> of) const noexcept(false) = 0;
};

}  // namespace templates

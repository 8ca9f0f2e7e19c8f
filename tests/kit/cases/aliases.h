// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/aliases.h: one type by several names: operators, base classes, functions, and
// names that only their class may say.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

// --- operators of classes that are named by an alias ---------------------------------------
template <class T, int size>
struct Vector {
  T first{};
};
namespace aliases {
struct Plain {
  int v;
  explicit Plain(int value = 0) : v(value) {}
};
typedef Plain Named;
using Given = const Plain&;
using Out = std::ostream;
inline Named operator+(const Named& a, const Named& b) { return Named(a.v + b.v); }
inline Plain operator-(Given a, Given b) { return Plain(a.v - b.v); }
inline bool operator==(Given a, Given b) { return a.v == b.v; }
inline Named operator*(double by, const Named& a) { return Named(int(by * a.v)); }
inline Out& operator<<(Out& out, const Named& a) { return out << "P" << a.v; }

struct Expression {
  double v;
  explicit Expression(double value = 0) : v(value) {}
};
using Share = std::shared_ptr<const Expression>;
inline Share operator+(const Share& a, const Share& b) {
  return std::make_shared<Expression>(a->v + b->v);
}
inline Share operator*(Share a, double by) {
  return std::make_shared<Expression>(a->v * by);
}
inline Share operator-(const Share& a) { return std::make_shared<Expression>(-a->v); }

using Vector3 = Vector<double, 3>;
inline Vector3 operator+(const Vector3& a, const Vector3& b) { return {a.first + b.first}; }
inline bool operator==(const Vector3& a, const Vector3& b) { return a.first == b.first; }

// --- base classes that are named through namespaces ----------------------------------------
namespace inner {
inline namespace v1 {
struct Versioned {
  int number() const { return 1; }
};
}  // namespace v1
namespace v2 {
struct Newer {
  int number() const { return 2; }
};
struct Aliased {
  int number() const { return 3; }
};
}  // namespace v2
using v2::Newer;
using Aliased = v2::Aliased;
}  // namespace inner
namespace alias = inner;
struct Versioned1 : inner::Versioned {};
struct Versioned2 : aliases::inner::Versioned {};
struct Versioned3 : alias::Versioned {};
struct Newer1 : inner::Newer {};
struct Newer2 : aliases::inner::Newer {};
struct Aliased1 : ::aliases::inner::Aliased {};
struct Aliased2 : alias::Aliased {};
inline int number_of(const inner::Versioned& one) { return one.number(); }
inline int newer_of(const inner::Newer& one) { return one.number(); }

// --- names that only the class may say -----------------------------------------------------
class Line {
  typedef double real;
  using Text = std::string;
  using List = std::vector<real>;
  using Function = real (*)(real);
  real length_;

 public:
  Line(real length) : length_(length) {}
  real length() const { return length_; }
  void scale(real by) { length_ *= by; }
  Text text() const { return "line"; }
  Text about(const Text& word = "aliases::Line::real is private") const { return word; }
  List all() const { return {length_}; }
  static real total(const List& lengths) { return lengths.empty() ? 0 : lengths[0]; }
  static real half(real value) { return value / 2; }
  Function function() const { return half; }
  real call(Function function) const { return function(length_); }
  virtual ~Line() = default;
  real hidden_of(int count) { return hidden(List(size_t(count), 2.0)); }

 protected:
  using Hidden = std::vector<int>;
  virtual real hidden(const List& list) { return real(list.size()); }
};

template <class T>
class Box {
  typedef T value;
  using List = std::vector<value>;
  value own_{};

 public:
  Box() = default;
  Box(value own) : own_(own) {}
  value get() const { return own_; }
  void set(const value& own) { own_ = own; }
  List all() const { return {own_}; }
  int count(const List& list) const { return int(list.size()); }
};

// --- types of functions ---------------------------------------------------------------------
using Hook = void(const Plain&);
using Number = int(int);
inline int g_hooked = 0;
inline void set_hooked(const Plain& plain) { g_hooked = plain.v; }
inline Hook* hook() { return set_hooked; }
inline int run_hook(Hook* run, int v) {
  if (!run) return -1;
  run(Plain(v));
  return g_hooked;
}
inline int twice(int x) { return 2 * x; }
inline Number* number() { return twice; }
inline int run_number(Number* run, int x) { return run ? run(x) : -1; }
}  // namespace aliases

// --- names that functions which the kit writes have as well ---------------------------------
inline int self(int x) { return x + 1; }
inline int matching(int x) { return x + 2; }
inline int result(int x) { return x + 3; }

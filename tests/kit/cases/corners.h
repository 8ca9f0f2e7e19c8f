// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/corners.h: what C++ allows and one seldom writes: names by `using`, texts in
// wide characters, functions by reference, values that are not assigned, what is protected.
#pragma once

#include <array>
#include <compare>
#include <cwchar>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// --- names of base classes ------------------------------------------------------------------
namespace corners {
struct Base {
  int at = 1;
  virtual ~Base() = default;
  virtual int number() const { return at; }
};
template <class A, class B = int>
struct Pair {
  virtual ~Pair() = default;
  virtual int sum() const { return 1; }
};
template <class A, class B = int>
struct Wider : Pair<A, B> {
  int sum() const override { return 2; }
};
inline int sum_of(const Pair<int>& pair) { return pair.sum(); }
inline int number_of(const Base& base) { return base.number(); }

// --- texts ----------------------------------------------------------------------------------
const wchar_t* const wide = L"wide\n";
const char16_t* const shorter = u"caf\u00e9";
#define CORNERS_WIDE L"macro"
#define CORNERS_BELL "\a\033[0m"
const char16_t half[] = {0xd800, 0};
const char16_t* const other_half = half;
const char high = '\xff';
enum Key { Escape = '\033', Tab = '\t' };
inline int first_of(const char* text = "\033[1m") { return text[0]; }
inline wchar_t letters[] = L"letters";
struct Sign {
  static constexpr const wchar_t* kind = L"sign";
  const char32_t* const text = U"\U0001f600";
  wchar_t name[4] = L"abc";
};
inline wchar_t* made_text() { return new wchar_t[3]{L'a', L'b'}; }
inline int last_of(wchar_t text[3]) { return text[1]; }
inline wchar_t next_letter(wchar_t letter) { return wchar_t(letter + 1); }

// --- functions ------------------------------------------------------------------------------
using Function = int(int);
typedef int (*Pointer)(int);
inline int twice(int x) { return 2 * x; }
inline Function& function() { return twice; }
inline Pointer const& pointer() {
  static const Pointer kept = twice;
  return kept;
}
inline int call_reference(int (&f)(int), int x) { return f(x); }
inline int call_typedef(Function& f, int x) { return f(x); }
inline int call_const(const Pointer f, int x) { return f(x); }
inline int call_const_reference(Pointer const& f, int x) { return f(x); }
struct Caller {
  int call(int (&f)(int), int x) const { return f(x); }
  static int from(int x, int (&f)(int)) { return f(x); }
};

// --- pointers to what is const, or only declared ----------------------------------------------
struct Item {
  volatile int v = 3;
  ~Item() { v = -1000; }  // who reads it later sees it
};
inline int value_of(const Item* item) { return item ? item->v : 0; }
typedef const Item* Handle;
inline Handle handle_of(Handle item) { return item; }
struct Opaque;
typedef const struct Opaque* OpaqueHandle;
inline OpaqueHandle open_opaque() {
  static int there = 7;
  return reinterpret_cast<OpaqueHandle>(&there);
}
inline int read_handle(OpaqueHandle opaque) {
  return opaque ? *reinterpret_cast<const int*>(opaque) : -1;
}
inline int read_opaque(const Opaque& opaque) { return read_handle(&opaque); }

// --- values that are not assigned -------------------------------------------------------------
struct NoDefault {
  explicit NoDefault(int v) : v(v) {}
  int v;
};
struct Fixed {
  const int v;
  Fixed(int v = 3) : v(v) {}
};
struct MoveOnly {
  MoveOnly(int v = 0) : v(v) {}
  MoveOnly(MoveOnly&& other) : v(std::exchange(other.v, -1)) {}
  int v;
};
inline int by_tuple(std::tuple<NoDefault, int> t) {
  return std::get<0>(t).v + std::get<1>(t);
}
inline int by_pair(std::pair<Fixed, int> p) { return p.first.v + p.second; }
inline int by_map(const std::map<std::string, Fixed>& map) {
  int sum = 0;
  for (const auto& [key, value] : map) sum += value.v;
  return sum;
}
inline int by_number(Fixed a, Fixed b = 5, std::string c = "an unsigned int(3)") {
  return a.v + b.v + int(c.size());
}
inline int by_default(Fixed a, Fixed b = Fixed(4)) { return 10 * a.v + b.v; }
inline int by_value(Fixed fixed) { return fixed.v; }
inline int by_move(MoveOnly moved) { return moved.v; }
inline std::pair<Fixed, NoDefault> both(int v) { return {Fixed(v), NoDefault(v + 1)}; }
inline int with_owned(std::pair<Fixed, std::unique_ptr<Item>> pair, int n) {
  return pair.first.v + value_of(pair.second.get()) + n;
}
inline int with_maybe(std::optional<std::pair<Fixed, std::unique_ptr<Item>>> pair, int n) {
  return pair ? value_of(pair->second.get()) + n : n;
}
inline int with_both(std::tuple<std::unique_ptr<Item>, Fixed> pair) {
  return value_of(std::get<0>(pair).get()) + std::get<1>(pair).v;
}
inline int with_all(std::pair<Fixed, std::vector<Item*>> pair) {
  int sum = pair.first.v;
  for (const Item* item : pair.second) sum += value_of(item);
  return sum;
}
struct Keeps {
  int sum(Fixed a, std::tuple<NoDefault, Fixed> b, int c = 1) const {
    return a.v + std::get<0>(b).v + c;
  }
};
template <class T>
struct Made {
  explicit Made(const T& v = T(), std::pair<T, int> = std::pair<T, int>(T(1), 2)) : v(v) {}
  T v;
};

// --- arrays -----------------------------------------------------------------------------------
inline int count(bool flags[], int n) {
  int found = 0;
  for (int i = 0; i < n; ++i) found += flags[i];
  return found;
}
inline int corner_of(int rows[][2], int n) { return rows[n - 1][1]; }
const int table[][3] = {{1, 2, 3}, {4, 5, 6}};

// --- classes ----------------------------------------------------------------------------------
template <class T>
struct Boxed {
  int which() const { return std::is_reference_v<T>; }
};
struct Bits {
  enum Kind { None, Some, All } kind : 2 = None;
  int few : 3 = 0;
};
struct Ordered {
  int v;
  Ordered(int v) : v(v) {}
  auto operator<=>(const Ordered& other) const { return other.v <=> v; }  // the other way
  bool operator==(const Ordered& other) const { return v == other.v; }
};
struct except {
  static inline int made = 0;
  struct lambda {
    int v = 2;
  };
  enum class pass { a, None };
};
struct Matrix {
  int v = 1;
};
struct Link {
  Item* to;
  explicit Link(Item* to) : to(to) {}
  Item* operator->() const { return to; }
};
struct Chain {
  Link link;
  explicit Chain(Item* to) : link(to) {}
  const Link& operator->() const { return link; }
};
/// A proxy that lies on the stack, an owner by value, one that is part of the object, and one
/// that leads to itself.
struct Proxied {
  struct Arrow {
    Item item;
    Item* operator->() { return &item; }
  };
  Arrow operator->() const { return {}; }
};
struct Shared {
  std::shared_ptr<Item> item = std::make_shared<Item>();
  std::shared_ptr<Item> operator->() const { return item; }
};
struct Part {
  Item item;
  std::shared_ptr<Item> operator->() { return {std::shared_ptr<void>(), &item}; }
};
struct Itself {
  Itself& operator->() { return *this; }
};
struct Optional {
  std::optional<Link> link;
  const std::optional<Link>& operator->() const { return link; }
};
struct Keeper {
  std::vector<const Item*> items;
  Keeper() {}
  Keeper(const Item* a, const Item* b) { items = {a, b}; }
  void add(const Item* item) { items.push_back(item); }
  void add(int times, const Item* item) { items.insert(items.end(), times, item); }
  int out(int& size, const Item* item) {
    add(item);
    size = int(items.size());
    return 1;
  }
  int sum() const {
    int sum = 0;
    for (const Item* item : items) sum += value_of(item);
    return sum;
  }
};
struct Lazy {
  int v;
  Lazy(int v) : v(v) {}
};
inline bool watch(const std::weak_ptr<Lazy>& lazy) { return !lazy.expired(); }
inline int share(const std::shared_ptr<Lazy>& lazy) { return lazy ? lazy->v : 0; }
struct Short {
  int items[2] = {1, 2};
  int length = -3;
  int* data() { return items; }
  int size() const { return length; }
};

// --- errors -----------------------------------------------------------------------------------
struct Silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};
struct Texted {
  std::string what() const { return "texted"; }
};
inline void throw_texted() { throw Texted(); }
inline void throw_silent() { throw Silent(); }
inline void throw_null() { throw nullptr; }
inline void throw_null_text() { throw static_cast<const char*>(nullptr); }

// --- what Python overrides ----------------------------------------------------------------------
struct Hooked {
  int offset = 0;
  virtual ~Hooked() = default;
  int run(int x) { return hook(x) + hook(x, 1); }

 protected:
  virtual int hook(int x) { return x + offset; }
  virtual int hook(int x, int y) { return x + y; }
  virtual int fixed(int x) const { return x - 1; }
};
struct Derived : Hooked {
 protected:
  int hook(int x) override { return 100 * x; }
};
struct Deeper : Derived {};
template <class T>
struct Template : Deeper {
  virtual T value() { return T(1); }
};
struct Giver {
  const Item* given = nullptr;
  Giver() = default;
  explicit Giver(const Item* given) : given(given) {}
  virtual ~Giver() = default;
  virtual std::vector<Item*> all() { return {}; }
  virtual std::tuple<Item*, int> one() { return {nullptr, 0}; }
  virtual std::map<std::string, Item*> named() { return {}; }
  virtual std::vector<std::unique_ptr<Item>> own() { return {}; }
  virtual const std::string& name() { return name_; }
  virtual std::vector<Item*> some() { return {}; }
  virtual std::vector<Item*> some(int n) { return {}; }
  virtual int first(const int numbers[3]) { return numbers ? numbers[0] : 0; }
  virtual double corner(double rows[2][2]) { return rows[1][1]; }
  virtual int length(const wchar_t text[4]) { return text ? int(std::wcslen(text)) : -1; }

 private:
  std::string name_ = "giver";
};
inline std::string names(Giver& a, Giver& b) { return a.name() + b.name(); }
inline int overloaded(Giver& giver) {
  const auto one = giver.some(), other = giver.some(2);
  int sum = 0;
  for (const Item* item : one) sum += value_of(item);
  for (const Item* item : other) sum += value_of(item);
  return sum;
}
inline int total(Giver& giver) {
  const auto all = giver.all();
  const auto one = giver.one();
  const auto named = giver.named();
  int sum = value_of(std::get<0>(one));
  for (const Item* item : all) sum += value_of(item);
  for (const auto& [name, item] : named) sum += value_of(item);
  for (const auto& item : giver.own()) sum += value_of(item.get());
  return sum;
}
inline int total_by(const std::function<std::vector<Item*>()>& give) {
  int sum = 0;
  for (const Item* item : give()) sum += value_of(item);
  return sum;
}
inline std::vector<int> lengths(Giver& giver) {
  return {giver.length(L"abc"), giver.length(nullptr)};
}
inline int no_numbers(Giver& giver) { return giver.first(nullptr); }
inline double arrays(Giver& giver) {
  const int numbers[3] = {1, 2, 3};
  double rows[2][2] = {{1, 2}, {3, 4}};
  return giver.first(numbers) + giver.corner(rows);
}
}  // namespace corners

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/ranges.h: what Python iterates over and compares, objects that C++ lends,
// virtual methods with arguments that are written into, and C++ that SWIG does not read.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <complex>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

#define RANGES_API __attribute__((visibility("default")))

namespace ranges {

// --- iteration ------------------------------------------------------------------------------

struct Child {
  int value;
  explicit Child(int value) : value(value) {}
};
class Family {
 public:
  using iterator = std::list<Child>::iterator;
  std::list<Child>::iterator begin() { return children_.begin(); }
  std::list<Child>::iterator end() { return children_.end(); }
  size_t size() const { return children_.size(); }

 private:
  std::list<Child> children_{Child(1), Child(2), Child(3)};
};
class Numbers {
 public:
  const int* begin() const { return numbers_.data(); }
  const int* end() const { return numbers_.data() + numbers_.size(); }

 private:
  std::vector<int> numbers_{4, 5, 6};
};
class Prices {
 public:
  std::map<std::string, int>::const_iterator begin() const { return prices_.begin(); }
  std::map<std::string, int>::const_iterator end() const { return prices_.end(); }

 private:
  std::map<std::string, int> prices_{{"tea", 3}, {"milk", 2}};
};
class Bits {
 public:
  std::vector<bool>::iterator begin() { return bits_.begin(); }
  std::vector<bool>::iterator end() { return bits_.end(); }

 private:
  std::vector<bool> bits_{true, false, true};
};
struct Count {
  struct At {
    int i;
    int operator*() const { return i; }
    At& operator++() {
      ++i;
      return *this;
    }
    bool operator==(const At& other) const { return i == other.i; }
  };
  At begin() const { return {0}; }
  At end() const { return {4}; }
};
/// Whose ends are no iterators.
struct Interval {
  int begin() const { return 3; }
  int end() const { return 5; }
};
struct Words {
  std::vector<std::string> words{"a", "b"};
};
struct MoreNumbers : Numbers {};

// --- comparison -----------------------------------------------------------------------------

struct Version {
  int major_, minor_;
  Version(int major, int minor) : major_(major), minor_(minor) {}
  auto operator<=>(const Version&) const = default;
};
struct Level {
  double level;
  explicit Level(double level) : level(level) {}
};
inline std::partial_ordering operator<=>(const Level& a, const Level& b) {
  return a.level <=> b.level;
}
inline bool operator==(const Level& a, const Level& b) { return a.level == b.level; }
/// Compared with a number, and without ==.
/// Two orderings, and an operator for what it can be made into.
struct Weight {
  double grams, pieces;
  Weight(double grams, double pieces) : grams(grams), pieces(pieces) {}
  auto operator<=>(const Weight&) const = default;
  std::partial_ordering operator<=>(const Level& level) const {
    return grams <=> level.level;
  }
  explicit operator double() const { return grams; }
  bool operator<(double other) const { return grams < other; }
};
/// Made of a number, and compared with one by operators of its own.
struct Price {
  double euros;
  Price(double euros) : euros(euros) {}
  auto operator<=>(const Price&) const = default;
  bool operator<(double other) const { return euros < other + 100; }
  bool operator==(int other) const { return other == 42; }
};
struct Size {
  int size;
  explicit Size(int size) : size(size) {}
  std::weak_ordering operator<=>(int other) const { return size <=> other; }
};

// --- what is lent ---------------------------------------------------------------------------

inline const std::string kText = "a text that does not fit into a std::string itself";
struct Copied {
  std::string text = kText;
  virtual ~Copied() = default;
};
struct Alone {
  std::string text = kText;
  Alone() = default;
  Alone(const Alone&) = delete;
};
inline void lend(const std::function<void(Copied&)>& function) {
  auto made = std::make_unique<Copied>();
  function(*made);
}
inline void lend_alone(const std::function<void(Alone&)>& function) {
  auto made = std::make_unique<Alone>();
  function(*made);
}
inline void lend_const(const std::function<void(const Alone&)>& function) {
  auto made = std::make_unique<Alone>();
  function(*made);
}

// --- virtual methods ------------------------------------------------------------------------

class Reader {
 public:
  virtual ~Reader() = default;
  virtual void grow(std::vector<int>& numbers) { numbers.push_back(1); }
  virtual void add(int& number) { ++number; }
  virtual bool parse(const std::string& text, double* number) const {
    *number = double(text.size());
    return true;
  }
  virtual int take(std::unique_ptr<Child> child) { return child->value; }
  virtual int def(int a, int b = 7) { return a * b; }
  virtual int over(int a) const { return a; }
  virtual int over(const std::string& a) const { return int(a.size()); }
  virtual int pure(int a) = 0;
};
inline std::vector<int> grow(Reader& reader) {
  std::vector<int> numbers{5};
  reader.grow(numbers);
  return numbers;
}
inline int add(Reader& reader) {
  int number = 5;
  reader.add(number);
  return number;
}
inline double parse(const Reader& reader) {
  double number = 0;
  reader.parse("abc", &number);
  return number;
}
inline int take(Reader& reader) { return reader.take(std::make_unique<Child>(8)); }
inline int call_def(Reader& reader) { return reader.def(2); }
inline int over(const Reader& reader) { return reader.over(1) + 10 * reader.over("ab"); }
inline int call_pure(Reader& reader) { return reader.pure(3); }

// --- errors ---------------------------------------------------------------------------------

inline void fail_nested() {
  try {
    try {
      throw std::out_of_range("inside");
    } catch (...) { std::throw_with_nested(std::invalid_argument("middle")); }
  } catch (...) { std::throw_with_nested(std::runtime_error("outside")); }
}
inline std::string caught(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::exception& error) { return error.what(); }
  return "";
}

// --- other types ----------------------------------------------------------------------------

inline double sum(std::span<const double, 3> values) {
  return values[0] + values[1] + values[2];
}
inline std::valarray<double> doubled(std::valarray<double> values) { return values * 2.0; }
inline std::forward_list<int> rest(std::forward_list<int> values) {
  if (!values.empty()) values.pop_front();
  return values;
}
inline int count_null(const std::vector<Child*>& children) {
  int count = 0;
  for (const Child* child : children) count += child == nullptr;
  return count;
}
inline std::chrono::steady_clock::time_point later(
    std::chrono::steady_clock::time_point t) {
  return t + std::chrono::seconds(1);
}
inline bool call_or_not(const std::function<void()>& function) { return bool(function); }
inline std::string text_or(const char* maybe) { return maybe ? maybe : "none"; }
inline int log(int level, const char*, ...) { return level; }
inline std::string formatted(const char* text, ...) { return text; }

struct Handle;  // nobody sees what it is
// A table of its own, used round and round: nobody has to close what was opened.
inline int g_handles[64], g_opened = 0;
inline Handle* open_handle(int value) {
  int& place = g_handles[g_opened++ % 64];
  place = value;
  return reinterpret_cast<Handle*>(&place);
}
inline Handle* no_handle() { return nullptr; }
inline int value_of(const Handle* handle) {
  return handle ? *reinterpret_cast<const int*>(handle) : -1;
}
inline void close_handle(Handle* handle) {
  if (handle) *reinterpret_cast<int*>(handle) = -1;
}

// --- C++ that SWIG does not read ------------------------------------------------------------

struct RANGES_API Odd {
  std::atomic<int> one{1}, two{2};
  int big = 1'000'000;
  int bits : 4 = 3;
  explicit(true) Odd(int value = int{5}) : value(value) {}
  int value;
};
struct Left {
  int left = 1;
};
struct Right {
  int right = 2;
};
struct Both : Left, Right {};
consteval int three() { return 3; }
inline int read_three() { return three(); }
struct NoDefault : std::logic_error {
  using std::logic_error::logic_error;
};

using Ints = std::vector<int>;
/// Braces make another object than brackets; a block in a default.
inline std::vector<int> braced(
    const Ints& values = Ints{1, 2},
    std::map<std::string, int> named = std::map<std::string, int>{{"a", 3}},
    const std::function<int(int)>& change = [](int x) {
      if (x > 1) { return 10 * x; }
      return x;
    }) {
  std::vector<int> result;
  for (const int value : values) result.push_back(change(value));
  for (const auto& [name, value] : named) result.push_back(value);
  return result;
}
/// A default that says what it is, and one after it.
inline int commented(
    const std::function<int(int)>& change =
        [](int x) {
          return x + int(sizeof(R"(})")) - 1;  // a comment with '}
        } /* and one more */,
    int by = 2,
    const std::vector<int>& values = Ints{1,  // the first
                                          2}) {
  return change(by) + int(values.size());
}
/// Defaults that are of the class's own types, and of the one around it.
struct Holder {
  struct Item {
    int value = 5;
    Item() = default;
    explicit Item(int value) : value(value) {}
  };
  static constexpr int kMany = 9;
  struct Inner {
    int get(Item item = Item{8}) const { return item.value; }
  };
  int first;
  explicit Holder(Item item = Item{3}) : first(item.value) {}
  virtual ~Holder() = default;
  virtual int none() const = 0;
  static int of(const Item& item = Item{6}) { return item.value; }
  int get(Item item = Item{7}, const Ints& values = Ints{4, 5}) const {
    return 10 * item.value + int(values.size());
  }
  int many(int count = int{kMany}) const { return count; }
  int changed(const std::function<int(Item)>& change = [](Item item) {
    return item.value + kMany;
  }) const {
    return change(Item(1));
  }
};
struct Held : Holder {
  int none() const override { return 0; }
};
struct Last final {
  struct Item {
    int value = 5;
  };
  int get(Item item = Item{7}) const { return item.value; }
};
/// Defaults that look like what the kit writes, or have backslashes.
inline std::string texts(const std::vector<std::string>& words = {"texts", "b"},
                         const std::string& between = "\n\\'\"") {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : between) + word;
  return result;
}

// --- parts that cannot be made of nothing ---------------------------------------------------

struct Sealed {
  int value;
  explicit Sealed(int value) : value(value) {}
};
using SealedOrText = std::variant<Sealed, std::string>;
inline SealedOrText either(SealedOrText one) { return one; }
inline std::vector<SealedOrText> eithers(const std::vector<SealedOrText>& all) {
  return all;
}
inline void turn(std::span<std::complex<double>> values) {
  for (auto& value : values) value *= std::complex<double>(0, 1);
}

// --- destructors that wait ------------------------------------------------------------------

class Pool {
 public:
  ~Pool() {
    for (std::thread& thread : threads_) thread.join();
  }
  void submit(std::function<void()> function) {
    if (!function) throw std::invalid_argument("expected a function");
    threads_.emplace_back([function = std::move(function)] {
      try {
        function();
      } catch (...) {}  // nobody waits for it
    });
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace ranges

template <>
struct std::hash<::ranges::Version> {
  size_t operator()(const ::ranges::Version& version) const {
    return size_t(version.major_ * 100 + version.minor_);
  }
};

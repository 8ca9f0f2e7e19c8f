// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/interface.h: what an interface says a line about: parameters that are
// written into, exceptions that Python has already, attributes of classes; and names and
// variables that Python has another way for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace interface {

struct Item {
  int value;
  explicit Item(int value = 0) : value(value) {}
};

// --- parameters that are written into -------------------------------------------------------

inline void name_of(int number, std::string& name) {
  name = "no. " + std::to_string(number);
}
inline bool divide(int a, int b, int& quotient, int* remainder) {
  if (b == 0) return false;
  quotient = a / b;
  *remainder = a % b;
  return true;
}
inline std::pair<int, int> corners(Item& center) {
  center.value = 5;
  return {1, 9};
}
inline void find(int value, std::unique_ptr<Item>& found) {
  if (value > 0) found = std::make_unique<Item>(value);
}
inline int grow(std::vector<int>& numbers, int by) {
  for (int& number : numbers) number += by;
  return int(numbers.size());
}
class Source {
 public:
  bool next(double& value) { return (value = ++count_) < 3; }

 private:
  int count_ = 0;
};

// --- exceptions -----------------------------------------------------------------------------

struct Slow : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Stopped {};  // of no base
inline void wait(int seconds) {
  if (seconds > 10) throw Slow("too slow");
  if (seconds < 0) throw Stopped();
}

// --- names that are words of Python's -------------------------------------------------------

enum class Kind { None, True, other };
struct Words {
  enum Inner { import = 4, plain };
  int from = 1;
  static inline int with = 2;
  int self(int x) const { return x; }
  int yield(int pass) const { return pass; }
  static int in(int as) { return as; }
};
inline int del(int lambda) { return lambda; }

// --- characters -----------------------------------------------------------------------------

inline wchar_t next_wide(wchar_t c) { return wchar_t(c + 1); }
inline char16_t next_16(char16_t c) { return char16_t(c + 1); }
inline char32_t next_32(char32_t c) { return c + 1; }
inline char8_t next_8(char8_t c) { return char8_t(c + 1); }
inline std::wstring wide(const std::wstring& text) { return text + L"!"; }
inline std::u16string text_16(const std::u16string& text) { return text + u"!"; }
inline std::u32string text_32(const std::u32string& text) { return text + U"!"; }

// --- variables ------------------------------------------------------------------------------

/// Cannot be copied.
struct Engine {
  std::unique_ptr<int> power;
  std::unique_ptr<Item> item;
  std::atomic<int> uses{3};
  std::vector<int> gears{1, 2};
};
inline std::atomic<long> calls{7};
inline Engine the_engine;

// --- operators ------------------------------------------------------------------------------

inline std::shared_ptr<Item> operator+(const std::shared_ptr<Item>& a,
                                       const std::shared_ptr<Item>& b) {
  return std::make_shared<Item>(a->value + b->value);
}
inline std::shared_ptr<Item> operator*(int k, const std::shared_ptr<Item>& b) {
  return std::make_shared<Item>(k * b->value);
}
inline std::ostream& operator<<(std::ostream& out, const Item& item) {
  return out << item.value;
}
inline Kind operator|(Kind a, Kind b) { return Kind(int(a) | int(b)); }

// --- owners in containers -------------------------------------------------------------------

inline int sum(std::vector<std::unique_ptr<Item>> items, int factor) {
  int total = 0;
  for (const auto& item : items) total += item->value;
  return total * factor;
}
inline int count(const std::vector<std::unique_ptr<Item>>& items) {
  return int(items.size());
}

// --- objects without copies or moves --------------------------------------------------------

struct Ticket {
  int number;
  explicit Ticket(int number) : number(number) {}
  Ticket(Ticket&& other) noexcept : number(std::exchange(other.number, 0)) {}
  Ticket& operator=(Ticket&& other) noexcept {
    number = std::exchange(other.number, 0);
    return *this;
  }
};
inline int tear(Ticket ticket) { return ticket.number; }
inline Ticket print_ticket(int number) { return Ticket(number); }
struct Rock {
  int weight = 3;
  Rock() = default;
  Rock(const Rock&) = delete;
};
inline Rock dig() { return Rock(); }
inline int weigh(std::unique_ptr<Item> item) { return item ? item->value : -1; }

// --- arrays and alignment -------------------------------------------------------------------

struct Grid {
  double cells[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const int fixed[2] = {7, 8};
  std::vector<std::unique_ptr<Item>> items;
};
inline double corner(const double (&cells)[2][2]) { return cells[1][1]; }
inline int third(int (&values)[3]) { return values[2]; }
struct alignas(64) Aligned {
  double values[4] = {};
  bool is_aligned() const { return reinterpret_cast<uintptr_t>(this) % 64 == 0; }
};

// --- virtual operators ----------------------------------------------------------------------

struct Rank {
  int rank = 1;
  virtual ~Rank() = default;
  virtual bool operator<(const Rank& other) const { return rank < other.rank; }
  virtual int operator()(int x) const { return x; }
};
inline bool is_less(const Rank& a, const Rank& b) { return a < b; }
inline int call(const Rank& rank, int x) { return rank(x); }

// --- virtual methods that write into their parameters ---------------------------------------

struct Meter {
  virtual ~Meter() = default;
  virtual int read(int a, double& value, int* remainder) {
    value = a;
    *remainder = 2 * a;
    return 3 * a;
  }
  virtual void title(std::string& name) { name = "C++"; }
};
inline std::vector<double> read_of(Meter& meter, int a) {
  double value = 0;
  int remainder = 0;
  const int result = meter.read(a, value, &remainder);
  return {double(result), value, double(remainder)};
}
inline std::string title_of(Meter& meter) {
  std::string name;
  meter.title(name);
  return name;
}
inline void fill(int triple[3]) { triple[0] = 7; }
inline int count_of(const std::vector<int>& numbers) { return int(numbers.size()); }

// --- owners by plain pointers ---------------------------------------------------------------

struct Load {
  Load() { ++alive; }
  ~Load() { --alive; }
  int weight = 3;
  static inline int alive = 0;
};
inline Load* new_load() { return new Load; }
inline void drop(Load* load) { delete load; }

// --- what is protected, for %module(allprotected="1") ---------------------------------------

class Guarded {
 public:
  explicit Guarded(int level = 1) : level_(level) {}
  virtual ~Guarded() = default;
  int weight() const { return level_ + extra(); }

 protected:
  int level_;
  virtual int extra() const { return 10; }
  int doubled(int times = 2) const { return times * level_; }
  static int steps() { return 3; }
};

// --- overloads, names and errors ------------------------------------------------------------

enum class Grade { Good = 1 };
struct Chooser {
  std::string choose(int) const { return "int"; }
  std::string choose(double) const { return "float"; }
  std::string choose(Grade) const { return "Grade"; }
  static std::string mixed(int) { return "static"; }
  std::string mixed(const std::string&) const { return "method"; }
  int add(int self, int None = 1) const { return self + None; }
};
inline int explained(int code) {
  if (code == 1) throw std::string("a text");
  if (code == 2) throw "a C text";
  if (code == 3) throw 42;
  if (code == 4) throw 2.5;
  return code;
}
inline int declared(int code) { return explained(code); }

}  // namespace interface

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/headers.h: what stands in the headers of libraries, C's as well.
#pragma once

#include <functional>
#include <ios>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#ifdef __cplusplus
extern "C" {
#endif
inline int add_c(int a, int b) { return a + b; }
enum CColor { C_RED, C_BLUE = 5 };
typedef struct {
  int x, y;
} CPoint;
inline int sum_c(CPoint* point) { return point->x + point->y; }
#ifdef __cplusplus
}
#endif

namespace headers {

// --- members of C's kind --------------------------------------------------------------------

struct Record {
  char name[8] = "";
  unsigned char raw[4] = {1, 2, 3, 4};
  static inline const double pi = 3.5;
  static constexpr int big = 7;
  static inline int count = 2;
};
inline constexpr double kSteps[3] = {1, 2, 4};

// --- classes of one name --------------------------------------------------------------------

struct Reader {
  struct Options {
    int buffer = 1;
  };
  Options options;
};
struct Writer {
  struct Options {
    int buffer = 2;
    bool sync = true;
    enum Mode { fast, safe };
  };
  Options options;
};

// --- constructors of the base ---------------------------------------------------------------

struct Base {
  explicit Base(int level = 1) : level(level) {}
  Base(const Base&) = default;
  Base(Base&&) = default;
  virtual ~Base() = default;
  virtual int get() const { return level; }
  int level;
};
struct Derived : Base {
  using Base::Base;
};
inline int get(const Base& base) { return base.get(); }

// --- owners ---------------------------------------------------------------------------------

struct Crate {
  int weight = 4;
  virtual ~Crate() = default;
  static inline int opened = 0;
};
struct Opener {
  void operator()(Crate* crate) const {
    ++Crate::opened;
    delete crate;
  }
};
inline std::unique_ptr<Crate, Opener> pack() {
  return std::unique_ptr<Crate, Opener>(new Crate);
}
inline int unpack(std::unique_ptr<Crate, Opener> crate) {
  return crate ? crate->weight : -1;
}
inline std::unique_ptr<const Crate> sealed() { return std::make_unique<const Crate>(); }
inline std::vector<std::unique_ptr<const Crate>> all_sealed() {
  std::vector<std::unique_ptr<const Crate>> crates;
  crates.push_back(sealed());
  return crates;
}

// --- overloads of a family ------------------------------------------------------------------

struct L0 {
  virtual ~L0() = default;
};
struct L1 : L0 {};
struct L2 : L1 {};
struct L3 : L2 {};
inline std::string level(const L0&) { return "L0"; }
inline std::string level(const L2&) { return "L2"; }

// --- arguments of other kinds ---------------------------------------------------------------

inline int total(const std::vector<int>& values) {
  int sum = 0;
  for (const int value : values) sum += value;
  return sum;
}
inline size_t size_of(const std::string& data) { return data.size(); }
inline size_t size_of_view(std::string_view data) { return data.size(); }
inline std::string kind(const std::string&) { return "text"; }
inline std::string kind(const std::vector<int>&) { return "numbers"; }
inline int the_int = 3;
inline std::string the_text = "s";
inline std::tuple<int&, const std::string&> tied() { return {the_int, the_text}; }

// --- functions and arrays -------------------------------------------------------------------

typedef int (*Binary)(int a, int b);
inline int plus(int a, int b) { return a + b; }
inline int times(int a, int b) noexcept { return a * b; }
inline Binary pick(char sign) { return sign == '+' ? plus : sign == '*' ? times : nullptr; }
inline int apply(Binary function, int a, int b) { return function(a, b); }
inline int apply_fast(int (*function)(int, int) noexcept, int a) { return function(a, a); }
inline int apply_any(const std::function<int(int, int)>& function, int a) {
  return function(a, a);
}
inline int apply_or(int a, Binary function = nullptr) {
  return function ? function(a, a) : -1;
}
struct Table {
  Binary function = plus;
  int run(int a, int b) const { return function ? function(a, b) : -1; }
};
inline constexpr double kHalves[] = {0.5, 1.5};
inline int sum_of_three(const int values[3]) { return values[0] + values[1] + values[2]; }
inline int first_of(const int values[]) { return values ? values[0] : -1; }
/** A \ and "quotes". */
inline void quoted() {}

inline void fail_io() { throw std::ios_base::failure("io"); }

}  // namespace headers

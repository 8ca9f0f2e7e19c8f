// SPDX-License-Identifier: Apache-2.0
// tests/border/border.h: a C++ core that needs a Python face, with one function for each
// kind of type that crosses the border.  border.i wraps it with SWIG and the package's
// typemaps, border_pybind11.cc with pybind11; tests/border/test_border.py runs on both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace border {

// --- plain values, there and back -------------------------------------------------------

inline int32_t same_int32(int32_t value) { return value; }
inline int64_t same_int64(int64_t value) { return value; }
inline uint8_t same_uint8(uint8_t value) { return value; }
inline uint64_t same_uint64(uint64_t value) { return value; }
inline float same_float(float value) { return value; }
inline double same_double(double value) { return value; }
inline bool same_bool(bool value) { return value; }
inline std::string same_string(const std::string& text) { return text; }
/// Number of bytes, to be sure that none is cut off.
inline int64_t bytes_of(const std::string& text) { return int64_t(text.size()); }
/// Bytes that are no UTF-8, as a str: an error.
inline std::string broken_string() { return "ab\xff"; }
inline std::vector<std::byte> reversed_bytes(const std::vector<std::byte>& data) {
  return {data.rbegin(), data.rend()};
}

// --- containers -------------------------------------------------------------------------

using Doubles = std::vector<double>;
using Table = std::vector<std::vector<double>>;
using Prices = std::map<std::string, double>;
using Groups = std::unordered_map<int64_t, std::vector<std::string>>;

inline Doubles doubled(const Doubles& values) {
  Doubles result = values;
  for (double& value : result) value *= 2;
  return result;
}
inline Table transposed(const Table& rows) {
  Table result(rows.empty() ? 0 : rows[0].size());
  for (const Doubles& row : rows) {
    if (row.size() != result.size())
      throw std::invalid_argument("[transposed] ragged rows");
    for (size_t i = 0; i < row.size(); ++i) result[i].push_back(row[i]);
  }
  return result;
}
inline Prices raised(const Prices& prices, double by) {
  Prices result = prices;
  for (auto& [name, price] : result) price += by;
  return result;
}
inline Groups by_length(const std::vector<std::string>& words) {
  Groups result;
  for (const std::string& word : words) result[int64_t(word.size())].push_back(word);
  return result;
}
inline int64_t count_words(const Groups& groups) {
  int64_t n = 0;
  for (const auto& [length, words] : groups) n += int64_t(words.size());
  return n;
}
inline std::pair<std::string, int64_t> swapped(
    const std::pair<int64_t, std::string>& pair) {
  return {pair.second, pair.first};
}
inline std::tuple<bool, double, std::string> rotated(
    const std::tuple<std::string, bool, double>& three) {
  return {std::get<1>(three), std::get<2>(three), std::get<0>(three)};
}
inline std::optional<double> half_of(std::optional<double> value) {
  return value ? std::optional(*value / 2) : std::nullopt;
}

// --- enums ------------------------------------------------------------------------------

enum class Color : uint8_t { Red = 1, Green = 2, Blue = 4 };
inline Color next_color(Color color) {
  return color == Color::Red     ? Color::Green
         : color == Color::Green ? Color::Blue
                                 : Color::Red;
}
/// A value that no member has: an error.
inline Color no_color() { return Color(9); }
inline std::vector<Color> all_colors() { return {Color::Red, Color::Green, Color::Blue}; }

// --- callables, called on the caller and on worker threads --------------------------------

inline double call(const std::function<double(double)>& f, double x) { return f(x); }
/// Sum of f(0) ... f(n - 1), each on a thread of its own; the first error comes back.
inline double sum_on_threads(const std::function<double(int64_t)>& f, int64_t n) {
  std::vector<std::thread> threads;
  std::vector<double> results(static_cast<size_t>(n));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(n));
  for (size_t i = 0; i < size_t(n); ++i) {
    threads.emplace_back([&, i] {
      try {
        results[i] = f(int64_t(i));
      } catch (...) { errors[i] = std::current_exception(); }
    });
  }
  for (std::thread& thread : threads) thread.join();
  double sum = 0;
  for (size_t i = 0; i < size_t(n); ++i) {
    if (errors[i]) std::rethrow_exception(errors[i]);
    sum += results[i];
  }
  return sum;
}

/// Kept between calls, and dropped on a thread that does not hold the GIL.
inline std::function<void(const std::string&)> g_listener;
inline void listen(const std::function<void(const std::string&)>& listener) {
  g_listener = listener;
}
inline void tell(const std::string& text) {
  if (g_listener) g_listener(text);
}
inline void forget() {
  std::thread([] { g_listener = nullptr; }).join();
}

// --- handles ----------------------------------------------------------------------------

/// Something that is open until it is closed.
class Account {
 public:
  explicit Account(const std::string& owner, double balance = 0)
      : owner_(owner), balance_(balance) {
    if (owner.empty()) throw std::invalid_argument("[Account] expected a name");
    ++alive;
  }
  ~Account() { --alive; }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  std::string owner() const { return owner_; }
  double balance() const { return balance_; }
  void deposit(double amount) {
    if (!open_) throw std::runtime_error("[Account.deposit] the account is closed");
    balance_ += amount;
  }
  void close() { open_ = false; }

  static inline int64_t alive = 0;

 private:
  std::string owner_;
  double balance_;
  bool open_ = true;
};
inline int64_t accounts_alive() { return Account::alive; }
inline void transfer(Account& from, Account& to, double amount) {
  from.deposit(-amount);
  to.deposit(amount);
}
inline std::string owner_of(const Account* account) { return account->owner(); }
/// "nobody" for None.
inline std::string owner_or_nobody(const Account* maybe) {
  return maybe ? maybe->owner() : "nobody";
}

/// Held by std::shared_ptr on both sides.
class Node {
 public:
  explicit Node(int64_t value) : value_(value) { ++alive; }
  ~Node() { --alive; }
  int64_t value() const { return value_; }
  void set_next(std::shared_ptr<Node> next) { next_ = std::move(next); }
  std::shared_ptr<Node> next() const { return next_; }

  static inline int64_t alive = 0;

 private:
  int64_t value_;
  std::shared_ptr<Node> next_;
};
inline int64_t nodes_alive() { return Node::alive; }
inline std::shared_ptr<Node> linked(int64_t first, const std::shared_ptr<Node>& rest) {
  auto node = std::make_shared<Node>(first);
  node->set_next(rest);
  return node;
}

// --- global variables -------------------------------------------------------------------

inline int64_t hits = 3;
inline double rate = 0.5;
inline std::string title = "caf\u00e9";
extern const int64_t limit;
inline const int64_t limit = 100;
inline int64_t read_hits() { return hits; }
inline void hit() { ++hits; }

}  // namespace border

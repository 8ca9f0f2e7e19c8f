// SPDX-License-Identifier: Apache-2.0
// A library whose objects have members of every kind: what refers to other objects and to
// texts, a few bits, times without their namespace, a type that cannot be made of nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace members {

using namespace std::chrono;

/**
 * @brief What others refer to.
 *
 * How many there are is counted.
 */
struct Leaf {
  inline static int alive = 0;
  int value = 0;
  explicit Leaf(int value = 0) : value(value) { ++alive; }
  Leaf(const Leaf& other) : value(other.value) { ++alive; }
  ~Leaf() { value = -1, --alive; }
};
inline int leaves() { return Leaf::alive; }

/// Owns nothing of what it refers to.
struct Twig {
  std::vector<Leaf*> list;
  Leaf* two[2] = {nullptr, nullptr};
  std::map<std::string, Leaf*> by_name;
  std::optional<Leaf*> one;
  std::pair<Leaf*, int> pair{nullptr, 0};
  std::vector<std::vector<const Leaf*>> nested;
  const Leaf* last = nullptr;
  std::string_view text = "text";
  std::vector<std::string_view> texts;
  const char* label = nullptr;
  std::span<const int> numbers;

  int sum() const {
    int sum = 0;
    for (const Leaf* leaf : list) sum += leaf ? leaf->value : 0;
    return sum;
  }
};
/// Twigs in another object, and those that nobody in Python owns.
struct Tree {
  Twig top;
  std::vector<Twig> twigs{2};
  Twig& at(int place) { return twigs.at(size_t(place)); }
  static Tree& the() {
    static Tree tree;
    return tree;
  }
};
inline std::vector<Leaf*> fallen;
inline std::string_view motto = "motto";

/// A class that is a sequence of pointers.
class Bunch {
 public:
  using value_type = Leaf*;
  explicit Bunch(int count = 0) : count_(count) {}
  Leaf** begin() { return nullptr; }
  Leaf** end() { return nullptr; }
  int count() const { return count_; }

 private:
  int count_;
};
using LeafPointer = Leaf*;
struct Vase {
  Bunch bunch;
  LeafPointer leaf = nullptr;
  const char* label = nullptr;
};
inline Vase shown;
inline void show(const Vase& vase) { shown = vase; }

/// One of two trees' twigs: either may own it.
inline Twig& either(Tree& first, Tree& second, bool is_first) {
  return is_first ? first.top : second.top;
}

/// Holds what it refers to in other ways.
struct Holding {
  inline static double one = 1;
  std::atomic<Leaf*> current = nullptr;
  std::reference_wrapper<double> factor = one;
  std::span<const Leaf> leaves;
};

/// Lives in a std::shared_ptr, which C++ may have longer than Python.
struct Branch {
  const Leaf* leaf = nullptr;
  std::vector<Leaf*> list;
  std::string_view text;
};
inline std::shared_ptr<Branch> grown;
inline void grow(std::shared_ptr<Branch> branch) { grown = branch; }
inline std::shared_ptr<Branch> get_grown() { return grown; }
inline int grown_value() {
  if (!grown || !grown->leaf) return -1;
  return grown->leaf->value + grown->list.at(0)->value;
}

/// Begins with a branch, so that both have one address and one owner.
struct Bough {
  Branch first;
  const Leaf* tip = nullptr;
};
inline std::shared_ptr<Bough> sawn;
inline void saw(std::shared_ptr<Bough> bough) { sawn = bough; }
inline std::shared_ptr<Bough> get_sawn() { return sawn; }
inline std::shared_ptr<Branch> first_of(std::shared_ptr<Bough> bough) {
  return {bough, &bough->first};
}
inline int sawn_value() {
  if (!sawn || !sawn->tip) return -1;
  const Leaf* leaf = sawn->first.leaf;
  return sawn->tip->value + (leaf ? leaf->value : 0);
}
inline std::vector<std::shared_ptr<Branch>> forest;
inline void plant(std::shared_ptr<Branch> branch) { forest.push_back(branch); }
inline void fell() { forest.clear(); }

inline int total(std::span<const Leaf> leaves) {
  int sum = 0;
  for (const Leaf& leaf : leaves) sum += leaf.value;
  return sum;
}
inline size_t letters(std::span<const std::string, 2> words) {
  return words[0].size() + words[1].size();
}
inline void wither(std::span<Leaf> leaves) {
  for (Leaf& leaf : leaves) leaf.value = 0;
}

/// A span where C++ may have it longer than what was converted for it.
using Leaves = std::span<const Leaf>;
inline int total_or(std::optional<Leaves> leaves) { return leaves ? total(*leaves) : -1; }
inline int total_of_each(const std::vector<Leaves>& each) {
  int sum = 0;
  for (Leaves leaves : each) sum += total(leaves);
  return sum;
}
inline int total_by_name(const std::map<std::string, Leaves>& named) {
  return named.empty() ? 0 : total(named.begin()->second);
}
inline int total_of_pair(const std::pair<Leaves, int>& pair) { return total(pair.first); }
inline int total_of_either(const std::variant<int, Leaves>& either) {
  const Leaves* leaves = std::get_if<Leaves>(&either);
  return leaves ? total(*leaves) : std::get<int>(either);
}
inline int total_of_shared(std::shared_ptr<Leaves> leaves) {
  return leaves ? total(*leaves) : -1;
}
inline int total_given(const std::function<Leaves()>& give) { return total(give()); }
inline std::function<int(Leaves)> get_total() { return total; }
/// The same of views of texts that are made for a call, of lists and of copies of numbers.
inline std::wstring text_or(std::optional<std::wstring_view> text) {
  return std::wstring(text.value_or(L"none"));
}
inline std::wstring text_of_either(const std::variant<int, std::wstring_view>& either) {
  const auto* text = std::get_if<std::wstring_view>(&either);
  return std::wstring(text ? *text : L"a number");
}
inline std::wstring text_of_each(const std::vector<std::wstring_view>& each) {
  std::wstring all;
  for (std::wstring_view text : each) all += text;
  return all;
}
inline std::wstring text_given(const std::function<std::wstring_view()>& give) {
  return std::wstring(give());
}
inline int sum_or(std::optional<std::initializer_list<int>> numbers) {
  int sum = 0;
  for (int number : numbers.value_or(std::initializer_list<int>{})) sum += number;
  return sum;
}
inline double half_or(std::optional<std::reference_wrapper<const double>> number) {
  return number ? number->get() / 2 : 0;
}
inline double half_of_either(
    const std::variant<std::string, std::reference_wrapper<const double>>& either) {
  return either.index() == 1 ? std::get<1>(either).get() / 2 : 0;
}
/// Whose arguments are there during the call.
inline std::function<double(std::wstring_view, std::reference_wrapper<const double>)>
get_scaled() {
  return [](std::wstring_view text, std::reference_wrapper<const double> by) {
    return double(text.size()) * by.get();
  };
}
/// Gives some to others.
class Grove {
 public:
  virtual ~Grove() = default;
  virtual Leaves leaves() const { return {}; }
};
inline int total_in(const Grove& grove) { return total(grove.leaves()); }

/// Points to values, which only C++ has.
struct Pointing {
  int* number = nullptr;
  const double* factor = nullptr;
  std::string* name = nullptr;
  std::vector<int>* list = nullptr;
  const wchar_t* wide = L"wide";
  const char16_t* wider = nullptr;
};

/** **Bold** is no frame: a@brief b.
 *
 * @brief The rest. */
enum class Shade { Dark, Light };
struct Bits {
  Shade shade : 2;
  unsigned low : 3;
  int small : 2;
  bool set : 1;
  unsigned whole = 7;
  Bits() : shade(Shade::Light), low(1), small(0), set(false) {}
};

/// Times, as those write them who are tired of namespaces.
struct Clock {
  milliseconds step{1500};
  std::optional<seconds> pause;
  system_clock::time_point start{};
  milliseconds total(const std::vector<milliseconds>& parts) const {
    milliseconds sum{0};
    for (milliseconds part : parts) sum += part;
    return sum + step;
  }
};

/// Text of four letters; there is no other.
class Code {
 public:
  static Code parse(const std::string& text) {
    if (text.size() != 4) throw std::invalid_argument("expected 4 letters, got " + text);
    return Code(text);
  }
  const std::string& text() const { return text_; }
  bool operator<(const Code& other) const { return text_ < other.text_; }

 private:
  explicit Code(std::string text) : text_(std::move(text)) {}
  std::string text_;
};
inline Code same_code(Code code) { return code; }
inline std::map<Code, int> counted(const std::vector<Code>& codes) {
  std::map<Code, int> count;
  for (const Code& code : codes) ++count[code];
  return count;
}
struct Coded {
  std::optional<Code> code;
  std::vector<Code> all;
};

template <class T>
struct Vector2 {
  T x{}, y{};
  Vector2() = default;
  Vector2(T x, T y) : x(x), y(y) {}
};
template <class T>
Vector2<T> operator+(const Vector2<T>& a, const Vector2<T>& b) {
  return {a.x + b.x, a.y + b.y};
}
template <class T>
Vector2<T> operator*(const Vector2<T>& a, T by) {
  return {a.x * by, a.y * by};
}
template <class T>
Vector2<T> operator*(T by, const Vector2<T>& a) {
  return a * by;
}

/// Of an int.
inline int doubled(int value) { return 2 * value; }
/// Of a text.
inline std::string doubled(const std::string& value) { return value + value; }

}  // namespace members

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/copies.h: who owns an object that goes to C++ and comes back, what copies
// of it keep, and names that clash with others.
#pragma once

#include <chrono>
#include <complex>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace copies {

/// Held by std::shared_ptr, and overridden by Python.
struct Job {
  virtual ~Job() = default;
  virtual int run() const { return 1; }
};
/// Holds a job, and watches one.
struct Queue {
  std::shared_ptr<Job> held;
  std::weak_ptr<Job> seen;
  std::shared_ptr<Job> get() const { return held; }
  void watch(const std::shared_ptr<Job>& job) { seen = job; }
  bool expired() const { return seen.expired(); }
  /// Whether the job has the same owner as the one that is held.
  bool shares(const std::shared_ptr<Job>& job) const {
    return !job.owner_before(held) && !held.owner_before(job);
  }
};

/// Knows the std::shared_ptr that it is in.
struct Knowing : std::enable_shared_from_this<Knowing> {
  int n = 1;
  static inline int live = 0;
  Knowing() { ++live; }
  Knowing(const Knowing&) = delete;
  virtual ~Knowing() { --live; }
  virtual int run() const { return n; }
  std::shared_ptr<Knowing> me() { return shared_from_this(); }
};
inline int take(std::unique_ptr<Knowing> one) { return one ? one->run() : 0; }
inline int look(std::unique_ptr<Knowing>& one) { return one ? one->run() : 0; }
inline std::unique_ptr<Knowing> pass(std::unique_ptr<Knowing> one) { return one; }
inline std::unique_ptr<Knowing> make_unique_one() { return std::make_unique<Knowing>(); }
inline std::shared_ptr<Knowing> make_shared_one() { return std::make_shared<Knowing>(); }
inline int take_or_throw(std::unique_ptr<Knowing> one, bool fail) {
  if (fail) throw std::runtime_error("not taken");
  return one ? one->run() : 0;
}
/// Its part, and its base without a virtual destructor, are in the share of the whole.
struct Part {
  int n = 2;
};
struct Whole : Part {
  Part part;
};
inline std::shared_ptr<Part> part_of(const std::shared_ptr<Whole>& whole) {
  return {whole, whole ? &whole->part : nullptr};
}
inline std::shared_ptr<Part> base_of(const std::shared_ptr<Whole>& whole) { return whole; }
inline int take_part(std::unique_ptr<Part> part) { return part ? part->n : 0; }
inline int take_job(std::unique_ptr<Job> job) { return job ? job->run() : 0; }
struct Box {
  std::unique_ptr<Knowing> one;
  std::vector<std::unique_ptr<Knowing>> all;
  std::shared_ptr<Knowing> shared;
};

/// C++ does not know that it cannot be copied.
struct Bag {
  virtual ~Bag() = default;
  std::vector<std::unique_ptr<Job>> jobs;
  virtual int size() const { return int(jobs.size()); }
  int state() const { return 0; }
  static std::unique_ptr<Bag> from(int) { return std::make_unique<Bag>(); }
};
/// Pickled by functions of Python's own names.
struct Stated {
  int n = 0;
  int __getstate__() const { return n; }
  static Stated __setstate__(int n) { return {n}; }
};
struct Dynamic {
  int n = 0;
};
/// Pickled, and overridden by Python.
struct Base {
  virtual ~Base() = default;
  int v = 0;
  explicit Base(int v = 0) : v(v) {}
  virtual std::string who() const { return "Base" + std::to_string(v); }
  int state() const { return v; }
  static std::shared_ptr<Base> from(int v) { return std::make_shared<Base>(v); }
};
inline std::string who(const std::shared_ptr<Base>& base) {
  return base ? base->who() : "";
}
/// The same by a std::unique_ptr, and without copies.
struct Single {
  virtual ~Single() = default;
  int v = 0;
  explicit Single(int v) : v(v) {}
  Single(const Single&) = delete;
  Single(Single&&) = default;
  virtual int get() const { return v; }
  int state() const { return v; }
  static std::unique_ptr<Single> from(int v) { return std::make_unique<Single>(v); }
};
inline int get(const Single& one) { return one.get(); }
/// Neither copied nor moved, so that no other object becomes one of Python's.
struct Fixed {
  virtual ~Fixed() = default;
  Fixed() = default;
  Fixed(const Fixed&) = delete;
  virtual int get() const { return 1; }
  int state() const { return 0; }
  static std::unique_ptr<Fixed> from(int) { return std::make_unique<Fixed>(); }
};
struct Root {
  int r = 0;
};
/// Its root is a virtual base, which a director makes anew.
struct Virtual : virtual Root {
  virtual ~Virtual() = default;
  virtual int get() const { return r; }
};
/// Copied, and overridden by Python.
struct Plain {
  virtual ~Plain() = default;
  int v = 0;
  virtual int get() const { return v; }
};
inline int get(const Plain& one) { return one.get(); }
template <class T>
struct Cell {
  T value{};
  virtual ~Cell() = default;
  virtual T get() const { return value; }
};
inline int get(const Cell<int>& cell) { return cell.get(); }

struct Point {
  double x = 0, y = 0;
  std::pair<double, double> state() const { return {x, y}; }
  static Point from(std::pair<double, double> state) { return {state.first, state.second}; }
};
/// Has nothing of pickling.
struct Bare {
  int n = 0;
};

/// Numbers that are of a type of their own: it has no members.
enum class Id : int {};
inline Id id_of(int number) { return Id{number}; }
inline int number_of(Id id) { return int(id); }

/// Colours 😀.
enum class Colour {
  /// Like blood 😀.
  Red = 1,
  Green = 2,  ///< Like grass.
  Blue = 3
};
enum class Other { Red = 1 };
enum class Alias { First = 1 /**< the first */, Second = 1 /**< its other name */ };
inline std::string which(std::variant<int, Colour, Other> one) {
  return std::string(one.index() == 0 ? "int" : one.index() == 1 ? "Colour" : "Other");
}
inline std::variant<int, Colour> red() { return Colour::Red; }
inline std::string items(const std::vector<int>&) { return "ints"; }
inline std::string items(const std::vector<Colour>&) { return "colours"; }

inline std::string number(double) { return "double"; }
inline std::string number(std::complex<double>) { return "complex"; }
inline double half(double x) { return x / 2; }
inline std::size_t length(std::string_view text) { return text.size(); }

struct Ancestor {
  static int inherited() { return 4; }
  static inline int count = 6;
};
/// Its default values are declared after what has them. 😀
struct Late : Ancestor {
  int at;
  explicit Late(int k = zero() + inherited(), std::string t = text("zero()"))
      : at(k), name(std::move(t)) {}
  static int make(int k = zero()) { return k; }
  int many(std::vector<int> v = list(zero(), limit), int w = count) const {
    return std::accumulate(v.begin(), v.end(), w);
  }
  int kind(int k = Big) const { return k; }
  static int zero() { return 3; }
  static std::string text(const char* s) { return s; }
  static std::vector<int> list(int a, int b) { return {a, b}; }
  static constexpr int limit = 100;
  enum Kind { Small, Big };
  std::string name;  ///< Its name 😀
};

/// Its default values look like the names of what is declared later.
struct Letters {
  int code(int x = 'k') const { return x; }
  int choose(bool b = true, int x = true ? later() : 1) const { return b ? x : 0; }
  std::string quote(char c = '\'', std::string s = text()) const { return c + s; }
  static int later() { return 5; }
  static std::string text() { return "text"; }
  static constexpr int k = 9;
  struct Inner {
    int outer(int x = later()) const { return x; }
  };

 private:
  int x_ = 'x', x = 0;
};
/// Octal, hexadecimal and binary numbers.
inline int mode(int o = 0644, int h = 0x1F, int b = 0b11, double d = 1.) {
  return o + h + b + int(d);
}

/// Its templates have names that are words of Python's.
struct Words {
  double value = 3.5;
  template <class T>
  T as() const {
    return T(value);
  }
  template <class T>
  bool is() const {
    return value == double(T(value));
  }
  template <class T>
  static T from(T value) {
    return value;
  }
  int with(int in) const { return in; }
  enum class Kind { None, pass };
};

/// Some of its virtual methods are final.
struct Open {
  virtual ~Open() = default;
  virtual int g() { return 1; }
  virtual int h(int) { return 1; }
  virtual int k() const { return 1; }
};
struct Closed : Open {
  int g() final { return 11; }
  int h(int) override final;
  int k() const override { return 7; }
};
inline int Closed::h(int i) { return i; }
inline int sum(Open& open) { return open.g() * 100 + open.h(2) * 10 + open.k(); }
/// Of two methods that differ by const alone it overrides one.
struct Both {
  virtual ~Both() = default;
  virtual int g() { return 1; }
  virtual int g() const { return 2; }
};
struct One : Both {
  int g() override { return 11; }
};
inline int both(Both& one) { return one.g() * 100 + std::as_const(one).g(); }

/// Parameters with the names of outputs that are none.
inline int sum_of(const int dims[3]) { return dims[0] + dims[1] + dims[2]; }
inline void get_dims(int dims[3]) {
  for (int i = 0; i < 3; ++i) dims[i] = i + 1;
}
inline void fill(std::string& label) { label = "filled"; }
struct Reader {
  virtual ~Reader() = default;
  virtual int read(const std::string& label) const { return int(label.size()); }
  virtual int both(const std::string& text, std::string& label) const {
    label = text;
    return 1;
  }
};
inline int read(const Reader& reader) {
  std::string label;
  const int n = reader.both("four", label);
  return reader.read("abc") * 100 + n * 10 + int(label.size());
}

#if __cplusplus >= 202002L
inline int standard() { return 20; }
#else
inline int standard_of_old() { return 3; }
#endif

/// Static methods, by `using`.
struct Uses : Ancestor {
  using Ancestor::inherited;
  static int inherited(int i) { return i; }
};
struct Hides : private Ancestor {
  using Ancestor::inherited;
};
/// Methods for what is there to stay, and for all.
struct Qualified {
  int n = 1;
  int at(int i) & { return n + i; }
  int at(int i) const& { return n - i; }
  std::string build() const& { return "built"; }
  auto half(int i) const& -> decltype(i / 2.0) { return i / 2.0; }
  const int& ref() const& { return n; }
};
/// Its members have the names of modules.
struct Shadowing {
  int typing = 1, datetime = 2, collections = 3, enum_ = 4;
  static inline int seen = 5;
  std::chrono::seconds wait() const { return std::chrono::seconds(6); }
  int over(int) { return 1; }
  int over(const std::string&) { return 2; }
  int call(const std::function<int(int)>& f) { return f(1); }
};
struct Named {
  int digits(int self, int cls = 2, int self_ = 3) const {
    return self * 100 + cls * 10 + self_;
  }
};

}  // namespace copies

namespace copies::op {
struct Money {
  long cents;
};
inline Money operator*(const Money& a, double f) { return {long(double(a.cents) * f)}; }
}  // namespace copies::op
namespace copies::lib {
struct Amount {
  int n;
};
template <class T>
Amount operator*(const Amount& a, T t) {
  return {int(a.n * t)};
}
}  // namespace copies::lib

// SPDX-License-Identifier: Apache-2.0
// tests/kit/stubs/garden.h: one of each construct that a type stub tells of.
#pragma once

#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "pot.h"

#define GARDEN_VERSION "1.5"

namespace garden {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Drought : Error {
  using Error::Error;
};

constexpr int kBeds = 4;
inline int g_watered = 0;
enum class Color { Red = 1, Green, Blue = 1 << 4 };
enum Season { Spring, Summer };
enum class Mode : unsigned { Off = 0, Fast = 1, Safe = 2 };
enum { kNameless = 7 };

using Names = std::vector<std::string>;
using Weights = std::map<std::string, double>;

/// A place.
struct Point {
  double x = 0, y = 0;
  static constexpr int kDimensions = 2;
  enum class Unit { Metre, Foot };

  explicit Point(double x = 0.0, double y = 0.0) : x(x), y(y) {}
  static Point origin() { return Point(); }
  double norm(Unit unit = Unit::Metre) const { return unit == Unit::Metre ? x + y : 0; }
  Point operator+(const Point& other) const { return Point(x + other.x, y + other.y); }
  Point operator-() const { return Point(-x, -y); }
  Point& operator+=(const Point& other) { return x += other.x, y += other.y, *this; }
  bool operator==(const Point& other) const { return x == other.x && y == other.y; }
  bool operator<(const Point& other) const { return x < other.x; }
};
inline Point operator*(double factor, const Point& p) {
  return Point(factor * p.x, factor * p.y);
}
inline Point operator+(const Point& p) { return p; }
inline Point operator*(const Point& p, double factor) { return factor * p; }

struct Plant {
  using Heights = std::vector<double>;
  struct Leaf {
    int veins = 3;
  };
  std::string name;
  Heights heights;
  Leaf leaf;
  int rings[3] = {1, 2, 3};
  std::function<int(int)> on_growth;
  const int age = 1;

  Plant() = default;
  explicit Plant(const std::string& name) : name(name) {}
  virtual ~Plant() = default;
  virtual double water(double litres) { return litres; }
  Heights grown(const Heights& by) const { return by; }
  bool get_tall() const { return heights.size() > 2; }
  double get_size() const { return size_; }
  void set_size(double size) { size_ = size; }

 private:
  double size_ = 1.5;
};
struct Tree : Plant {
  Tree() = default;
  double water(double litres) override { return 2 * litres; }
  std::shared_ptr<Tree> graft(std::shared_ptr<Tree> other = nullptr) { return other; }
};

/// Not made by Python.
class Bed {
 public:
  static Bed& first() {
    static Bed bed;
    return bed;
  }
  void put(std::unique_ptr<Plant> plant) { plants_.push_back(std::move(plant)); }
  Plant* find(const std::string& name) {
    for (auto& plant : plants_) {
      if (plant->name == name) return plant.get();
    }
    return nullptr;
  }
  Plant& at(size_t place) { return *plants_.at(place); }
  size_t size() const { return plants_.size(); }

 private:
  Bed() = default;
  std::vector<std::unique_ptr<Plant>> plants_;
};

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual int visit(const Point& point) = 0;
  virtual std::string name() const { return "visitor"; }
  virtual int count(const std::vector<int>& items) const { return int(items.size()); }
};
inline int count(const Visitor& visitor) { return visitor.count({1, 2, 3}); }
inline int walk(Visitor& visitor) { return visitor.visit(Point(1, 2)); }

// Names that are types of Python's.
struct Shelf {
  std::vector<int> list() const { return {1, 2}; }
  int len(const std::vector<int>& items) const { return int(items.size()); }
  std::vector<int> int_(std::vector<int> items) const { return items; }
};

template <class T>
struct Box {
  T value;
  explicit Box(T value) : value(value) {}
  T get() const { return value; }
};

// Overloads, the wide one first.
inline double half(double x) { return x / 2; }
inline int half(int x) { return x / 2; }
inline std::string half(const std::string& text) { return text.substr(0, text.size() / 2); }
inline std::string kind_of(const Plant&) { return "plant"; }
inline int kind_of(const Tree&) { return 1; }

// Containers and the like.
inline Names upper(const Names& names) { return names; }
inline Weights weigh(const Weights& weights = {}) { return weights; }
inline std::set<int> unique(const std::set<int>& items) { return items; }
inline std::list<std::pair<int, std::string>> pairs() { return {{1, "a"}}; }
inline std::tuple<bool, double> both(std::tuple<bool, double> given) { return given; }
inline std::array<double, 3> triple() { return {1, 2, 3}; }
inline std::optional<Point> maybe(std::optional<int> x) {
  if (!x) return std::nullopt;
  return Point(*x, 0);
}
inline std::variant<int, std::string> either(std::variant<int, std::string> v) { return v; }
inline std::vector<double> map_points(const std::vector<Point>& points,
                                      std::function<double(const Point&)> f) {
  std::vector<double> found;
  for (const Point& point : points) found.push_back(f(point));
  return found;
}
inline std::function<int(int)> adder(int n) {
  return [n](int x) { return x + n; };
}
inline double total(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}
inline void fill(std::span<double> values, double with) {
  for (double& value : values) value = with;
}
inline std::vector<std::byte> bytes(const std::vector<std::byte>& given) { return given; }
inline std::complex<double> turned(std::complex<double> z) { return z * z; }
inline std::filesystem::path parent(const std::filesystem::path& p) {
  return p.parent_path();
}
inline std::chrono::milliseconds twice(std::chrono::milliseconds time) { return 2 * time; }
inline std::unique_ptr<Plant> plant(const char* name, bool tall = false,
                                    Color color = Color::Red, int64_t seed = -1,
                                    float size = 1.5f) {
  auto made = std::make_unique<Plant>(name);
  if (tall) made->heights = {1, 2, 3};
  return made;
}
inline Plant* copied(const Plant& plant) { return new Plant(plant); }
inline bool nothing(const Plant* given = nullptr) { return given == nullptr; }
inline Color next(Color color) { return color == Color::Red ? Color::Green : Color::Red; }
inline Mode mixed(Mode a, Mode b) { return Mode(unsigned(a) | unsigned(b)); }
inline int volume(std::span<const Pot> pots) {
  int sum = 0;
  for (const Pot& pot : pots) sum += pot.liters;
  return sum;
}
/// Counts its shares itself.
struct Bulb {
  int shares = 0;
};
template <class T>
class Held {
 public:
  explicit Held(T* object = nullptr) : object_(object) {
    if (object_) ++object_->shares;
  }
  Held(const Held& other) : Held(other.object_) {}
  Held& operator=(Held other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held() {
    if (object_ && --object_->shares == 0) delete object_;
  }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_;
};
inline Held<Bulb> bulb(bool there = true) { return Held<Bulb>(there ? new Bulb : nullptr); }
inline bool is_there(Held<Bulb> bulb) { return bool(bulb); }
inline std::exception_ptr failure(std::exception_ptr error) { return error; }
inline int hidden(int value) { return value; }
inline void dry() { throw Drought("no water"); }

}  // namespace garden

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/virtuals.h: methods that Python overrides, callbacks with classes, and
// families of classes.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace virtuals {

struct Point {
  int x = 0;
  int y = 0;
  Point(int x, int y) : x(x), y(y) {}
};

// --- overridden in Python -------------------------------------------------------------------

/// With a method for each kind of argument and result.
class Visitor {
 public:
  Visitor() = default;
  explicit Visitor(const std::string& name) : name_(name) {}
  virtual ~Visitor() = default;
  virtual std::string name() const { return name_; }
  virtual int visit(int value) = 0;
  virtual void moved(Point& point) { point.x += 1; }
  virtual Point mirror(const Point& point) const { return {-point.x, -point.y}; }
  virtual std::vector<std::string> words(const std::vector<int>& numbers) const {
    return std::vector<std::string>(numbers.size(), "word");
  }
  virtual bool less(const Point& a, const Point& b) const { return a.x < b.x; }
  virtual const std::string& title() const { return name_; }
  virtual Point* chosen(Point* a, Point*) const { return a; }
  /// Takes the point over.
  virtual int weigh(std::unique_ptr<Point> point) const { return point->x; }
  /// Calls what is overridden.
  std::string greeting() const { return "I am " + name(); }
  int twice(int value) { return 2 * visit(value); }

 private:
  std::string name_ = "nobody";
};
/// One that is complete.
class Doubler : public Visitor {
 public:
  Doubler() : Visitor("doubler") {}
  int visit(int value) override { return 2 * value; }
};

inline int visit_all(Visitor& visitor, const std::vector<int>& values) {
  int total = 0;
  for (const int value : values) total += visitor.visit(value);
  return total;
}
inline std::string name_of(const Visitor& visitor) { return visitor.name(); }
inline int move(Visitor& visitor, Point& point) {
  visitor.moved(point);
  return point.x;
}
inline Point mirrored(const Visitor& visitor, const Point& point) {
  return visitor.mirror(point);
}
inline std::vector<std::string> words_of(const Visitor& visitor) {
  return visitor.words({1, 2, 3});
}
inline std::vector<Point> ordered(const Visitor& visitor, std::vector<Point> points) {
  std::sort(points.begin(), points.end(),
            [&](const Point& a, const Point& b) { return visitor.less(a, b); });
  return points;
}
inline std::string title_of(const Visitor& visitor) { return visitor.title(); }
inline int x_of_chosen(const Visitor& visitor) {
  Point a(1, 2), b(3, 4);
  const Point* point = visitor.chosen(&a, &b);
  return point ? point->x : -1;
}
inline int weigh(const Visitor& visitor) {
  return visitor.weigh(std::make_unique<Point>(3, 4));
}
/// What C++ makes of an error of an override.
inline std::string visit_or_error(Visitor& visitor, int value) {
  try {
    return std::to_string(visitor.visit(value));
  } catch (const std::exception& error) { return std::string("error: ") + error.what(); }
}
/// On n threads at once; the first error comes back.
inline int visit_on_threads(Visitor& visitor, int n) {
  std::vector<std::thread> threads;
  std::vector<int> results(static_cast<size_t>(n));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(n));
  for (size_t i = 0; i < size_t(n); ++i) {
    threads.emplace_back([&, i] {
      try {
        results[i] = visitor.visit(int(i));
      } catch (...) { errors[i] = std::current_exception(); }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int total = 0;
  for (size_t i = 0; i < size_t(n); ++i) {
    if (errors[i]) std::rethrow_exception(errors[i]);
    total += results[i];
  }
  return total;
}

/// Owns visitors that Python made.
class Party {
 public:
  void invite(std::unique_ptr<Visitor> visitor) { visitors_.push_back(std::move(visitor)); }
  int visit(int value) {
    int total = 0;
    for (const auto& visitor : visitors_) total += visitor->visit(value);
    return total;
  }
  std::unique_ptr<Visitor> send_home() {
    if (visitors_.empty()) return nullptr;
    std::unique_ptr<Visitor> last = std::move(visitors_.back());
    visitors_.pop_back();
    return last;
  }
  /// The same in other pointers.
  struct Farewell {
    void operator()(Visitor* visitor) const {
      ++farewells;
      delete visitor;
    }
  };
  std::unique_ptr<Visitor, Farewell> send_off() {
    return std::unique_ptr<Visitor, Farewell>(send_home().release());
  }
  std::shared_ptr<Visitor> send_shared() { return send_home(); }
  /// Stays the party's.
  std::shared_ptr<Visitor> show() const {
    return {last(), [](Visitor*) {}};
  }
  struct Nothing {
    void operator()(Visitor*) const {}
  };
  std::unique_ptr<Visitor, Nothing> pretend() const {
    return std::unique_ptr<Visitor, Nothing>(last());
  }
  void share(std::shared_ptr<Visitor> visitor) { shared_ = std::move(visitor); }
  int visit_shared(int value) const { return shared_ ? shared_->visit(value) : 0; }
  static inline int farewells = 0;
  /// On a thread that Python does not know.
  void end() {
    std::thread([this] { visitors_.clear(); }).join();
  }

 private:
  Visitor* last() const { return visitors_.empty() ? nullptr : visitors_.back().get(); }

  std::vector<std::unique_ptr<Visitor>> visitors_;
  std::shared_ptr<Visitor> shared_;
};

/// Kept by C++ in shared pointers.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual int heard(const std::string& text) { return int(text.size()); }
};
inline std::vector<std::shared_ptr<Listener>> listeners;
inline void add(std::shared_ptr<Listener> listener) {
  listeners.push_back(std::move(listener));
}
inline int tell(const std::string& text) {
  int total = 0;
  for (const auto& listener : listeners) total += listener->heard(text);
  return total;
}
inline std::shared_ptr<Listener> last() { return listeners.back(); }
/// On a thread that Python does not know.
inline void forget() {
  std::thread([] { listeners.clear(); }).join();
}

// --- callbacks with classes -----------------------------------------------------------------

inline std::vector<Point> mapped(const std::vector<Point>& points,
                                 const std::function<Point(const Point&)>& function) {
  std::vector<Point> results;
  for (const Point& point : points) results.push_back(function(point));
  return results;
}
inline int total(const std::function<int(const std::vector<Point>&, int)>& function) {
  return function({{1, 2}, {3, 4}}, 5);
}
using Measure = std::function<int(const std::vector<Point>&, int)>;
inline Measure same_measure(Measure measure) { return measure; }
inline void tell_one(const std::function<void(std::shared_ptr<Listener>)>& function) {
  function(std::make_shared<Listener>());
}
inline std::function<int(const Point&)> adder(int by) {
  return [by](const Point& point) { return point.x + point.y + by; };
}
inline std::string call_maybe(const std::function<std::string(const Point*)>& function) {
  return function(nullptr);
}

// --- families -------------------------------------------------------------------------------

class Shape {
 public:
  virtual ~Shape() = default;
  virtual std::string kind() const { return "shape"; }
  int corners() const { return corners_; }

 protected:
  int corners_ = 0;
};
class Polygon : public Shape {
 public:
  explicit Polygon(int corners) { corners_ = corners; }
  std::string kind() const override { return "polygon"; }
  int sides() const { return corners_; }
};
class Square : public Polygon {
 public:
  Square() : Polygon(4) {}
  std::string kind() const override { return "square"; }
  int side = 1;
};
/// Python does not know it.
class Secret : public Polygon {
 public:
  Secret() : Polygon(9) {}
  std::string kind() const override { return "secret"; }
};
inline std::shared_ptr<Shape> make(const std::string& kind) {
  if (kind == "square") return std::make_shared<Square>();
  if (kind == "polygon") return std::make_shared<Polygon>(5);
  if (kind == "secret") return std::make_shared<Secret>();
  return kind == "shape" ? std::make_shared<Shape>() : nullptr;
}
inline std::vector<std::shared_ptr<Shape>> make_all() {
  return {make("shape"), make("polygon"), make("square")};
}
inline std::string kind_of(const Shape& shape) { return shape.kind(); }
inline int sides_of(const std::shared_ptr<Polygon>& polygon) { return polygon->sides(); }
inline std::string best(const Shape&) { return "shape"; }
inline std::string best(const Square&) { return "square"; }

/// Two bases, of which the second does not begin where the object does.
class Flyer {
 public:
  virtual ~Flyer() = default;
  int wings = 2;
  std::string fly() const { return "flies with " + std::to_string(wings); }
};
class Swimmer {
 public:
  virtual ~Swimmer() = default;
  int depth = 7;
  std::string swim() const { return "swims at " + std::to_string(depth); }
};
class Duck : public Flyer, public Swimmer {
 public:
  std::string quack() const { return "quack"; }
};
inline std::string fly(const Flyer& flyer) { return flyer.fly(); }
inline std::string swim(const Swimmer& swimmer) { return swimmer.swim(); }
inline std::unique_ptr<Swimmer> hatch() { return std::make_unique<Duck>(); }

/// A callback that only reads gets the object, too, and not a copy of its base.
inline std::string read_by(const Shape& shape,
                           const std::function<std::string(const Shape&)>& reader) {
  return reader(shape);
}

/// Without virtual methods.
struct Named {
  std::string name = "named";
};
struct Labelled : Named {
  std::string label = "label";
};
inline std::string name_of_named(const Named& named) { return named.name; }

}  // namespace virtuals

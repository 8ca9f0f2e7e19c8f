// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/lent.h: objects that lie in others, or are there for a call alone, and what
// ends them: C++ takes the owner, assigns to it, or returns from the call.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lent {

struct Part {
  int x = 1;
  std::string text = std::string(100, 'p');
};
/// So small that it lies in its Python object.
struct Small {
  int x = 1;
  Small* itself() { return this; }
};
struct Middle {
  Part part;
};
/// Has parts of all kinds, items and memory.
struct Deleter {
  void operator()(Part* part) const { delete part; }
};
struct Box {
  Part part;
  std::unique_ptr<Part, Deleter> deleted{new Part};
  Middle middle;
  std::unique_ptr<Part> own = std::make_unique<Part>();
  std::vector<std::unique_ptr<Part>> several;

  Box() { several.push_back(std::make_unique<Part>()); }
  Box(const Box&) = delete;
  Part& ref() { return part; }
  Part* pointer() { return own.get(); }
  Box& itself() { return *this; }
  std::map<Part*, int> by_part() { return {{own.get(), 1}}; }
  std::unique_ptr<Part> release() { return std::move(own); }
  void give(std::unique_ptr<Part> given) { several.push_back(std::move(given)); }
  const Part* begin() const { return items_.data(); }
  const Part* end() const { return items_.data() + items_.size(); }
  const double* data() const { return numbers_.data(); }
  int size() const { return int(numbers_.size()); }

 private:
  std::vector<Part> items_{3};
  std::vector<double> numbers_ = std::vector<double>(1000, 2.0);
};
/// The other base of Python's classes that have several.
struct Side {
  Part side;
  Side& this_side() { return *this; }
};
inline int take_side(std::unique_ptr<Side>, int more) { return more; }
/// Refers to a part, without owning it, and knows parts by others.
struct Scene {
  Part* part = nullptr;
  Part other;
  Part& find(const Part&) { return other; }
};
/// Knows what it is a part of.
struct Knot {
  int x = 0;
  Knot* root = nullptr;
  std::unique_ptr<Knot> child;
  Knot() = default;
  Knot(const Knot& other) : x(other.x) {}
  Knot& operator=(const Knot&) = delete;
  virtual ~Knot() = default;
  Knot& down() {
    if (!child) child = std::make_unique<Knot>();
    child->root = root ? root : this;
    return *child;
  }
  Knot& top() { return root ? *root : *this; }
};
inline void lend_knot(const std::function<void(Knot&)>& function) {
  Knot knot;
  function(knot);
}
/// Items that a copy has anew.
struct Range {
  std::vector<Part> items{3};
  const Part* begin() const { return items.data(); }
  const Part* end() const { return items.data() + items.size(); }
};
inline void lend_range(const std::function<void(Range&)>& function) {
  Range range;
  function(range);
}
/// Of two that are given one is taken.
inline Part& of_either(Box& a, Box& b) {
  Box& box = a.several.empty() ? b : a;
  return box.own ? *box.own : box.part;
}
inline void take_second(std::unique_ptr<Box>&&, std::unique_ptr<Box>&& b) { b.reset(); }
inline int take_nested(std::vector<std::vector<std::unique_ptr<Box>>> boxes) {
  return int(boxes.size());
}
inline int take_pair(std::array<std::unique_ptr<Box>, 2>) { return 2; }
/// No part of what it is asked by: the names only begin alike.
struct Parting {
  int x = 0;
};
struct Desk {
  Part part;
  Part& by(const std::vector<Parting>&) { return part; }
};
/// Gives a reference to what it took.
class Tree {
 public:
  int x = 0;
  Tree& add(std::unique_ptr<Tree> child) {
    if (!child) throw std::invalid_argument("expected a tree");
    children_.push_back(std::move(child));
    return *children_.back();
  }

 private:
  std::vector<std::unique_ptr<Tree>> children_;
};
struct Open {  // %dynamic
  Part part;
  Small small;
};
inline Part& either(Box& a, Box& b) { return a.part.x > 1 ? a.part : b.part; }

/// C++ takes it, and it ends there; or the call fails after some of it.
inline int take(std::unique_ptr<Box> box) { return box ? box->part.x : 0; }
inline int take_more(std::unique_ptr<Box>, int more) { return more; }
inline int take_several(std::vector<std::unique_ptr<Box>>, int more) { return more; }
inline int take_part(std::unique_ptr<Part>, int more) { return more; }
inline int take_small(std::unique_ptr<Small>, int more) { return more; }
inline int take_open(std::unique_ptr<Open>, int more) { return more; }
inline int take_plain(Box* box) {
  const std::unique_ptr<Box> taken(box);
  return taken ? taken->part.x : 0;
}
inline int fail(std::unique_ptr<Box>) { throw std::runtime_error("fails"); }
/// C++ has another box afterwards, which is Python's.
inline int replace(std::unique_ptr<Box>&& box) {
  box = std::make_unique<Box>();
  return box->part.x = 5;
}
inline std::unique_ptr<Box> pass_on(std::unique_ptr<Box> box) { return box; }

/// Python may override it.
class Guest {
 public:
  Part part;
  virtual ~Guest() = default;
  virtual int number() const { return 1; }
  virtual void see(const Middle&) {}
  virtual void change(Middle&) {}
  virtual std::string_view label() const { return "plain"; }
  virtual const char* title() const { return "none"; }
  Part& get() { return part; }
};
inline std::unique_ptr<Guest> kept;
inline int take_guest(std::unique_ptr<Guest> guest) { return guest ? guest->number() : 0; }
inline void keep_guest(std::unique_ptr<Guest> guest) { kept = std::move(guest); }
inline void end_guest() { kept.reset(); }

/// The argument is there for the call alone.
inline int visit(Guest& guest) {
  Middle middle;
  guest.see(middle);
  guest.change(middle);
  const int seen = middle.part.x;
  middle.part.text = "gone";
  middle.part.x = -1;
  return seen;
}
inline int lend(const std::function<void(Middle&)>& function) {
  Middle middle;
  function(middle);
  const int seen = middle.part.x;
  middle.part.text = "gone";
  return seen;
}
inline void lend_box(const std::function<void(Box&)>& function) {
  Box box;
  function(box);
}

/// What they return is viewed after the call.
inline std::string all_of(const Guest& guest) {
  const std::string_view label = guest.label();
  const std::string text = guest.title();
  return std::string(label) + "/" + text;
}
inline std::string view(const std::function<std::string_view()>& function) {
  const std::string_view seen = function();
  return std::string(seen);
}
inline std::string text_of(const std::function<const Part&()>& function) {
  const Part& part = function();
  return part.text;
}
inline std::string spelled(const std::function<const std::string&()>& function) {
  return function();
}

class Money {
 public:
  explicit Money(int cents) : cents(cents) {}
  std::shared_ptr<Money> operator-(std::shared_ptr<Money> other) const {
    return std::make_shared<Money>(cents - other->cents);
  }
  int cents;
};

}  // namespace lent

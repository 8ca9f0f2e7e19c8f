// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/taken.h: containers whose objects C++ takes, some of them or none; who keeps
// what alive afterwards.
#pragma once

#include <Python.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace taken {

struct Part {
  int x = 1;
  std::string text = std::string(100, 'p');
};
struct Heap {
  int n = 0;
  std::unique_ptr<Part> own = std::make_unique<Part>();
  Heap() = default;
  Heap(const Heap&) = delete;
};
using Owned = std::unique_ptr<Heap>;
/// In the second, if that has one.
inline Part& of_either(Heap& a, Heap& b) { return b.own ? *b.own : *a.own; }

inline int take(Owned heap) { return heap ? heap->n : -1; }
inline int take_two(Owned, Owned, int more) { return more; }
inline void drop_last(std::vector<Owned>&& heaps) {
  if (!heaps.empty()) heaps.pop_back();
}
inline void drop_last_of(std::vector<Owned>& heaps) {
  if (!heaps.empty()) heaps.pop_back();
}
inline void drop_second(std::pair<Owned, Owned>&& heaps) { heaps.second.reset(); }
inline size_t take_pairs(std::vector<std::pair<Owned, int>> pairs) { return pairs.size(); }
inline size_t take_map(std::map<std::string, std::pair<Owned, int>> map) {
  return map.size();
}
inline bool take_optional(std::optional<std::pair<Owned, int>> pair) {
  return pair.has_value();
}
inline size_t take_variant(std::variant<std::pair<Owned, int>, std::string> either) {
  return either.index();
}
inline size_t take_arrays(std::vector<std::array<Owned, 2>> arrays) {
  return arrays.size();
}

inline int take_all(Owned, std::vector<std::pair<Owned, int>>, int more) { return more; }

/// Python may override it.
struct Guest {
  Part part;
  virtual ~Guest() = default;
  virtual int number() { return 1; }
  Part& get() { return part; }
  const char* data() const { return part.text.data(); }
  int size() const { return int(part.text.size()); }
};
struct House {
  std::unique_ptr<Guest> first;
  std::vector<std::unique_ptr<Guest>> guests;
  std::map<std::string, std::unique_ptr<Guest>> named;
  House() = default;
  House(const House&) = delete;
  void add(std::unique_ptr<Guest> guest) { guests.push_back(std::move(guest)); }
  Guest* last() { return guests.empty() ? nullptr : guests.back().get(); }
  std::vector<Guest*> all() {
    std::vector<Guest*> found;
    for (auto& guest : guests) found.push_back(guest.get());
    return found;
  }
};
inline std::unique_ptr<Guest> kept;
inline void keep(std::unique_ptr<Guest> guest) { kept = std::move(guest); }
inline void drop_kept() { kept.reset(); }

/// Knows what it is a part of, two levels up, too.
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
inline void lend(const std::function<void(Knot&)>& function) {
  Knot knot;
  function(knot);
}
inline Knot& always() {
  static Knot knot;
  return knot;
}

/// Each has the next one.
struct Link;
inline Link* marked = nullptr;
struct Link {
  int number = 0;
  Link* back = nullptr;
  std::unique_ptr<Link> own;
  Link() = default;
  Link(const Link&) = delete;
  virtual ~Link() {
    if (marked == this) marked = nullptr;
  }
  Link& next() {
    if (!own) own = std::make_unique<Link>();
    own->number = number + 1;
    own->back = this;
    return *own;
  }
};
inline Link& at(Link& first, int count) {
  Link* found = &first;
  while (count-- > 0) found = &found->next();
  return *found;
}
inline void mark(Link& link) { marked = &link; }
inline Link* get_marked() { return marked; }
inline Link* two_back(Link& link) { return link.back ? link.back->back : nullptr; }

/// One for all, whoever is asked.
struct Leaf {
  int x = 1;
  virtual ~Leaf() = default;
};
inline Leaf& leaf_of(Heap&) {
  static Leaf leaf;
  return leaf;
}

/// One of two bases.
struct Side {
  Part side;
};
inline int take_side(std::unique_ptr<Side>, int more) { return more; }

template <class T>
struct Grid {
  std::vector<T> items;
  Grid(int size) : items(size_t(size)) {}
  T& at(int i) { return items.at(size_t(i)); }
};
inline Part& first_of(Grid<Part>& grid) { return grid.items.at(0); }
inline const Side& first_side(const Grid<Side>& grid) {  // %implicit
  return grid.items.at(0);
}

/// Refers to an object of Python's (%collected), in others, too.
struct Slot {
  PyObject* object = nullptr;
  Slot() = default;
  Slot(const Slot&) = delete;
  ~Slot() { Py_XDECREF(object); }
  void set(PyObject* value) {
    Py_INCREF(value);
    Py_XSETREF(object, value);
  }
  PyObject* get() { return Py_NewRef(object ? object : Py_None); }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(object);
    return 0;
  }
  void clear() { Py_CLEAR(object); }
};
struct Shelf {  // %collected
  Slot slot;
  int traverse(visitproc visit, void* arg) const { return slot.traverse(visit, arg); }
  void clear() { slot.clear(); }
};
struct Case {
  Slot slot;
};
/// Of shares: C++ may have others.
struct Shared {  // %collected, %shared
  Slot slot;
  int traverse(visitproc visit, void* arg) const { return slot.traverse(visit, arg); }
  void clear() { slot.clear(); }
};
inline std::shared_ptr<Shared> shared;
inline void share(std::shared_ptr<Shared> given) { shared = std::move(given); }
inline std::shared_ptr<Shared> get_shared() { return shared; }

}  // namespace taken

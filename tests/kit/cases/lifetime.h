// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/lifetime.h: who keeps what alive, and for how long.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace lifetime {

/// All objects of this file that are alive.
inline int64_t alive = 0;
inline int64_t count_alive() { return alive; }

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  Counted& operator=(const Counted&) = default;
};

/// A plain value; a gone one says so.
class Item : Counted {
 public:
  explicit Item(const std::string& name) : name_(name) {}
  ~Item() { name_ = "gone"; }
  const std::string& name() const { return name_; }
  void rename(const std::string& name) { name_ = name; }

 private:
  std::string name_;
};

/// Has items: its own ones, which it gives out as references, and others'.
class World : Counted {
 public:
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  Item& add(const std::string& name) {
    items_.push_back(std::make_unique<Item>(name));
    return *items_.back();
  }
  void adopt(std::unique_ptr<Item> item) {
    if (!item) throw std::invalid_argument("expected an item");
    items_.push_back(std::move(item));
  }
  std::unique_ptr<Item> release() {
    if (items_.empty()) return nullptr;
    auto item = std::move(items_.back());
    items_.pop_back();
    return item;
  }
  Item* find(const std::string& name) {
    for (const auto& item : items_) {
      if (item->name() == name) return item.get();
    }
    return nullptr;
  }
  const Item& first() const { return *items_.at(0); }
  Item copy_of_first() const { return first(); }
  std::vector<Item*> all() {
    std::vector<Item*> result;
    for (const auto& item : items_) result.push_back(item.get());
    return result;
  }
  int size() const { return int(items_.size()); }
  /// Only points to it.
  void watch(const Item& item) { watched_ = &item; }
  std::string watched() const { return watched_ ? watched_->name() : "nothing"; }

 private:
  std::vector<std::unique_ptr<Item>> items_;
  const Item* watched_ = nullptr;
};

/// Only looks at a world.
class View : Counted {
 public:
  explicit View(World& world) : world_(&world) {}
  int size() const { return world_->size(); }
  World& world() const { return *world_; }

 private:
  World* world_;
};
inline Item& first_of(World& world) { return *world.all().at(0); }

inline std::unique_ptr<Item> make_item(const std::string& name) {
  return std::make_unique<Item>(name);
}
inline std::vector<std::unique_ptr<Item>> make_items(int n) {
  std::vector<std::unique_ptr<Item>> items;
  for (int i = 0; i < n; ++i) items.push_back(make_item(std::to_string(i)));
  return items;
}
inline std::string consume(std::unique_ptr<Item> item) {
  return item ? item->name() : "none";
}
inline std::unique_ptr<Item> pass(std::unique_ptr<Item> item) { return item; }
/// The caller is to delete it.
inline Item* new_item(const std::string& name) { return new Item(name); }
inline const Item* no_item() { return nullptr; }
inline std::string name_of(const Item& item) { return item.name(); }
inline std::string name_or(const Item* item = nullptr) {
  return item ? item->name() : "none";
}

/// Lives as long as anybody has a pointer.
class Node : Counted, public std::enable_shared_from_this<Node> {
 public:
  explicit Node(int value) : value_(value) {}
  int value() const { return value_; }
  void set_next(std::shared_ptr<Node> next) { next_ = std::move(next); }
  std::shared_ptr<Node> next() const { return next_; }
  std::shared_ptr<Node> shared() { return shared_from_this(); }
  Node& reference() { return *this; }
  int64_t uses() const { return weak_from_this().use_count(); }

 private:
  int value_;
  std::shared_ptr<Node> next_;
};
inline std::shared_ptr<Node> kept;
inline void keep(const std::shared_ptr<Node>& node) { kept = node; }
inline std::shared_ptr<Node> get_kept() { return kept; }
inline std::shared_ptr<const Node> get_const() { return kept; }
inline int sum(const std::vector<std::shared_ptr<Node>>& nodes) {
  int total = 0;
  for (const auto& node : nodes) total += node ? node->value() : 0;
  return total;
}
inline int value_of(const Node& node) { return node.value(); }

/// There is one, and it is nobody's.
class Registry {
 public:
  static Registry& get() {
    static Registry registry;
    return registry;
  }
  Registry(const Registry&) = delete;
  void note(const std::string& text) { notes_.push_back(text); }
  int size() const { return int(notes_.size()); }
  Registry* pointer() { return this; }

 private:
  Registry() = default;
  ~Registry() = default;
  std::vector<std::string> notes_;
};

// --- plain pointers and std::unique_ptr, lent and owned --------------------------------------

/// Has no virtual method and can be copied, so that nothing but its pointers tells objects of
/// it apart.
struct Part : Counted {
  int size = 0;
  explicit Part(int size) : size(size) {}
};
class Stock {
 public:
  Stock() = default;
  Stock(const Stock&) = delete;
  ~Stock() {
    for (Part* part : parts_) delete part;
  }
  /// Stays the stock's.
  Part* add(int size) { return parts_.emplace_back(new Part(size)); }
  Part* at(size_t i) const { return parts_.at(i); }
  /// Is the caller's from now on.
  Part* take(size_t i) {
    Part* part = at(i);
    parts_.erase(parts_.begin() + long(i));
    return part;
  }
  /// Is the stock's from now on.
  void give(Part* part) { parts_.push_back(part); }
  bool holds(const Part* part) const {
    return std::find(parts_.begin(), parts_.end(), part) != parts_.end();
  }

 private:
  std::vector<Part*> parts_;
};
struct Chest {
  const std::unique_ptr<Part> fixed = std::make_unique<Part>(7);
  std::unique_ptr<const Part> sealed = std::make_unique<const Part>(8);
  std::array<std::unique_ptr<Part>, 2> pair{std::make_unique<Part>(9), nullptr};
  Part* const plain = new Part{10};
  Chest() = default;
  Chest(const Chest&) = delete;
  ~Chest() { delete plain; }
};
inline int size_of(std::unique_ptr<Part> part) { return part ? part->size : -1; }
/// Take the part over, if the other argument fits.
inline int adopt(Part* part, int more) { return std::unique_ptr<Part>(part)->size + more; }
inline std::string adopt_any(Part* part, int more) {
  return std::to_string(adopt(part, more));
}
inline std::string adopt_any(Part* part, const std::string& more) {
  return std::to_string(adopt(part, 0)) + more;
}

// --- lent, and then given where Python has to end it in a way of its own ---------------------

/// Nobody but itself can delete it.
class Hidden {
 public:
  static Hidden* one() {
    static auto* hidden = new Hidden;
    return hidden;
  }
  static Hidden* fresh() { return one(); }
  int x = 3;

 private:
  ~Hidden() = default;
};
/// Counts its shares in itself.
struct Rated : Counted {
  int shares = 0;
  Rated() = default;
  Rated(const Rated&) = delete;
};
template <class T>
class Share {
 public:
  Share() = default;
  explicit Share(T* object) : object_(object) {
    if (object_) ++object_->shares;
  }
  Share(const Share& other) : Share(other.object_) {}
  Share& operator=(Share other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Share() {
    if (object_ && --object_->shares == 0) delete object_;
  }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};
inline Rated* rated = nullptr;
inline Rated* lend_rated() { return rated = rated ? rated : new Rated; }
inline Rated* give_rated() { return std::exchange(rated, nullptr); }
inline Share<Rated> kept_rated;
inline void keep_rated(Share<Rated> share) { kept_rated = std::move(share); }

// --- small classes, that may lie in their Python objects ------------------------------------

/// Nothing but read and written.
struct Bare {
  int x = 0;
  Bare* itself() { return this; }
};
/// C++ takes them over.
struct Given {
  int x = 0;
  Given() = default;
  Given* itself() { return this; }
  bool is_more() const { return more_; }

 protected:
  explicit Given(bool more) : more_(more) {}

 private:
  bool more_ = false;
};
/// C++ has shares in them.
struct Shared {
  int x = 0;
  Shared() = default;
  Shared* itself() { return this; }
  bool is_more() const { return more_; }

 protected:
  explicit Shared(bool more) : more_(more) {}

 private:
  bool more_ = false;
};
/// Only its bases are taken over and shared.
struct GivenMore : Given {
  int y = 0;
  GivenMore() : Given(true) {}
};
struct SharedMore : Shared {
  int y = 0;
  SharedMore() : Shared(true) {}
};
/// Has a memory of its own.
struct Pooled {
  inline static int pooled = 0;
  int x = 0;
  static void* operator new(size_t size) { return ++pooled, ::operator new(size); }
  static void operator delete(void* object) { --pooled, ::operator delete(object); }
  Pooled* itself() { return this; }
};
inline int pooled() { return Pooled::pooled; }
/// Too large to lie in a Python object; the constructor with two texts runs without the GIL.
struct Marked {
  std::string text, more;
  explicit Marked(const std::string& text) : text(text) {
    if (text.empty()) throw std::invalid_argument("no text");
  }
  Marked(const std::string& text, const std::string& more) : text(text), more(more) {
    if (more.empty()) throw std::invalid_argument("no more");
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(this); }
  Marked twice() const { return Marked(text + text); }
};
/// The same that C++ takes.
struct Lettered : Marked {
  using Marked::Marked;
};
inline std::unique_ptr<Lettered> held_lettered;
inline void hold(std::unique_ptr<Lettered> lettered) {
  held_lettered = std::move(lettered);
}
inline std::unique_ptr<Lettered> let_out() { return std::move(held_lettered); }
inline std::unique_ptr<Given> held_given;
inline void give(std::unique_ptr<Given> given) { held_given = std::move(given); }
inline std::unique_ptr<Given> get_back() { return std::move(held_given); }
inline std::shared_ptr<Shared> held_shared;
inline void share(std::shared_ptr<Shared> shared) { held_shared = std::move(shared); }
inline std::shared_ptr<Shared> get_shared() { return held_shared; }
inline void write_shared(int x) {
  if (held_shared) held_shared->x = x;
}
inline int y_of_given() {
  return held_given && held_given->is_more() ? static_cast<GivenMore&>(*held_given).y : -1;
}
inline int y_of_shared() {
  return held_shared && held_shared->is_more() ? static_cast<SharedMore&>(*held_shared).y
                                               : -1;
}

}  // namespace lifetime

// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/sharing.h: who keeps an object alive that Python overrides: observers in
// std::weak_ptr, objects that share themselves, classes of several bases.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sharing {

/// Counts the objects that there are.
struct Counted {
  inline static int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
};
inline int alive() { return Counted::alive; }

// --- observers ------------------------------------------------------------------------------

class Observer {
 public:
  virtual ~Observer() = default;
  virtual int told(int value) { return value; }

 private:
  Counted counted_;
};

/// Does not keep its observers alive.
class Subject {
 public:
  void watch(std::weak_ptr<Observer> observer) { observers_.push_back(observer); }
  void watch_shared(const std::shared_ptr<Observer>& observer) {
    observers_.push_back(observer);
  }
  /// What all that are there say.
  std::vector<int> tell(int value) {
    std::vector<int> said;
    for (const auto& observer : observers_) {
      if (const auto there = observer.lock()) said.push_back(there->told(value));
    }
    return said;
  }
  /// Keeps the first one from now on.
  void keep() { kept_ = observers_.at(0).lock(); }
  int tell_kept(int value) { return kept_->told(value); }
  std::shared_ptr<Observer> kept() const { return kept_; }
  /// On a thread that Python does not know.
  void forget() {
    std::thread([this] { kept_.reset(); }).join();
  }

 private:
  std::vector<std::weak_ptr<Observer>> observers_;
  std::shared_ptr<Observer> kept_;
};

// --- objects that share themselves ----------------------------------------------------------

class Node : public std::enable_shared_from_this<Node> {
 public:
  virtual ~Node() = default;
  virtual int value() const { return 1; }

 private:
  Counted counted_;
};
inline std::shared_ptr<Node> the_node;
inline void keep_node(Node& node) { the_node = node.shared_from_this(); }
inline void keep_shared_node(const std::shared_ptr<Node>& node) {
  the_node = node->shared_from_this();
}
inline int node_value() { return the_node->value(); }
inline std::shared_ptr<Node> node() { return the_node; }
inline void drop_node() { the_node.reset(); }

// --- several bases --------------------------------------------------------------------------

class Left {
 public:
  explicit Left(int left = 1) : left(left) {}
  virtual ~Left() = default;
  virtual int side() const { return left; }
  int left;
};
class Right {
 public:
  explicit Right(int right = 2) : right(right) {}
  virtual ~Right() = default;
  virtual int other() const { return right; }
  int right;
};
class Both : public Left, public Right {
 public:
  Both() : Left(10), Right(20) {}
};
inline Left* as_left(Both* both) { return both; }
inline Right* as_right(Both* both) { return both; }
inline int sides(const Left& left, const Right& right) {
  return left.side() + right.other();
}

/// Without virtual methods.
struct Wheels {
  explicit Wheels(int wheels) : wheels(wheels) {}
  int wheels;
  int count() const { return wheels; }

 private:
  Counted counted_;
};
struct Engine {
  explicit Engine(std::string fuel) : fuel(std::move(fuel)) {}
  std::string fuel;
  std::string start() const { return "burns " + fuel; }

 private:
  Counted counted_;
};
inline int wheels_of(const Wheels& wheels) { return wheels.wheels; }
inline std::string fuel_of(const Engine& engine) { return engine.fuel; }
inline std::shared_ptr<Engine> the_engine;
inline void keep_engine(std::shared_ptr<Engine> engine) { the_engine = std::move(engine); }
inline std::shared_ptr<Engine> engine() { return std::move(the_engine); }

// --- objects that count their own shares, and are overridden ---------------------------------

class Task {
 public:
  virtual ~Task() = default;
  virtual int cost() const { return 1; }
  int use_count() const { return count_; }
  void hold() { ++count_; }
  void drop() {
    if (--count_ == 0) delete this;
  }

 private:
  Counted counted_;
  int count_ = 0;
};
template <class T>
class Hold {
 public:
  Hold() = default;
  Hold(T* object) : object_(object) {
    if (object_) object_->hold();
  }
  Hold(const Hold& other) : Hold(other.object_) {}
  Hold& operator=(Hold other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Hold() {
    if (object_) object_->drop();
  }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};
/// Has one task at a time.
class Plan {
 public:
  void set(Hold<Task> task) { task_ = task; }
  Hold<Task> task() const { return task_; }
  int cost() const { return task_ ? task_->cost() : 0; }

 private:
  Hold<Task> task_;
};

// --- destructors ----------------------------------------------------------------------------

struct Fragile {
  Fragile() = default;
  ~Fragile() noexcept(false) { throw std::runtime_error("broke while it ended"); }
};

}  // namespace sharing

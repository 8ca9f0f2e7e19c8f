// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/pointers.h: pointers of a library's own, references in containers, and
// new objects that overrides give.
#pragma once
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct Source {
  int light = 1;
};
/// Counts by itself who has a share in it.  Plain as it is it must not lie in its Python
/// object.  In no namespace, and of a name that the kit has in its own.
struct Counted {
  int value;
  explicit Counted(int value) : value(value) { ++alive; }
  virtual ~Counted() = default;  // CountedMore is deleted by release(Counted*)
  Counted(const Counted& other) : value(other.value) { ++alive; }  // its own count
  int shares() const { return count_; }
  long use_count() const { return count_; }
  /// The light of what it was given, which has to live as long; 0 without.  A copy has none.
  void lit_by(const Source& source) { source_ = &source; }
  int light() const { return source_ ? source_->light : 0; }
  static inline int alive = 0;

 private:
  friend void retain(Counted* object) { ++object->count_; }
  friend void release(Counted* object) {
    if (--object->count_ > 0) return;
    --alive;
    delete object;
  }
  int count_ = 0;
  const Source* source_ = nullptr;
};
struct CountedMore : Counted {
  int more = 4;
  explicit CountedMore(int value) : Counted(value) {}
};
template <class T>
class Counting {
 public:
  Counting() = default;
  Counting(T* object) : object_(object) {
    if (object_) retain(object_);
  }
  Counting(const Counting& other) : Counting(other.object_) {}
  Counting& operator=(Counting other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Counting() {
    if (object_) release(object_);
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

namespace pointers {

inline Counting<Counted> g_shelf;
inline void put_on_shelf(Counting<Counted> object) { g_shelf = std::move(object); }
inline Counting<Counted> on_shelf() { return g_shelf; }
inline int light_on_shelf() { return g_shelf ? g_shelf->light() : -1; }

struct Lamp {
  int light = 1;
  int brighter(int by = 1) { return light += by; }
  static std::string kind() { return "lamp"; }
};
/// A smart pointer.
template <class T>
struct Handle {
  explicit Handle(T* object = nullptr) : object(object) {}
  T* operator->() const { return object; }
  T& operator*() const { return *object; }
  bool is_set() const { return object != nullptr; }

 private:
  T* object;
};
/// A class that hands on what it does not have.
struct Room {
  int size = 20;
  Lamp* operator->() { return &lamp_; }
  const Lamp* operator->() const { return &lamp_; }

 private:
  Lamp lamp_;
};
struct Dark {
  Lamp* operator->() const { throw std::runtime_error("no lamp here"); }
};

inline std::reference_wrapper<Lamp> same(std::reference_wrapper<Lamp> lamp) { return lamp; }
inline int light_of(const std::reference_wrapper<const Lamp>& lamp) {
  return lamp.get().light;
}
inline int doubled(std::reference_wrapper<const int> number) { return 2 * number.get(); }
inline int switch_on(const std::vector<std::reference_wrapper<Lamp>>& lamps) {
  for (Lamp& lamp : lamps) lamp.light = 100;
  return int(lamps.size());
}

using Switch = std::function<int(std::unique_ptr<Lamp>)>;
inline int give_lamp(const Switch& to) { return to(std::make_unique<Lamp>()); }
/// One that ends its argument.
inline Switch breaker() {
  return [](std::unique_ptr<Lamp> lamp) { return lamp ? lamp->light : -1; };
}
inline int take_lamp(const std::function<std::unique_ptr<Lamp>()>& from) {
  const std::unique_ptr<Lamp> lamp = from();
  return lamp ? lamp->light : -1;
}

/// Makes new ones of its kind, which the caller deletes.
class Plant {
 public:
  Plant() { ++alive; }
  Plant(const Plant&) { ++alive; }
  virtual ~Plant() { --alive; }
  virtual std::string name() const { return "plant"; }
  virtual Plant* offshoot() const { return new Plant; }
  static inline int alive = 0;
};
inline std::string name_of_offshoot(const Plant& plant) {
  const std::unique_ptr<Plant> made(plant.offshoot());
  return made ? made->name() : "none";
}

}  // namespace pointers

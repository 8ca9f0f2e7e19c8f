// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/passing.h: which Python object is passed, and how long what it refers to
// lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace passing {
// --- an object comes back to Python in an override or a callback ---------------------------
struct Subject {
  int v = 0;
};
struct Observer {
  virtual ~Observer() = default;
  virtual void changed(Subject& subject) = 0;
  virtual void looked(const Subject& subject) {}
  virtual void pointed(Subject* subject) {}
};
inline void notify(Subject& subject, Observer& observer) {
  observer.changed(subject);
  observer.looked(subject);
  observer.pointed(&subject);
}
inline void notify_of_new(Observer& observer) {
  Subject subject{5};
  notify(subject, observer);
}
inline void call(Subject& subject, const std::function<void(Subject&)>& run) {
  run(subject);
}
inline void call_const(const Subject& subject,
                       const std::function<void(const Subject&)>& run) {
  run(subject);
}
inline void call_pointer(Subject& subject, const std::function<void(Subject*)>& run) {
  run(&subject);
}
inline void call_value(Subject& subject, const std::function<void(Subject)>& run) {
  run(subject);
}

struct Ampersand {
  int v = 4;
  int operator&() const { return 1; }
};
inline void call_ampersand(const Ampersand& one,
                           const std::function<void(const Ampersand&)>& run) {
  run(one);
}

// --- overrides that may throw nothing -------------------------------------------------------
struct Plugin {
  Subject own;
  std::string word = "own";
  virtual ~Plugin() = default;
  virtual const char* version() const noexcept { return "1.0"; }
  virtual Subject* pointer() noexcept { return &own; }
  virtual Subject& reference() noexcept { return own; }
  virtual const Subject& constant() const noexcept { return own; }
  virtual const std::string& text() const noexcept { return word; }
};
inline std::string version_of(const Plugin& plugin) {
  const char* version = plugin.version();
  return version ? version : "none";
}
inline int pointed_of(Plugin& plugin) {
  return plugin.pointer() ? plugin.pointer()->v : -1;
}
inline int referred_of(Plugin& plugin) { return plugin.reference().v; }
inline int constant_of(const Plugin& plugin) { return plugin.constant().v; }
inline std::string text_of(const Plugin& plugin) { return plugin.text(); }
// Of so many calls, the results looked at when the last one is made.
inline std::string texts_of(const Plugin& plugin, int calls) {
  std::vector<const std::string*> texts;
  for (int i = 0; i < calls % 9; ++i) texts.push_back(&plugin.text());
  std::string all;
  for (const std::string* text : texts) all += *text;
  return all;
}
inline std::string texts_on_threads(const Plugin& plugin, int count) {
  std::vector<std::string> texts(size_t(count < 0 ? 0 : count % 5));
  std::vector<std::thread> threads;
  for (std::string& text : texts) threads.emplace_back([&] { text = texts_of(plugin, 8); });
  for (std::thread& thread : threads) thread.join();
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

// --- overrides of conversions ---------------------------------------------------------------
struct Converting {
  virtual ~Converting() = default;
  virtual operator bool() const { return true; }
  virtual operator int() const { return 3; }
  virtual operator double() const { return 1.5; }
};
inline int converted(const Converting& one) {
  return bool(one) * 1000 + int(one) * 10 + int(double(one));
}
inline int converted_on_a_thread(const Converting& one) {
  int made = 0;
  std::thread([&] {
    try {
      made = converted(one);
    } catch (const std::exception&) { made = -1; }
  }).join();
  return made;
}
struct Small {
  operator std::uint32_t() const { return 7; }
};
struct Large {
  operator unsigned long() const { return 1ul << 63; }
};

// --- what is made of an argument may be a view of it ----------------------------------------
struct Text {
  const char* data;
  size_t size;
  Text(const std::string& text) : data(text.data()), size(text.size()) {}
  std::string str() const { return std::string(data, size); }
};
struct Numbers {
  const std::vector<int>* all;
  Numbers(const std::vector<int>& list) : all(&list) {}
};
inline std::string shown(const Text& text) { return text.str(); }
inline std::string shown_value(Text text) { return text.str(); }
inline std::string both(const Text& a, const Text& b) { return a.str() + b.str(); }
inline int sum(const Numbers& numbers) {
  int all = 0;
  for (int one : *numbers.all) all += one;
  return all;
}

// --- iterators that not all of C++ would take -----------------------------------------------
class Moving {
  const int* at_;
  explicit Moving(const int* at) : at_(at) {}
  friend class UntilZero;

 public:
  Moving(const Moving&) = delete;
  Moving(Moving&&) noexcept = default;
  const int& operator*() const { return *at_; }
  Moving& operator++() { return ++at_, *this; }
};
struct Zero {};
inline bool operator==(const Moving& at, const Zero&) { return *at == 0; }
class UntilZero {
  std::vector<int> all_;

 public:
  explicit UntilZero(std::vector<int> all) : all_(std::move(all)) { all_.push_back(0); }
  Moving begin() const { return Moving(all_.data()); }
  Zero end() const { return {}; }
};
class Old {
  int at_;

 public:
  explicit Old(int at) : at_(at) {}
  int operator*() const { return at_; }
  Old& operator++() { return ++at_, *this; }
  bool operator!=(const Old& other) const { return at_ != other.at_; }
};
struct UpToThree {
  Old begin() const { return Old(0); }
  Old end() const { return Old(3); }
};

// --- a share of a part ----------------------------------------------------------------------
struct Engine {
  int power = 7;
};
struct Block {
  Engine engine;
};
struct Car {
  Engine engine;
  Block block;
  static inline int alive = 0;
  Car() { ++alive; }
  Car(const Car&) = delete;
  ~Car() { --alive; }
};
inline std::shared_ptr<Engine> engine_of(std::shared_ptr<Car> car) {
  return {car, car ? &car->engine : nullptr};
}
inline std::shared_ptr<Engine> block_engine_of(std::shared_ptr<Car> car) {
  return {car, car ? &car->block.engine : nullptr};
}

// --- an object that counts itself, and that nobody else may end -----------------------------
class Counted {
  mutable std::atomic<int> count_{0};

 public:
  static inline int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) = delete;
  void add() const { ++count_; }
  void release() const {
    if (--count_ == 0) delete this;
  }
  int ref_count() const { return count_; }

 protected:
  virtual ~Counted() { --alive; }
};
template <class T>
class Ref {
  T* held_ = nullptr;

 public:
  Ref() = default;
  Ref(T* held) : held_(held) {
    if (held_) held_->add();
  }
  Ref(const Ref& other) : Ref(other.held_) {}
  ~Ref() {
    if (held_) held_->release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  T* operator->() const { return held_; }
  T& operator*() const { return *held_; }
  explicit operator bool() const { return held_; }
};
class Mesh : public Counted {
  std::string name_;

 public:
  explicit Mesh(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  static Ref<Mesh> make(const std::string& name) { return new Mesh(name); }

 protected:
  ~Mesh() override = default;
};
struct Shape : Counted {
  virtual int grow(int by) { return by + 1; }

 protected:
  ~Shape() override = default;
};
inline Ref<Shape> g_shape;
inline void keep_shape(const Ref<Shape>& shape) { g_shape = shape; }
inline Ref<Shape> kept_shape() { return g_shape; }
inline int grow_kept(int by) { return g_shape ? g_shape->grow(by) : -1; }
inline std::string name_of(const Ref<Mesh>& mesh) { return mesh ? mesh->name() : "null"; }

// --- after Python ---------------------------------------------------------------------------
struct AtExit {
  std::function<void()> run;
  ~AtExit() {
    if (run) run();
  }
};
inline AtExit g_at_exit;
inline void at_exit(std::function<void()> run) { g_at_exit.run = std::move(run); }
}  // namespace passing

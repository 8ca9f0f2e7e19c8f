// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/pythonic.h: C++ that is written with Python in mind: parameters as only
// Python has them, objects of Python's in C++, conversions by constructors, and pointers
// that count in their objects.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pythonic {

// Parameters that cannot be named, and such that must be.
inline std::string text_of(int number, const std::string& prefix = "", int width = 1) {
  std::string digits = std::to_string(number);
  while (int(digits.size()) < width) digits = "0" + digits;
  return prefix + digits;
}

/// A length; what is given as a number is one, too.
class Length {
 public:
  Length(double metres) : metres_(metres) {
    if (metres < 0) throw std::invalid_argument("a length is 0 or more");
  }
  Length(const std::string& text) : metres_(std::stod(text)) {}
  double metres() const { return metres_; }
  Length operator+(const Length& other) const { return metres_ + other.metres_; }

 private:
  double metres_;
};
inline double twice(const Length& length) { return 2 * length.metres(); }
inline double sum_of(const std::vector<Length>& lengths) {
  double sum = 0;
  for (const Length& length : lengths) sum += length.metres();
  return sum;
}
inline std::string which(const Length&) { return "length"; }
inline std::string which(const std::vector<int>&) { return "list"; }

/// Properties of every kind of type, by methods.
class Profile {
 public:
  const std::vector<Length>& marks() const { return marks_; }
  void set_marks(std::vector<Length> marks) { marks_ = std::move(marks); }
  std::shared_ptr<Profile> parent() const { return parent_; }
  void set_parent(std::shared_ptr<Profile> parent) { parent_ = std::move(parent); }
  /// Greatest mark.
  Length highest() const { return marks_.empty() ? Length(0) : marks_.back(); }
  const std::string& title() const { return title_; }
  void title(const std::string& text) { title_ = text; }

 private:
  std::vector<Length> marks_;
  std::shared_ptr<Profile> parent_;
  std::string title_;
};
class Special : public Profile {};

/// Its methods without parameters are attributes in Python.
class Tank {
 public:
  explicit Tank(double depth) : depth_(depth) {}
  /// How deep it is.
  const Length& depth() const { return depth_; }
  Length& depth() { return depth_; }
  std::optional<int> gauge() const {
    if (litres_ < 0) throw std::out_of_range("leaked");
    return litres_ > 0 ? std::optional<int>(int(litres_)) : std::nullopt;
  }
  double litres() const { return litres_; }
  void fill(double litres) { litres_ += litres; }

 private:
  Length depth_;
  double litres_ = 0;
};

/// Counts by itself who has a share in it; ends with the last one.
class Counted {
 public:
  explicit Counted(int value) : value(value) { ++alive; }
  virtual ~Counted() { --alive; }
  void retain() { ++count_; }
  void release() {
    if (--count_ == 0) delete this;
  }
  int shares() const { return count_; }

  int value;
  static inline int alive = 0;

 private:
  std::atomic<int> count_{0};
};
template <class T>
class Pointer {
 public:
  Pointer() = default;
  Pointer(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Pointer(const Pointer& other) : Pointer(other.object_) {}
  Pointer(Pointer&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Pointer& operator=(Pointer other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Pointer() {
    if (object_) object_->release();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};
using CountedPointer = Pointer<Counted>;

inline CountedPointer g_shelf;
inline Pointer<Counted> make_counted(int value) { return new Counted(value); }
inline void put_on_shelf(Pointer<Counted> object) { g_shelf = std::move(object); }
inline Pointer<Counted> on_shelf() { return g_shelf; }

/// Holds objects of Python's, perhaps itself.
class Basket {
 public:
  Basket() { ++alive; }
  Basket(const Basket&) = delete;
  ~Basket() {
    clear();
    --alive;
  }
  void put(PyObject* thing) {
    Py_INCREF(thing);
    things_.push_back(thing);
  }
  int size() const { return int(things_.size()); }
  int traverse(visitproc visit, void* arg) const {
    for (PyObject* thing : things_) Py_VISIT(thing);
    return 0;
  }
  void clear() {
    for (PyObject* thing : std::exchange(things_, {})) Py_DECREF(thing);
  }

  static inline int alive = 0;

 private:
  std::vector<PyObject*> things_;
};

// Objects that Python may give attributes, and those of a class derived from theirs.
struct Note {
  int size = 1;
  std::vector<Note*> twice() { return {this, this}; }
  std::map<int, std::pair<const Note*, int>> listed() const { return {{1, {this, 2}}}; }
};
struct LongNote : Note {
  int pages = 2;
};

// Names that the words of an interface might have for something else.
struct Base {
  int Class = 1;
};
class Name {
 public:
  Base Type() const { return {2}; }
};
class Function : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline void State() { throw Function("state"); }

}  // namespace pythonic
